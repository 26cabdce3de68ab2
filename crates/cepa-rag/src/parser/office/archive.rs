//! The zip archive that a document is.

use std::io::{self, Cursor, Read};

use zip::{ZipArchive, result::ZipError};

use crate::{File, RagError};

/// A document's archive, of which only so much is unpacked.
pub(super) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    file: &'a File,
    limit: u64,
    left: u64,
}

impl<'a> Archive<'a> {
    pub(super) fn open(file: &'a File, limit: u64) -> Result<Self, RagError> {
        // an older format, or one with a password, in a container of another kind
        if file.bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]) {
            return Err(RagError::parse(
                &*file.name,
                "it is encrypted or of an old format; save it again, without a password",
            ));
        }
        let zip = ZipArchive::new(Cursor::new(file.bytes.as_slice())).map_err(|error| {
            RagError::parse(&*file.name, format!("it is no office document, or damaged: {error}"))
        })?;
        Ok(Self { zip, file, limit, left: limit })
    }

    /// The text of this entry, if there is one.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, RagError> {
        let mut bytes = Vec::new();
        let read = match self.zip.by_name(name) {
            Ok(entry) => {
                entry.take(self.left.saturating_add(1)).read_to_end(&mut bytes).map_err(ZipError::Io)
            }
            Err(error) => Err(error),
        };
        match read {
            Ok(_) => {}
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(self.damaged(name, error)),
        }
        self.count(bytes.len() as u64)?;
        String::from_utf8(bytes).map(Some).map_err(|_| self.damaged(name, "it is not in UTF-8"))
    }

    /// The text of this entry, which must be there.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, RagError> {
        self.text(name)?
            .ok_or_else(|| RagError::parse(&*self.file.name, format!("`{name}` is missing in it")))
    }

    /// Unpacks everything, for nothing but its size.
    pub(super) fn check_size(&mut self) -> Result<(), RagError> {
        for index in 0..self.zip.len() {
            let most = self.left.saturating_add(1);
            let unpacked = match self.zip.by_index(index) {
                Ok(entry) => {
                    let mut entry = entry.take(most);
                    // what is damaged is found where it is needed
                    let _ = io::copy(&mut entry, &mut io::sink());
                    most - entry.limit()
                }
                Err(_) => 0,
            };
            self.count(unpacked)?;
        }
        Ok(())
    }

    pub(super) fn damaged(&self, part: &str, reason: impl ToString) -> RagError {
        RagError::parse(&*self.file.name, format!("`{part}` in it is damaged: {}", reason.to_string()))
    }

    fn count(&mut self, unpacked: u64) -> Result<(), RagError> {
        self.left = self.left.checked_sub(unpacked).ok_or_else(|| {
            RagError::parse(
                &*self.file.name,
                format!(
                    "it unpacks to more than {} bytes; raise the limit with `with_max_unpacked`",
                    self.limit
                ),
            )
        })?;
        Ok(())
    }
}
