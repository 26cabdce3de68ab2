//! [`Fields`]: metadata, and fields of a newer or older version that must not get lost.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::{Map, Value, map};

use crate::wire::Key;

/// A JSON object that is one word wide while it is empty, as metadata and unknown fields mostly are.
///
/// ```
/// use cepa_core::Fields;
///
/// let mut metadata = Fields::default();
/// metadata.insert("source", "web");
/// assert_eq!(metadata.get("source").and_then(|v| v.as_str()), Some("web"));
/// assert_eq!(serde_json::to_string(&metadata)?, r#"{"source":"web"}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Fields(Option<Box<Map<String, Value>>>);

impl Fields {
    /// No fields.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_ref()?.get(key)
    }

    /// The value of `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.as_mut()?.get_mut(key)
    }

    /// Sets `key` and returns the value it had.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.get_or_insert_default().insert(key.into(), value.into())
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let map = self.0.as_mut()?;
        let value = map.remove(key);
        if map.is_empty() {
            self.0 = None; // one form of "empty", so that equality is that of the JSON
        }
        value
    }

    /// Whether `key` is set.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Whether no field is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many fields are set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |map| map.len())
    }

    /// The fields, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().flat_map(|map| map.iter()).map(|(key, value)| (key.as_str(), value))
    }

    /// Writes the fields as entries of an object that has others before them.
    pub(crate) fn write_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))
    }

    /// Keeps an entry that is not one of the known fields.
    pub(crate) fn keep<'de, A: MapAccess<'de>>(
        &mut self,
        key: Key<'de>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        let value: Value = map.next_value()?;
        self.insert(key.into_string(), value);
        Ok(())
    }

    /// Takes the constant `type` of an object out again and refuses another one.
    pub(crate) fn expect_tag<E: Error>(&mut self, tag: &'static str) -> Result<(), E> {
        match self.remove("type") {
            Some(found) if found != tag => Err(E::custom(format_args!("type: {found}, expected \"{tag}\""))),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl From<Map<String, Value>> for Fields {
    fn from(map: Map<String, Value>) -> Self {
        Self((!map.is_empty()).then(|| Box::new(map)))
    }
}

impl From<Fields> for Map<String, Value> {
    fn from(fields: Fields) -> Self {
        fields.0.map(|map| *map).unwrap_or_default()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect::<Map<_, _>>().into()
    }
}

impl<K: Into<String>, V: Into<Value>> Extend<(K, V)> for Fields {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl IntoIterator for Fields {
    type Item = (String, Value);
    type IntoIter = map::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        Map::from(self).into_iter()
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.write_into(&mut map)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    fields.insert(key, value);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn is_one_word() {
        assert_eq!(size_of::<Fields>(), size_of::<usize>());
    }

    #[test]
    fn emptied_fields_equal_fresh_ones() {
        let mut fields = Fields::from_iter([("a", 1)]);
        assert_eq!(fields.insert("a", 2), Some(json!(1)));
        assert_eq!((fields.len(), fields.contains_key("a"), fields.is_empty()), (1, true, false));
        assert_eq!(fields.remove("b"), None);
        assert_eq!(fields.remove("a"), Some(json!(2)));
        assert_eq!(fields, Fields::new());
        assert!(fields.is_empty());
        assert_eq!(Fields::from(Map::new()), Fields::new());
    }

    #[test]
    fn json_is_an_object() {
        assert_eq!(serde_json::to_string(&Fields::new()).unwrap(), "{}");
        let text = r#"{"a":{"b":[1.0,null]},"z":"x"}"#;
        let fields: Fields = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&fields).unwrap(), text);
        assert!(
            serde_json::from_str::<Fields>("null").unwrap_err().to_string().contains("expected an object")
        );
    }
}
