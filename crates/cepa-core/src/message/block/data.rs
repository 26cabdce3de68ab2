//! [`DataBlock`] and where its bytes are.

use std::sync::Arc;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess},
    ser::SerializeMap,
};

use crate::{
    fields::Fields,
    id::Id,
    time::Timestamp,
    wire::{FromMap, object, open, put, read, wire},
};

/// An image, sound, video or file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DataBlock {
    /// The block's own id.
    pub id: Id,
    /// Where the bytes are.
    pub source: Source,
    /// A name to show, such as a file name.
    pub name: Option<String>,
    /// When the block was begun.
    pub created_at: Timestamp,
    /// When the block was complete; streaming sets it.
    pub finished_at: Option<Timestamp>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl DataBlock {
    /// A block with a fresh id, made now.
    #[must_use]
    pub fn new(source: Source) -> Self {
        Self {
            id: Id::new(),
            source,
            name: None,
            created_at: Timestamp::now(),
            finished_at: None,
            extra: Fields::new(),
        }
    }

    /// The block under another id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Id>) -> Self {
        self.id = id.into();
        self
    }

    /// The block with a name to show.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The MIME type, such as `image/png`.
    #[must_use]
    pub fn media_type(&self) -> &str {
        self.source.media_type()
    }

    /// Whether the data is sound.
    #[must_use]
    pub fn is_audio(&self) -> bool {
        self.media_type().starts_with("audio/")
    }

    /// Whether the data is an image.
    #[must_use]
    pub fn is_image(&self) -> bool {
        self.media_type().starts_with("image/")
    }
}

wire!(DataBlock, "a data block", tag "data", {
    id = Id::new(),
    source,
    name = None,
    created_at = Timestamp::now(),
    finished_at = None,
});

/// Where the bytes of a data block are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// In the message itself.
    #[non_exhaustive]
    Base64 {
        /// The bytes in base64 (the standard alphabet, padded).
        data: String,
        /// The MIME type, such as `image/png`.
        media_type: Arc<str>,
        /// Fields that this version does not know.
        extra: Fields,
    },
    /// Somewhere else.
    #[non_exhaustive]
    Url {
        /// The address. It is not checked here.
        url: String,
        /// The MIME type, such as `image/png`.
        media_type: Arc<str>,
        /// Fields that this version does not know.
        extra: Fields,
    },
}

impl Source {
    /// Bytes in base64 (the standard alphabet, padded).
    pub fn base64(data: impl Into<String>, media_type: impl Into<Arc<str>>) -> Self {
        Self::Base64 { data: data.into(), media_type: media_type.into(), extra: Fields::new() }
    }

    /// An address.
    pub fn url(url: impl Into<String>, media_type: impl Into<Arc<str>>) -> Self {
        Self::Url { url: url.into(), media_type: media_type.into(), extra: Fields::new() }
    }

    /// The MIME type, such as `image/png`.
    #[must_use]
    pub fn media_type(&self) -> &str {
        match self {
            Self::Base64 { media_type, .. } | Self::Url { media_type, .. } => media_type,
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let extra = match self {
            Self::Base64 { data, media_type, extra } => {
                map.serialize_entry("type", "base64")?;
                put!(map, data, media_type);
                extra
            }
            Self::Url { url, media_type, extra } => {
                map.serialize_entry("type", "url")?;
                put!(map, url, media_type);
                extra
            }
        };
        extra.write_into(&mut map)?;
        map.end()
    }
}

impl FromMap for Source {
    const WHAT: &'static str = "a data source";

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let (tag, mut map) = open(map, &mut ())?;
        let mut extra = Fields::new();
        Ok(match tag.as_str() {
            "base64" => read!(map, extra, Self::Base64 { data, media_type } + { extra }),
            "url" => read!(map, extra, Self::Url { url, media_type } + { extra }),
            other => return Err(A::Error::unknown_variant(other, &["base64", "url"])),
        })
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(deserializer)
    }
}
