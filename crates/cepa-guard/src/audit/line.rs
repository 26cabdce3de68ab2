//! One line of the log: a record with its number, the hash of the line before, and its own.

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Bytes of the longest line.
pub(super) const MAX_LINE: u64 = 16 << 20;

/// The hash before the first line.
pub(super) const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const HASH: &str = ",\"hash\":\"";
const END: &str = "\"}";

/// Where the chain stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) hash: String,
}

impl Link {
    /// Before the first line.
    pub(super) fn start() -> Self {
        Self { seq: 0, hash: ZERO.to_owned() }
    }

    /// Appends a record, a JSON object, as the next line with its line end.
    pub(super) fn append(&mut self, record: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        let seq = self.seq + 1;
        out.extend_from_slice(format!("{{\"seq\":{seq},\"prev\":\"{}\"", self.hash).as_bytes());
        // Without the braces of the record's own.
        let fields = record.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}")).unwrap_or_default();
        if !fields.is_empty() {
            out.push(b',');
            out.extend_from_slice(fields);
        }
        let hash = sha256(&out[begin..]);
        out.extend_from_slice(format!("{HASH}{hash}{END}\n").as_bytes());
        *self = Self { seq, hash };
    }
}

/// A line that was read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) link: Link,
    pub(super) prev: String,
    /// For a line that follows half a line: the hash of that.
    pub(super) torn: Option<String>,
}

#[derive(Deserialize)]
struct Fields {
    seq: u64,
    prev: String,
    event: String,
    torn_sha256: Option<String>,
}

/// Reads a line without its end; `None` if it is not whole or its hash is not its own.
pub(super) fn read(line: &[u8]) -> Option<Read> {
    let rest = line.strip_suffix(END.as_bytes())?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let body = rest.strip_suffix(HASH.as_bytes())?;
    let hash = std::str::from_utf8(hash).ok()?;
    if sha256(body) != hash {
        return None;
    }
    let fields: Fields = serde_json::from_slice(line).ok()?;
    let torn = fields.torn_sha256.filter(|_| fields.event == "recovered");
    Some(Read { link: Link { seq: fields.seq, hash: hash.to_owned() }, prev: fields.prev, torn })
}

/// The hash, in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        _ = write!(text, "{byte:02x}");
    }
    text
}
