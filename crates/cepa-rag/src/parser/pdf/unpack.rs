//! Streams of PDF, which may unpack to a thousand times of what they are, several times over.

use std::io::{self, Read, Write};

use flate2::read::{DeflateDecoder, ZlibDecoder};
use pdf_extract::{Dictionary, Object, Stream, filters::png};
use weezl::{BitOrder, decode::Decoder};

/// Why a stream is not unpacked.
#[derive(Debug)]
pub(super) enum Packed {
    /// It is longer than it may be.
    TooLong,
    /// It is packed in another way, or damaged.
    Unknown,
}

/// How much may still be unpacked.
pub(super) struct Budget {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Budget {
    pub(super) fn new(what: &'static str, limit: u64) -> Self {
        Self { what, limit, left: limit }
    }

    /// What this is to those who wonder.
    pub(super) fn spent(&self) -> String {
        let Self { what, limit, .. } = self;
        format!("{what} unpacks to more than {limit} bytes; raise the limit with `with_max_unpacked`")
    }

    /// Counts bytes that were unpacked.
    pub(super) fn count(&mut self, bytes: u64) -> Result<(), String> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.spent())?;
        Ok(())
    }

    /// Unpacks a stream for good, so that nobody does it again. What is packed in an unknown way stays as it is.
    pub(super) fn unpack(&mut self, stream: &mut Stream) -> Result<(), String> {
        let content = match unpacked(stream, self.left) {
            Ok(content) => content,
            Err(Packed::Unknown) => std::mem::take(&mut stream.content),
            Err(Packed::TooLong) => return Err(self.spent()),
        };
        self.count(content.len() as u64)?;
        stream.set_plain_content(content);
        Ok(())
    }

    /// Counts what these bytes unpack to if a zlib stream begins here, or several in each other.
    pub(super) fn count_zlib(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut packed = bytes;
        let mut next;
        // No more than two are ever in each other for a reason.
        for _ in 0..4 {
            if !matches!(packed, [first, second, ..] if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
            {
                break;
            }
            next = inflated(packed, self.left).map_err(|_| self.spent())?;
            self.count(next.len() as u64)?;
            packed = &next;
        }
        Ok(())
    }
}

/// The content of a stream, if it has at most so many bytes; so have all steps on the way.
pub(super) fn unpacked(stream: &Stream, most: u64) -> Result<Vec<u8>, Packed> {
    let parameters = stream.dict.get(b"DecodeParms").and_then(Object::as_dict).ok();
    let filters = match stream.filters() {
        Ok(filters) => filters,
        Err(_) if stream.content.len() as u64 > most => return Err(Packed::TooLong),
        Err(_) => return Ok(stream.content.clone()),
    };
    let mut content = stream.content.clone();
    for filter in filters {
        content = match filter {
            b"FlateDecode" => predicted(inflated(&content, most)?, parameters, most)?,
            b"LZWDecode" => predicted(unlzw(&content, parameters, most)?, parameters, most)?,
            b"ASCII85Decode" => unascii(content, most)?,
            _ => return Err(Packed::Unknown),
        };
    }
    Ok(content)
}

/// As lopdf reads it: what is damaged is there up to the damage, and a wrong head is passed over.
fn inflated(packed: &[u8], most: u64) -> Result<Vec<u8>, Packed> {
    let mut content = Vec::new();
    let read = ZlibDecoder::new(packed).take(most.saturating_add(1)).read_to_end(&mut content);
    if read.is_err() && content.is_empty() && packed.len() > 2 {
        let _ = DeflateDecoder::new(&packed[2..]).take(most.saturating_add(1)).read_to_end(&mut content);
    }
    within(content, most)
}

fn unlzw(packed: &[u8], parameters: Option<&Dictionary>, most: u64) -> Result<Vec<u8>, Packed> {
    let early = parameters.and_then(|own| own.get(b"EarlyChange").and_then(Object::as_i64).ok()) != Some(0);
    let mut decoder = match early {
        true => Decoder::with_tiff_size_switch(BitOrder::Msb, 8),
        false => Decoder::new(BitOrder::Msb, 8),
    };
    let mut content = Limited { content: Vec::new(), most };
    let _ = decoder.into_stream(&mut content).decode_all(packed);
    within(content.content, most)
}

/// Takes one byte too many, and no more.
struct Limited {
    content: Vec<u8>,
    most: u64,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.content.len() as u64 > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.content.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Four bytes of five, or of one.
fn unascii(packed: Vec<u8>, most: u64) -> Result<Vec<u8>, Packed> {
    let zeros = memchr::memchr_iter(b'z', &packed).count() as u64;
    if packed.len() as u64 / 5 * 4 + zeros * 4 > most {
        return Err(Packed::TooLong);
    }
    let mut dictionary = Dictionary::new();
    dictionary.set("Filter", "ASCII85Decode");
    Stream::new(dictionary, packed).decompressed_content().map_err(|_| Packed::Unknown)
}

/// Rows that were written as differences.
fn predicted(content: Vec<u8>, parameters: Option<&Dictionary>, most: u64) -> Result<Vec<u8>, Packed> {
    let number = |name: &[u8], usual: i64| {
        let found = parameters.and_then(|own| own.get(name).and_then(Object::as_i64).ok());
        u64::try_from(found.unwrap_or(usual)).unwrap_or_default()
    };
    if !(10..=15).contains(&number(b"Predictor", 1)) {
        return Ok(content);
    }
    let (columns, colors) = (number(b"Columns", 1).max(1), number(b"Colors", 1).max(1));
    let pixel = colors.saturating_mul(number(b"BitsPerComponent", 8).max(8)) / 8;
    if pixel.saturating_mul(columns) > most {
        return Err(Packed::TooLong);
    }
    let (Ok(pixel), Ok(columns)) = (usize::try_from(pixel), usize::try_from(columns)) else {
        return Err(Packed::TooLong);
    };
    png::decode_frame(&content, pixel, columns).map_err(|_| Packed::Unknown)
}

fn within(content: Vec<u8>, most: u64) -> Result<Vec<u8>, Packed> {
    if content.len() as u64 > most { Err(Packed::TooLong) } else { Ok(content) }
}
