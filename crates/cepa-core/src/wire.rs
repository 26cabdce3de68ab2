//! How the types are read from and written to JSON.
//!
//! Everything here serves three aims that the derives of serde do not reach together: fields nobody knows are kept
//! (`#[serde(flatten)]` alone would do), the `type` of a block or event picks its shape without buffering the whole
//! object first (`#[serde(tag)]` buffers), and an error says in which field it happened.

mod macros;
mod names;
mod replay;

pub(crate) use macros::{key, put, read, wire};
pub(crate) use names::names;
pub(crate) use replay::{Head, open};

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

/// A type that is read entry by entry from a JSON object.
pub(crate) trait FromMap: Sized {
    /// What is expected, for errors: "a text block".
    const WHAT: &'static str;

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// Reads a [`FromMap`] type.
pub(crate) fn object<'de, T: FromMap, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: FromMap> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(map)
    }
}

/// The key of an object's entry, borrowed from the input where that is possible.
pub(crate) struct Key<'de>(Cow<'de, str>);

impl Key<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text)))
            }
        }

        deserializer.deserialize_str(KeyVisitor)
    }
}

/// Reads the value of the entry at hand; an error names the field.
pub(crate) fn field<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
    name: &'static str,
) -> Result<T, A::Error> {
    map.next_value().map_err(|error| in_field(name, error))
}

/// Prefixes an error with the field it happened in, so that nested errors read as a path.
#[cold]
pub(crate) fn in_field<E: Error>(name: &str, error: E) -> E {
    E::custom(format_args!("{name}: {error}"))
}

/// Text that says what was expected, with `missing field` as serde words it.
pub(crate) fn required<T, E: Error>(value: Option<T>, name: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(name))
}
