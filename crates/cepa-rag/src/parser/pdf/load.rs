//! Loading: the library unpacks what holds other objects while it loads, without any limit. Here it does not.

use std::{borrow::Cow, collections::HashSet};

use pdf_extract::{Document, LoadOptions, Object, ObjectId, ObjectStream, Stream, xref::XrefEntry};

use super::unpack::Budget;
use crate::parser::guard::guarded;

/// The part of the limit that objects in streams may unpack to; each takes a multiple of its length in memory.
const OBJECTS: u64 = 4;
/// Where the type of a stream is looked for, before its content.
const HEAD: usize = 4096;
/// Names of the same lengths that the library does not know.
const PACKED: &str = "ObjPck";
const HIDDEN: &[u8] = b"Encrypx";
/// What is encrypted, and not for everybody.
pub(super) const ENCRYPTED: &str = "it is encrypted; save it without a password";

/// The document of these bytes, with all its streams unpacked to at most so many bytes. Pictures are left out: they are
/// drawn as pages are, by one operator, and their bytes would be read as text.
pub(super) fn load(bytes: &[u8], max_unpacked: u64) -> Result<Document, String> {
    let objects = || Budget::new("its table of objects", max_unpacked / OBJECTS);
    count_heads(bytes, &mut objects())?;
    let bytes = without_encryption(bytes)?;
    let options = LoadOptions::with_filter(|id, object| {
        if let Ok(stream) = object.as_stream_mut()
            && stream.dict.has_type(b"ObjStm")
        {
            stream.dict.set("Type", PACKED);
        }
        // Whether there is anything is all that is asked of it.
        Some((id, Object::Null))
    });
    let loaded = guarded(|| Document::load_mem_with_options(&bytes, options));
    let mut document =
        loaded.and_then(|loaded| loaded.map_err(|error| error.to_string())).map_err(damaged)?;
    if let Some(encryption) = document.trailer.remove(HIDDEN) {
        document.trailer.set("Encrypt", encryption);
        // many are encrypted only so that nobody changes them
        let opened = guarded(|| document.decrypt("").is_ok());
        if !opened.map_err(damaged)? {
            return Err(ENCRYPTED.to_owned());
        }
    }
    if document.is_encrypted() {
        return Err(ENCRYPTED.to_owned());
    }
    guarded(|| unpack_objects(&mut document, &mut objects())).map_err(damaged)??;
    let mut budget = Budget::new("it", max_unpacked);
    for object in document.objects.values_mut() {
        let Object::Stream(stream) = object else { continue };
        if stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Image") {
            stream.set_plain_content(Vec::new());
        } else {
            guarded(|| budget.unpack(stream)).map_err(damaged)??;
        }
    }
    Ok(document)
}

pub(super) fn damaged(reason: String) -> String {
    format!("it is damaged ({reason})")
}

/// Tables and objects that are unpacked before anything else, or to find how long another stream is.
fn count_heads(bytes: &[u8], budget: &mut Budget) -> Result<(), String> {
    for at in memchr::memmem::find_iter(bytes, b"stream") {
        let head = &bytes[at.saturating_sub(HEAD)..at];
        // Not what stands before its object.
        let begin = memchr::memmem::rfind(head, b"endobj").unwrap_or_default();
        let head = plain(&head[begin..]);
        let names: [&[u8]; 2] = [b"ObjStm", b"XRef"];
        if !head.ends_with(b"end") && names.iter().any(|name| memchr::memmem::find(&head, name).is_some()) {
            budget.count_zlib(bytes[at + 6..].trim_ascii_start())?;
        }
    }
    Ok(())
}

/// The bytes, with another name for how they are encrypted: decrypting is for later, when nothing is unpacked at once.
fn without_encryption(bytes: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let mut bytes = Cow::Borrowed(bytes);
    let names: Vec<_> = memchr::memchr_iter(b'/', &bytes).collect();
    for at in names {
        let name = &bytes[at + 1..];
        let end =
            name.iter().take(64).position(|byte| byte.is_ascii_whitespace() || b"/<>[]()%{}".contains(byte));
        let name = &name[..end.unwrap_or(name.len().min(64))];
        if name == b"Encrypt" {
            bytes.to_mut()[at + 1..at + 8].copy_from_slice(HIDDEN);
        } else if name.contains(&b'#') && plain(name) == b"Encrypt" {
            return Err(ENCRYPTED.to_owned());
        }
    }
    Ok(bytes)
}

/// A name, where letters may be written as numbers: `#45ncrypt`.
fn plain(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut left = name;
    while let [first, rest @ ..] = left {
        let code = left.get(1..3).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'#') {
            Some(letter) => {
                plain.push(letter);
                left = &left[3..];
            }
            None => {
                plain.push(*first);
                left = rest;
            }
        }
    }
    plain
}

/// Objects in streams become objects of the document; one that is there already stays.
fn unpack_objects(document: &mut Document, budget: &mut Budget) -> Result<(), String> {
    let mut found: Vec<(ObjectId, Object)> = Vec::new();
    for (id, object) in &mut document.objects {
        let Object::Stream(stream) = object else { continue };
        if !stream.dict.has_type(PACKED.as_bytes()) {
            continue;
        }
        budget.unpack(stream)?;
        let container = id.0;
        let stands_here = |number: u32| match document.reference_table.get(number) {
            Some(XrefEntry::Compressed { container: own, .. }) => *own == container,
            _ => true,
        };
        if is_plain(stream)
            && let Ok(objects) = ObjectStream::new(stream)
        {
            found.extend(objects.objects.into_iter().filter(|(id, _)| stands_here(id.0)));
        }
        stream.set_plain_content(Vec::new());
    }
    for (id, object) in found {
        document.objects.entry(id).or_insert(object);
    }
    Ok(())
}

/// Whether each object has a place of its own: else a few bytes could be any number of objects.
fn is_plain(stream: &Stream) -> bool {
    let first = stream.dict.get(b"First").and_then(Object::as_i64).ok();
    let index = first.and_then(|first| stream.content.get(..usize::try_from(first).ok()?));
    let Some(index) = index.and_then(|index| std::str::from_utf8(index).ok()) else { return false };
    let mut places = HashSet::new();
    index.split_whitespace().skip(1).step_by(2).all(|place| places.insert(place))
}
