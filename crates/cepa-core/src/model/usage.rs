//! [`ChatUsage`]: what one model call cost.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::{
    fields::Fields,
    message::Usage,
    wire::{put, wire},
};

/// Tokens and time of one model call (AgentScope 2.0.11).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatUsage {
    /// Tokens sent to the model.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// How long the call took, in seconds.
    pub time: f64,
    /// Sent tokens that were put into the provider's prompt cache.
    pub cache_creation_input_tokens: u64,
    /// Sent tokens that came from the provider's prompt cache.
    pub cache_input_tokens: u64,
    /// What else the provider reported.
    pub metadata: Option<Map<String, Value>>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ChatUsage {
    /// Tokens sent, tokens written, and seconds passed.
    #[must_use]
    pub const fn new(input_tokens: u64, output_tokens: u64, time: f64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            time,
            cache_creation_input_tokens: 0,
            cache_input_tokens: 0,
            metadata: None,
            extra: Fields::new(),
        }
    }
}

/// The tokens, as they are added to the message.
impl From<&ChatUsage> for Usage {
    fn from(usage: &ChatUsage) -> Self {
        Self {
            cache_input_tokens: usage.cache_input_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            ..Self::new(usage.input_tokens, usage.output_tokens)
        }
    }
}

// `type` stands in the middle here, so the writing half is not the macro's.
impl Serialize for ChatUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self {
            input_tokens,
            output_tokens,
            time,
            cache_creation_input_tokens,
            cache_input_tokens,
            metadata,
            extra,
        } = self;
        let mut map = serializer.serialize_map(None)?;
        put!(map, input_tokens, output_tokens, time, cache_creation_input_tokens, cache_input_tokens);
        map.serialize_entry("type", "chat")?;
        put!(map, metadata);
        extra.write_into(&mut map)?;
        map.end()
    }
}

wire!(@read ChatUsage, "chat usage", tag "chat", {
    input_tokens,
    output_tokens,
    time,
    cache_creation_input_tokens = 0,
    cache_input_tokens = 0,
    metadata = None,
});
