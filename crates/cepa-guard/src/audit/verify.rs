//! Checking a log's chain.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    error::AuditError,
    file::rotated,
    line::{self, Link, MAX_LINE, ZERO},
};

/// A log whose chain is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Lines.
    pub records: u64,
    /// The number of the first line: more than 1 where older files were removed.
    pub first_seq: u64,
    /// The number of the last line; 0 for an empty log.
    pub last_seq: u64,
    /// The hash of the last line, to be kept elsewhere: a log that has this line later has all lines up to it.
    pub last_hash: String,
    /// Half lines that crashes have left, and later lines have named.
    pub recovered: u64,
    /// Whether the log ends with half a line.
    pub torn: bool,
}

pub(super) fn verify(path: &Path) -> Result<Verified, AuditError> {
    let (older, newest) = files(path)?;
    let mut check = Check::default();
    for file in older {
        let open = File::open(&file).map_err(|error| AuditError::io(&file, "reading", &error))?;
        check.file(&file, open)?;
    }
    check.file(path, newest)?;
    let torn = check.torn.is_some();
    if let Some(half) = check.torn.take_if(|half| half.ended) {
        return Err(half.broken());
    }
    let last = check.last.unwrap_or_else(Link::start);
    Ok(Verified {
        records: check.records,
        first_seq: check.first_seq,
        last_seq: last.seq,
        last_hash: last.hash,
        recovered: check.recovered,
        torn,
    })
}

/// How often is looked for files that stay as they are, and how long is waited in between.
const TRIES: (u32, Duration) = (20, Duration::from_millis(2));

/// The older files, and the newest one, open. A log that begins a new file meanwhile is no broken one.
fn files(path: &Path) -> Result<(Vec<PathBuf>, File), AuditError> {
    let list = || rotated(path).map_err(|error| AuditError::io(path, "reading its folder", &error));
    let mut older = list()?;
    for left in (0..TRIES.0).rev() {
        let newest = File::open(path);
        let now = list()?;
        match newest {
            Ok(newest) if now == older || left == 0 => return Ok((older, newest)),
            // For a moment there is none.
            Err(error) if left == 0 || error.kind() != io::ErrorKind::NotFound => {
                return Err(AuditError::io(path, "reading", &error));
            }
            _ => std::thread::sleep(TRIES.1),
        }
        older = now;
    }
    Err(AuditError::io(path, "reading", &io::ErrorKind::NotFound.into()))
}

#[derive(Default)]
struct Check {
    last: Option<Link>,
    first_seq: u64,
    records: u64,
    recovered: u64,
    torn: Option<Half>,
}

/// A line that is none: maybe the half of one.
struct Half {
    path: PathBuf,
    line: u64,
    sha256: String,
    /// Whether a line end follows, as it does only where the log goes on.
    ended: bool,
}

impl Half {
    fn broken(self) -> AuditError {
        AuditError::Broken { path: self.path, line: self.line, why: "was changed, or is no line of a log" }
    }
}

impl Check {
    fn file(&mut self, path: &Path, file: File) -> Result<(), AuditError> {
        let reading = |error: io::Error| AuditError::io(path, "reading", &error);
        let mut file = BufReader::new(file);
        let (mut text, mut number) = (Vec::new(), 0);
        loop {
            text.clear();
            (&mut file).take(MAX_LINE + 1).read_until(b'\n', &mut text).map_err(reading)?;
            if text.is_empty() {
                return Ok(());
            }
            number += 1;
            let ended = text.last() == Some(&b'\n');
            if ended {
                text.pop();
            }
            self.line(path, number, &text, ended)?;
            if !ended {
                // What comes now belongs to a line that is being written.
                return Ok(());
            }
        }
    }

    fn line(&mut self, path: &Path, number: u64, text: &[u8], ended: bool) -> Result<(), AuditError> {
        let broken = |why| AuditError::Broken { path: path.to_owned(), line: number, why };
        let Some(read) = line::read(text) else {
            if let Some(half) = self.torn.take() {
                return Err(half.broken());
            }
            if text.len() as u64 > MAX_LINE || (ended && text.is_empty()) {
                return Err(broken("is no line of a log"));
            }
            // Half a line may stand at the end, or before the line that names it.
            let sha256 = line::sha256(text);
            self.torn = Some(Half { path: path.to_owned(), line: number, sha256, ended });
            return Ok(());
        };
        match (self.torn.take(), &read.torn) {
            (None, None) => {}
            (Some(half), Some(named)) if half.sha256 == *named => self.recovered += 1,
            (Some(half), _) => return Err(half.broken()),
            (None, Some(_)) => return Err(broken("names half a line that is not there")),
        }
        match &self.last {
            Some(last) if read.prev != last.hash || read.link.seq != last.seq + 1 => {
                return Err(broken(
                    "does not follow the line before it: lines were taken out, put in or moved",
                ));
            }
            None if read.link.seq == 1 && read.prev != ZERO => {
                return Err(broken("is the first one, but follows another"));
            }
            Some(_) => {}
            None => self.first_seq = read.link.seq,
        }
        self.records += 1;
        self.last = Some(read.link);
        Ok(())
    }
}
