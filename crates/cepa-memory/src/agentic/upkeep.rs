//! Keeping the index whole: each memory has a line, and each line a memory, also after a crash and after changes by hand.

use std::{
    collections::{BTreeMap, HashSet},
    io,
    time::Duration,
};

use super::{error::AgenticMemoryError as Error, folder::Open, index, name::Name};

/// How often the index is begun with again that somebody else changes.
const TRIES: usize = 3;

impl Open {
    /// The whole index as it should be. Where it is not so, and `mend` says so, it is written anew. What goes wrong with
    /// that comes second.
    pub(super) fn whole_index(&self, mend: bool) -> Result<(Vec<u8>, Result<(), Error>), Error> {
        let is = self.index()?;
        match self.completed(&is, BTreeMap::new()) {
            Ok(should_be) if should_be == is || !mend => Ok((should_be, Ok(()))),
            Ok(should_be) => Ok((should_be, self.mend_index())),
            Err(error) => Ok((is, Err(error))),
        }
    }

    fn mend_index(&self) -> Result<(), Error> {
        match self.lock(Duration::ZERO) {
            Ok(_lock) => self.complete_index(BTreeMap::new()),
            // Nobody waits: whoever holds the lock completes the index as well.
            Err(Error::Locked { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Puts these lines into the index, or takes them out of it, and whatever else it takes to make it whole. The lock is
    /// held.
    pub(super) fn complete_index(&self, lines: BTreeMap<Name, Option<String>>) -> Result<(), Error> {
        // Editors take no lock: what somebody has saved meanwhile is begun with again. What is left undone then, the next
        // prompt does.
        for _ in 0..TRIES {
            let before = self.index()?;
            let after = self.completed(&before, lines.clone())?;
            if after == before {
                break;
            }
            if self.index()? == before {
                return self.write(&Name::index(), &after);
            }
        }
        Ok(())
    }

    fn completed(&self, index: &[u8], mut lines: BTreeMap<Name, Option<String>>) -> Result<Vec<u8>, Error> {
        let there: HashSet<Name> = self.names().map_err(Error::io("."))?;
        let named = index::named(index);
        for name in there.difference(&named) {
            lines.entry(name.clone()).or_insert_with(|| Some(index::line(name, &self.front_matter(name))));
        }
        lines.extend(
            named.difference(&there).filter(|name| self.is_gone(name)).map(|name| (name.clone(), None)),
        );
        Ok(index::with_lines(index, lines))
    }

    /// Whether there is no such file for certain. One that cannot be looked at may be there, and whoever writes links by
    /// hand may have escaped its name.
    fn is_gone(&self, name: &Name) -> bool {
        let is_absent =
            |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        !name.as_str().contains('%') && self.dir().symlink_metadata(name.as_str()).is_err_and(is_absent)
    }
}
