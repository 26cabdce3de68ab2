//! The file that vectors are kept in.
//!
//! It begins with a name of its own, 24 bytes that no other has, so that whoever has read it before sees when it was
//! begun anew. Then come records: the key, the number of dimensions, the numbers, a checksum. Writers lock a second
//! file; readers lock nothing, for a record that was not written yet, or is something else by now, has another checksum.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use cepa_core::Id;

use super::key::{Key, checksum};

const HEADER: usize = 24;
const KEY: usize = size_of::<Key>();
/// The key and the number of dimensions.
const HEAD: usize = KEY + 4;
/// More dimensions than this are damage.
const MAX_DIMENSIONS: u32 = 1 << 16;
/// How long others may be writing.
const LOCKED: Duration = Duration::from_secs(3);

/// The file, and what is known of it.
#[derive(Debug)]
pub(super) struct CacheFile {
    path: PathBuf,
    lock: PathBuf,
    header: Vec<u8>,
    /// Where the record of a key begins, and its dimensions.
    places: HashMap<Key, (u64, u32)>,
    /// The end of what has been looked at and is whole.
    end: u64,
}

impl CacheFile {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            path: folder.join("embeddings.bin"),
            lock: folder.join("embeddings.lock"),
            header: Vec::new(),
            places: HashMap::new(),
            end: 0,
        }
    }

    /// The vectors of these keys, as far as they are there.
    pub(super) fn read(&mut self, keys: &[Key]) -> io::Result<Vec<Option<Vec<f32>>>> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        self.catch_up(&mut file)?;
        keys.iter().map(|key| self.vector(&mut file, key)).collect()
    }

    fn vector(&mut self, file: &mut File, key: &Key) -> io::Result<Option<Vec<f32>>> {
        let Some(&(place, dimensions)) = self.places.get(key) else { return Ok(None) };
        file.seek(SeekFrom::Start(place))?;
        let record = read_record(file)?;
        match record.filter(|record| record.key == *key && record.vector.len() == dimensions as usize) {
            Some(record) => Ok(Some(record.vector)),
            None => {
                self.places.remove(key);
                Ok(None)
            }
        }
    }

    /// Looks at what others have added since.
    fn catch_up(&mut self, file: &mut File) -> io::Result<()> {
        let mut header = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        Read::by_ref(file).take(HEADER as u64).read_to_end(&mut header)?;
        if header != self.header || header.len() < HEADER {
            self.places.clear();
            self.end = header.len() as u64;
            self.header = header;
        }
        if self.header.len() < HEADER {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.end))?;
        let mut records = BufReader::new(file);
        while let Some(record) = read_record(&mut records)? {
            #[expect(clippy::cast_possible_truncation, reason = "it is read only up to a limit")]
            let dimensions = record.vector.len() as u32;
            self.places.insert(record.key, (self.end, dimensions));
            self.end += size(dimensions);
        }
        Ok(())
    }

    /// Adds vectors; those of others that are there are kept, unless the file would become too large.
    pub(super) fn add(&mut self, new: &[(Key, Vec<f32>)], max_bytes: u64) -> io::Result<()> {
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&self.lock)?;
        lock_soon(&lock)?;
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&self.path)?;
        self.catch_up(&mut file)?;
        let mut records = Vec::new();
        for (key, vector) in new {
            let dimensions = u32::try_from(vector.len()).ok().filter(|count| *count <= MAX_DIMENSIONS);
            if let Some(dimensions) = dimensions.filter(|_| !self.places.contains_key(key)) {
                let start = records.len();
                records.extend_from_slice(key);
                records.extend_from_slice(&dimensions.to_le_bytes());
                vector.iter().for_each(|value| records.extend_from_slice(&value.to_le_bytes()));
                let sum = checksum(&records[start..]);
                records.extend_from_slice(&sum);
            }
        }
        let is_new = self.header.len() < HEADER || self.end + records.len() as u64 > max_bytes;
        if records.is_empty() || HEADER as u64 + records.len() as u64 > max_bytes {
            return Ok(());
        }
        if is_new {
            let mut header = Id::new().to_string().into_bytes();
            header.resize(HEADER, 0);
            file.set_len(0)?;
            (self.header, self.end) = (header, HEADER as u64);
            self.places.clear();
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&self.header)?;
        } else {
            // What stands after it was cut off.
            file.set_len(self.end)?;
            file.seek(SeekFrom::Start(self.end))?;
        }
        file.write_all(&records)
        // Not synced: what a power failure takes is made again.
    }
}

/// Whoever writes is done in a moment; one that has the lock for longer hangs, and nobody need wait for it.
fn lock_soon(lock: &File) -> io::Result<()> {
    let end = Instant::now() + LOCKED;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => {
                let reason = format!("another program has held its lock for {LOCKED:?}, so nothing is added");
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

struct Record {
    key: Key,
    vector: Vec<f32>,
}

fn size(dimensions: u32) -> u64 {
    (HEAD + KEY) as u64 + 4 * u64::from(dimensions)
}

/// The next record, if there is a whole one.
fn read_record(from: &mut impl Read) -> io::Result<Option<Record>> {
    let mut record = Vec::with_capacity(HEAD);
    from.by_ref().take(HEAD as u64).read_to_end(&mut record)?;
    let Some((key, dimensions)) = record.split_first_chunk::<KEY>() else { return Ok(None) };
    let Ok(dimensions) = dimensions.try_into().map(u32::from_le_bytes) else { return Ok(None) };
    if dimensions > MAX_DIMENSIONS {
        return Ok(None);
    }
    let key = *key;
    let whole = size(dimensions);
    from.by_ref().take(whole - HEAD as u64).read_to_end(&mut record)?;
    if record.len() as u64 != whole {
        return Ok(None);
    }
    let (record, sum) = record.split_at(record.len() - KEY);
    if checksum(record) != sum {
        return Ok(None);
    }
    let numbers = record[HEAD..].as_chunks::<4>().0;
    Ok(Some(Record { key, vector: numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect() }))
}
