//! Forms, which pages draw and which draw each other: in a damaged file for ever, until the stack is full.

use std::collections::HashMap;

use pdf_extract::{Dictionary, Document, Object, ObjectId};

use super::{MAX_PAGE, too_long};

/// How deep forms may be in each other.
const MAX_DEPTH: usize = 24;
/// How often forms may be drawn for one page, by all paths to them; each kilobyte of a form counts as one more.
const MAX_DRAWN: u64 = 100_000;

/// Refuses a page whose forms are too deep in each other, or too many.
pub(super) fn check(document: &Document, page: ObjectId) -> Result<(), String> {
    let Ok(resources) = document.get_page_resources(page) else { return Ok(()) };
    let mut forms: Vec<ObjectId> = resources.0.iter().flat_map(|own| below(document, own)).collect();
    for id in resources.1 {
        forms.extend(document.get_dictionary(id).iter().flat_map(|own| below(document, own)));
    }
    let mut known = HashMap::new();
    let drawn: u64 = forms.iter().try_fold(0_u64, |sum, form| {
        drawn(document, *form, &forms, 0, &mut known).map(|drawn| sum.saturating_add(drawn))
    })?;
    if drawn > MAX_DRAWN {
        return Err(format!("its forms draw others more than {MAX_DRAWN} times"));
    }
    Ok(())
}

/// How many forms are drawn with this one.
fn drawn(
    document: &Document,
    form: ObjectId,
    inherited: &[ObjectId],
    depth: usize,
    known: &mut HashMap<ObjectId, u64>,
) -> Result<u64, String> {
    if depth > MAX_DEPTH {
        return Err(format!("its forms are more than {MAX_DEPTH} deep in each other"));
    }
    if let Some(drawn) = known.get(&form) {
        return Ok(*drawn);
    }
    let Ok(stream) = document.get_object(form).and_then(Object::as_stream) else { return Ok(0) };
    if stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|subtype| subtype == b"Image") {
        return Ok(0);
    }
    if stream.content.len() > MAX_PAGE {
        return Err(too_long("a form"));
    }
    let own = stream.dict.get(b"Resources").ok().and_then(|own| dictionary(document, own));
    let own = own.map(|own| below(document, own));
    // without resources of its own a form has those of the page, itself among them
    let below = match &own {
        Some(own) => own.as_slice(),
        None if draws(stream) => inherited,
        None => &[],
    };
    let mut sum = 1 + stream.content.len() as u64 / 1024;
    for form in below {
        sum = sum.saturating_add(drawn(document, *form, below, depth + 1, known)?);
    }
    known.insert(form, sum);
    Ok(sum)
}

/// Whether it draws anything else.
fn draws(stream: &pdf_extract::Stream) -> bool {
    let mut words = stream.content.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let mut last: &[u8] = b"";
    words.any(|word| std::mem::replace(&mut last, word).contains(&b'/') && word.starts_with(b"Do"))
}

/// What can be drawn with these resources.
fn below(document: &Document, resources: &Dictionary) -> Vec<ObjectId> {
    let objects = resources.get(b"XObject").ok().and_then(|objects| dictionary(document, objects));
    objects
        .into_iter()
        .flat_map(|objects| objects.iter())
        .filter_map(|(_, object)| object.as_reference().ok())
        .collect()
}

fn dictionary<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Dictionary> {
    match object {
        Object::Reference(id) => document.get_dictionary(*id).ok(),
        object => object.as_dict().ok(),
    }
}
