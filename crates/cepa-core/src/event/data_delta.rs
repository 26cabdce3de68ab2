//! [`DataDelta`]: a piece of data that streams in.

use serde::{de::Error, ser::SerializeMap};
use serde_json::Value;

use crate::fields::Fields;

/// A piece of data: exactly one of `data` and `url` in JSON, the other one is `null`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataDelta {
    /// Some of the bytes, in base64 of their own: decode, then join.
    Base64(String),
    /// Where all the bytes are.
    Url(String),
}

impl DataDelta {
    /// Writes `data` and `url`.
    pub(super) fn write_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let (data, url) = match self {
            Self::Base64(data) => (Some(data), None),
            Self::Url(url) => (None, Some(url)),
        };
        map.serialize_entry("data", &data)?;
        map.serialize_entry("url", &url)
    }

    /// Takes `data` and `url` out of the fields of an event.
    pub(super) fn take_from<E: Error>(fields: &mut Fields) -> Result<Self, E> {
        let mut text = |key| match fields.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(E::custom(format_args!("{key}: {other} is not a string"))),
        };
        match (text("data")?, text("url")?) {
            (Some(data), None) => Ok(Self::Base64(data)),
            (None, Some(url)) => Ok(Self::Url(url)),
            (Some(_), Some(_)) => Err(E::custom("`data` and `url` are both set; one of them must be null")),
            (None, None) => Err(E::custom("neither `data` nor `url` is set; one of them must be")),
        }
    }
}
