//! Reading an object whose shape depends on its `type`, wherever in the object that stands.

use std::vec;

use serde::de::{DeserializeSeed, Error, IntoDeserializer, MapAccess};
use serde_json::Value;

use super::{Key, field};

/// Fields that every shape has; they are taken before the `type` is known.
pub(crate) trait Head {
    /// Reads the value of `key` if it is one of the head's, and says whether it was.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// No common fields.
impl Head for () {
    fn take<'de, A: MapAccess<'de>>(&mut self, _: &str, _: &mut A) -> Result<bool, A::Error> {
        Ok(false)
    }
}

/// Reads up to the `type` and returns it with the rest of the object.
///
/// What stands before the `type` and is not the head's is put aside and replayed. AgentScope writes the `type`
/// before everything else that matters, so as a rule that is nothing; a database that reorders keys is read too.
pub(crate) fn open<'de, A: MapAccess<'de>>(
    mut map: A,
    head: &mut impl Head,
) -> Result<(Key<'de>, Replay<'de, A>), A::Error> {
    let mut early = Vec::new();
    while let Some(key) = map.next_key::<Key<'de>>()? {
        if key.as_str() == "type" {
            let tag = field(&mut map, "type")?;
            return Ok((tag, Replay { early: early.into_iter(), value: None, map }));
        }
        if !head.take(key.as_str(), &mut map)? {
            let value = map.next_value()?;
            early.push((key, value));
        }
    }
    Err(A::Error::missing_field("type"))
}

/// The entries put aside, then those not read yet.
pub(crate) struct Replay<'de, A> {
    early: vec::IntoIter<(Key<'de>, Value)>,
    value: Option<Value>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Replay<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.early.next() {
            None => self.map.next_key_seed(seed),
            Some((key, value)) => {
                self.value = Some(value);
                seed.deserialize(key.0.into_deserializer()).map(Some)
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            None => self.map.next_value_seed(seed),
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
        }
    }
}
