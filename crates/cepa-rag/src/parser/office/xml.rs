//! XML as a row of tags and texts. Entities that a document defines are not expanded.

use std::collections::HashMap;

use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

pub(super) enum Token<'a> {
    /// A tag, by its name without its prefix.
    Open(&'a str, Attributes<'a>),
    Close(&'a str),
    Text(&'a str),
}

pub(super) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// The value of an attribute, by its name with its prefix.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let attribute = self.0.try_get_attribute(name).ok()??;
        attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
    }
}

/// Gives out the tokens of a document, as far as it can be read.
pub(super) fn read(xml: &str, mut take: impl FnMut(Token<'_>)) -> Result<(), String> {
    let mut reader = Reader::from_str(xml.trim_start_matches('\u{feff}'));
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(tag) => {
                depth += 1;
                take(Token::Open(local(tag.name().as_ref()), Attributes(&tag)));
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                take(Token::Close(local(tag.name().as_ref())));
            }
            Event::Text(text) => take(Token::Text(&text.xml10_content())),
            Event::CData(text) => take(Token::Text(&text.xml10_content())),
            Event::GeneralRef(entity) => {
                if let Ok(Some(char)) = entity.resolve_char_ref() {
                    take(Token::Text(char.encode_utf8(&mut [0; 4])));
                } else if let Some(text) = resolve_predefined_entity(&entity.xml10_content()) {
                    take(Token::Text(text));
                }
            }
            Event::Eof if depth > 0 => return Err("it ends too early".into()),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// What a part of a document refers to.
pub(super) struct Relation {
    pub(super) kind: String,
    /// From the archive's root.
    pub(super) target: String,
}

/// The relations of a part in this folder, by id.
pub(super) fn relations(xml: &str, folder: &str) -> Result<HashMap<String, Relation>, String> {
    let mut relations = HashMap::new();
    read(xml, |token| {
        if let Token::Open("Relationship", attributes) = token
            && let (Some(id), Some(kind), Some(target)) =
                (attributes.get("Id"), attributes.get("Type"), attributes.get("Target"))
        {
            relations.insert(id, Relation { kind, target: absolute(folder, &target) });
        }
    })?;
    Ok(relations)
}

/// `../notes/1.xml` from `ppt/slides` is `ppt/notes/1.xml`.
fn absolute(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => folder.split('/').collect(),
    };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
