//! [`ReplyContext`]: the reply at hand.

use serde_json::{Map, Value};

use crate::{fields::Fields, id::Id, wire::wire};

/// What the agent knows about the reply at hand, running, waiting or over.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ReplyContext {
    /// The reply's id, which its message has too.
    pub reply_id: Id,
    /// The round the agent is in.
    pub cur_iter: u32,
    /// The JSON schema the reply must answer by, if any.
    pub structured_schema: Option<Value>,
    /// The answer by schema, once it is there.
    pub structured_output: Option<Map<String, Value>>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

impl ReplyContext {
    /// A new reply with a fresh id.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "each reply has an id of its own")]
    pub fn new() -> Self {
        LoadedReplyContext::default().or(None, None)
    }
}

impl serde::Serialize for ReplyContext {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;

        let Self { reply_id, cur_iter, structured_schema, structured_output, extra } = self;
        let mut map = serializer.serialize_map(None)?;
        crate::wire::put!(map, reply_id, cur_iter, structured_schema, structured_output);
        extra.write_into(&mut map)?;
        map.end()
    }
}

/// A reply context as it was saved.
#[derive(Default)]
pub(super) struct LoadedReplyContext {
    reply_id: Option<Id>,
    cur_iter: Option<u32>,
    structured_schema: Option<Value>,
    structured_output: Option<Map<String, Value>>,
    extra: Fields,
}

wire!(@read LoadedReplyContext, "a reply context", {
    reply_id = None, cur_iter = None, structured_schema = None, structured_output = None,
});

impl LoadedReplyContext {
    /// The context, with what it lacks taken from where old states had it.
    pub(super) fn or(self, reply_id: Option<Id>, cur_iter: Option<u32>) -> ReplyContext {
        ReplyContext {
            reply_id: self.reply_id.or(reply_id).unwrap_or_else(Id::new),
            cur_iter: self.cur_iter.or(cur_iter).unwrap_or_default(),
            structured_schema: self.structured_schema,
            structured_output: self.structured_output,
            extra: self.extra,
        }
    }
}
