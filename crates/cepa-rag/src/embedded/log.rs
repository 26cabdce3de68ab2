//! [`Log`]: the file of a collection, to which batches are appended.
//!
//! A batch is safe before the next one is begun, so what a crash leaves unfinished is the last one at most. It is cut
//! off when the file is opened. Damage further up, where whole batches follow, is an error: they are not thrown away.
//!
//! The file is eight bytes that name it, its format (`u32`), and then frames: four bytes that begin each, its length
//! and its checksum (CRC-32 of length and content; `u32` both), and its content. The first frame describes the
//! collection.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{RagError, embedded::trouble};

const NAME: &str = "log";
/// A log that is not whole yet.
const NEW: &str = "log.new";
const MAGIC: &[u8; 8] = b"CepaRag\0";
const FORMAT: u32 = 1;
/// Not UTF-8, so no text looks like it.
const FRAME: [u8; 4] = [0xCE, 0xFA, 0xFF, 0x01];
const FRAME_HEADER: usize = 12;
/// No batch is greater.
pub(super) const LARGEST: usize = 256 << 20;

/// What a collection is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) dimensions: Option<usize>,
}

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    length: u64,
    /// Why nothing may be written any more.
    broken: Option<String>,
}

impl Log {
    /// Whether a folder has one.
    pub(super) fn is_in(folder: &Path) -> bool {
        folder.join(NAME).exists()
    }

    /// Begins a log that takes the place of the one that may be there once it is [finished](NewLog::finish).
    pub(super) fn create(folder: &Path, header: &Header) -> Result<NewLog, RagError> {
        let path = folder.join(NEW);
        let open = OpenOptions::new().write(true).create(true).truncate(true).open(&path);
        let file = open.map_err(|error| RagError::io(&path, error))?;
        let mut log = Self { file, path, length: 0, broken: None };
        let mut start = MAGIC.to_vec();
        start.extend(FORMAT.to_le_bytes());
        let header = serde_json::to_vec(header).map_err(|error| trouble(folder, error.to_string()))?;
        start.extend(frame(&header));
        log.write(&start).map_err(|error| RagError::io(&log.path, error))?;
        Ok(NewLog(log, folder.to_owned()))
    }

    /// Opens the log of a folder and reads it: each batch, and where its content begins.
    pub(super) fn open(
        folder: &Path,
        mut read: impl FnMut(&Header, u64, &[u8]) -> Result<(), RagError>,
    ) -> Result<(Self, Header), RagError> {
        // One that was never finished.
        let _ = fs::remove_file(folder.join(NEW));
        let path = folder.join(NAME);
        let in_path = |error| RagError::io(&path, error);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(in_path)?;
        let length = file.metadata().map_err(in_path)?.len();
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let mut start = [0; 12];
        let foreign = || trouble(&path, "this is no collection of this store: take another folder");
        reader.read_exact(&mut start).map_err(|_| foreign())?;
        let (magic, format) = (&start[..8], u32::from_le_bytes([start[8], start[9], start[10], start[11]]));
        if magic != MAGIC {
            return Err(foreign());
        }
        if format != FORMAT {
            return Err(trouble(
                &path,
                format!(
                    "this has format {format}, and this version of Cepa reads {FORMAT}: take a newer version"
                ),
            ));
        }
        let mut at = start.len() as u64;
        let header = next(&mut reader, length - at).map_err(in_path)?.ok_or_else(foreign)?;
        at += (FRAME_HEADER + header.len()) as u64;
        let header: Header = serde_json::from_slice(&header).map_err(|_| foreign())?;
        while at < length {
            let Some(batch) = next(&mut reader, length - at).map_err(in_path)? else { break };
            read(&header, at + FRAME_HEADER as u64, &batch)?;
            at += (FRAME_HEADER + batch.len()) as u64;
        }
        let mut file = reader.into_inner();
        if at < length {
            if is_followed(&mut file, at + 1, length).map_err(in_path)? {
                let reason = format!(
                    "this is damaged at byte {at}, and whole entries follow: put a copy in its place, or delete the \
                     folder and index the documents again"
                );
                return Err(trouble(&path, reason));
            }
            tracing::warn!(
                path = %path.display(),
                bytes = length - at,
                "what was being written when the program ended is cut off"
            );
            file.set_len(at).and_then(|()| file.sync_all()).map_err(in_path)?;
        }
        Ok((Self { file, path, length: at, broken: None }, header))
    }

    /// The file once more, to read contents from.
    pub(super) fn reader(&self) -> Result<File, RagError> {
        File::open(&self.path).map_err(|error| RagError::io(&self.path, error))
    }

    /// Where the content of the next batch will begin.
    pub(super) fn next_content(&self) -> u64 {
        self.length + FRAME_HEADER as u64
    }

    /// Appends a batch. When this returns, it is safe.
    pub(super) fn append(&mut self, batch: &[u8]) -> Result<(), RagError> {
        if let Some(reason) = &self.broken {
            return Err(trouble(
                &self.path,
                format!("nothing is written any more after `{reason}`: open it again"),
            ));
        }
        let before = self.length;
        let written = self.write(&frame(batch)).inspect_err(|_| {
            // Half a batch in the middle would hide all that follow.
            if let Err(undone) = self.file.set_len(before) {
                self.broken = Some(undone.to_string());
            }
            self.length = before;
        });
        // What became of the data after a failed `fsync` is not known; another one may well succeed, and mean nothing.
        let safe = written
            .and_then(|()| self.file.sync_data().inspect_err(|error| self.broken = Some(error.to_string())));
        safe.map_err(|error| RagError::io(&self.path, error))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// A log that does not count yet.
#[derive(Debug)]
pub(super) struct NewLog(Log, PathBuf);

impl NewLog {
    /// Where the content of the next batch will begin.
    pub(super) fn next_content(&self) -> u64 {
        self.0.next_content()
    }

    /// Appends a batch.
    pub(super) fn append(&mut self, batch: &[u8]) -> Result<(), RagError> {
        self.0.write(&frame(batch)).map_err(|error| RagError::io(&self.0.path, error))
    }

    /// Makes it the folder's log, in one step; also returns the file once more, to read contents from.
    ///
    /// What fails before this step leaves the old one in its place.
    pub(super) fn finish(self) -> Result<(Log, File), RagError> {
        let Self(mut log, folder) = self;
        let path = folder.join(NAME);
        let reader = File::open(&log.path).map_err(|error| RagError::io(&log.path, error))?;
        let finished = log.file.sync_all().and_then(|()| fs::rename(&log.path, &path));
        finished.map_err(|error| RagError::io(&path, error))?;
        log.path = path;
        // The new name may be lost in a crash as long as this has not succeeded, and all that is written to it.
        if let Err(error) = sync(&folder) {
            log.broken = Some(error.to_string());
        }
        Ok((log, reader))
    }
}

/// What a folder holds is safe after this.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    // Elsewhere a folder cannot be opened, and need not be.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Reads bytes from here on, whoever else reads from the same file.
pub(super) fn read_at(file: &File, offset: u64, length: u32) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    #[cfg(unix)]
    std::os::unix::fs::FileExt::read_exact_at(file, &mut bytes, offset)?;
    #[cfg(windows)]
    {
        let mut done = 0;
        while done < bytes.len() {
            match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], offset + done as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => done += read,
            }
        }
    }
    Ok(bytes)
}

fn frame(content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_le_bytes();
    let mut frame = Vec::with_capacity(FRAME_HEADER + content.len());
    frame.extend(FRAME);
    frame.extend(length);
    frame.extend(checksum(length, content).to_le_bytes());
    frame.extend(content);
    frame
}

fn checksum(length: [u8; 4], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(content);
    hasher.finalize()
}

/// The length and the checksum of a frame that begins here, if one does.
fn frame_header(bytes: &[u8]) -> Option<([u8; 4], u32)> {
    let (length, rest) = bytes.strip_prefix(&FRAME)?.split_first_chunk::<4>()?;
    Some((*length, u32::from_le_bytes(*rest.first_chunk()?)))
}

/// The content of the next frame; `None` where it is not whole.
fn next(reader: &mut impl Read, left: u64) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; FRAME_HEADER];
    let Some(left) = left.checked_sub(FRAME_HEADER as u64) else { return Ok(None) };
    reader.read_exact(&mut header)?;
    let Some((length, expected)) = frame_header(&header) else { return Ok(None) };
    let bytes = u32::from_le_bytes(length);
    if u64::from(bytes) > left || bytes as usize > LARGEST {
        return Ok(None);
    }
    let mut content = vec![0; bytes as usize];
    reader.read_exact(&mut content)?;
    Ok((checksum(length, &content) == expected).then_some(content))
}

/// Whether a whole frame begins anywhere between here and the end.
fn is_followed(file: &mut File, from: u64, end: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let (mut last, mut at) = ([0; 4], from);
    let mut found = Vec::new();
    for byte in reader.by_ref().take(end - from).bytes() {
        last.rotate_left(1);
        last[3] = byte?;
        at += 1;
        if last == FRAME {
            found.push(at - 4);
        }
    }
    for start in found {
        reader.seek(SeekFrom::Start(start))?;
        if next(&mut reader, end - start)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
