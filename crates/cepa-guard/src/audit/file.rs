//! The file: shared with other processes, its chain read off its end each time.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    error::AuditError,
    line::{self, Link, MAX_LINE},
};

/// How often a lock that another process holds is tried.
const LOCK_STEP: Duration = Duration::from_millis(2);

/// The log's file.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    lock_path: PathBuf,
    rotate_at: Option<u64>,
    lock_timeout: Duration,
    /// Where the chain stood after this process's last line.
    last: Option<Link>,
}

/// The end of a file.
struct Tail {
    link: Option<Link>,
    mend: Mend,
}

/// What must stand between the last whole line and the next one.
enum Mend {
    Nothing,
    LineEnd,
    /// A line that names this half line.
    Half(Vec<u8>),
}

impl LogFile {
    /// Opens a log, or makes it, and notes half a line at its end.
    pub(super) fn open(
        path: PathBuf,
        rotate_at: Option<u64>,
        lock_timeout: Duration,
    ) -> Result<Self, AuditError> {
        let lock_path = with_suffix(&path, ".lock");
        let mut log = Self { path, lock_path, rotate_at, lock_timeout, last: None };
        log.append(&[], false)?;
        Ok(log)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends these records, all or none.
    pub(super) fn append(&mut self, records: &[Vec<u8>], keep: bool) -> Result<(), AuditError> {
        let _lock = self.lock()?;
        let mut file = self.open_file()?;
        let mut len = file.metadata().map_err(|error| self.error("reading its length", &error))?.len();
        let tail = self.tail(&mut file, len)?;
        let mut link = match (tail.link, &self.last) {
            // Somebody has cut lines off: the chain goes on from what was written, so that the gap shows.
            (found, Some(last)) if found.as_ref().is_none_or(|found| found.seq < last.seq) => {
                tracing::error!(path = %self.path.display(), "lines of the audit log have been taken away");
                last.clone()
            }
            (Some(found), _) => found,
            (None, _) => Link::start(),
        };
        let mends = !matches!(tail.mend, Mend::Nothing);
        let mut text = match tail.mend {
            Mend::Nothing => Vec::new(),
            Mend::LineEnd => vec![b'\n'],
            Mend::Half(torn) => recovered(&torn, &mut link),
        };
        for record in records {
            link.append(record, &mut text);
        }
        if text.is_empty() {
            return Ok(());
        }
        if !mends && self.rotate_at.is_some_and(|most| len > 0 && len + text.len() as u64 > most) {
            self.rotate()?;
            file = self.open_file()?;
            len = 0;
        }
        let written = file.write_all(&text).and_then(|()| if keep { file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            // No half line, if the disk lets us.
            let undone = file.set_len(len).is_ok();
            return Err(self.error(if undone { "writing" } else { "writing, a line is torn" }, &error));
        }
        self.last = Some(link);
        Ok(())
    }

    /// Has the disk keep what was written.
    pub(super) fn sync(&self) -> Result<(), AuditError> {
        let file = self.open_file()?;
        file.sync_data().map_err(|error| self.error("keeping", &error))
    }

    fn error(&self, what: &'static str, error: &io::Error) -> AuditError {
        AuditError::io(&self.path, what, error)
    }

    fn open_file(&self) -> Result<File, AuditError> {
        open(&self.path).map_err(|error| self.error("opening", &error))
    }

    /// Keeps other processes out until the lock is dropped. It is on a file of its own, as the log's may be renamed.
    fn lock(&self) -> Result<File, AuditError> {
        let file =
            open(&self.lock_path).map_err(|error| AuditError::io(&self.lock_path, "opening", &error))?;
        let begin = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if begin.elapsed() < self.lock_timeout => {
                    std::thread::sleep(LOCK_STEP);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(AuditError::Locked { path: self.path.clone(), limit: self.lock_timeout });
                }
                Err(TryLockError::Error(error)) => return Err(self.error("locking", &error)),
            }
        }
    }

    /// What the file ends with.
    fn tail(&self, file: &mut File, len: u64) -> Result<Tail, AuditError> {
        let reading = |error: io::Error| self.error("reading", &error);
        if len == 0 {
            // The first line of a new file goes on from the file before.
            let link = match rotated(&self.path).map_err(reading)?.pop() {
                Some(before) => {
                    let mut before = File::open(before).map_err(reading)?;
                    let len = before.metadata().map_err(reading)?.len();
                    last_link(&mut before, len).map_err(reading)?.link
                }
                None => None,
            };
            return Ok(Tail { link, mend: Mend::Nothing });
        }
        last_link(file, len).map_err(reading)
    }

    fn rotate(&self) -> Result<(), AuditError> {
        let renaming = |error: io::Error| self.error("renaming", &error);
        let number = match rotated(&self.path).map_err(renaming)?.last() {
            Some(last) => number_of(&self.path, last).unwrap_or(0) + 1,
            None => 1,
        };
        fs::rename(&self.path, with_suffix(&self.path, &format!(".{number:06}"))).map_err(renaming)
    }
}

/// The line that names half a line before it.
fn recovered(torn: &[u8], link: &mut Link) -> Vec<u8> {
    let record = format!(
        r#"{{"event":"recovered","at":"{}","torn_bytes":{},"torn_sha256":"{}"}}"#,
        jiff::Timestamp::now(),
        torn.len(),
        line::sha256(torn)
    );
    let mut text = vec![b'\n'];
    link.append(record.as_bytes(), &mut text);
    text
}

/// Opens a file to read and to append, for its owner only.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The last whole line's place in the chain, and what is to be mended behind it: nothing, a line end, or half a line.
fn last_link(file: &mut File, len: u64) -> io::Result<Tail> {
    let mut size = 64 << 10;
    loop {
        let from = len.saturating_sub(size);
        file.seek(SeekFrom::Start(from))?;
        let mut end = Vec::new();
        file.take(size).read_to_end(&mut end)?;
        let whole = end.strip_suffix(b"\n");
        let mut lines = whole.unwrap_or(&end).rsplit(|byte| *byte == b'\n');
        let last = lines.next().unwrap_or_default();
        let begins_here = from == 0 || last.len() < whole.unwrap_or(&end).len();
        if begins_here || size >= 2 * MAX_LINE {
            if let Some(read) = line::read(last) {
                let mend = if whole.is_some() { Mend::Nothing } else { Mend::LineEnd };
                return Ok(Tail { link: Some(read.link), mend });
            }
            let torn = if whole.is_some() { Mend::Nothing } else { Mend::Half(last.to_vec()) };
            // The line before it, if it is in here; the last one was not written by us, or not to its end.
            if let Some(read) = lines.find_map(line::read) {
                return Ok(Tail { link: Some(read.link), mend: torn });
            }
            if from == 0 || size >= 2 * MAX_LINE {
                return Ok(Tail { link: None, mend: torn });
            }
        }
        size *= 4;
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn number_of(path: &Path, rotated: &Path) -> Option<u64> {
    let name = rotated.file_name()?.to_str()?;
    let number = name.strip_prefix(path.file_name()?.to_str()?)?.strip_prefix('.')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok())?
}

/// The older files of a log, oldest first.
pub(super) fn rotated(path: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.path();
        if let Some(number) = number_of(path, &file) {
            files.push((number, file));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, file)| file).collect())
}
