//! Writing a state: as a whole, or what stands before and after its messages.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::AgentState;
use crate::wire::put;

impl AgentState {
    /// The fields before the messages, as an object of their own.
    pub(crate) const fn before_context(&self) -> BeforeContext<'_> {
        BeforeContext(self)
    }

    /// The fields after the messages, as an object of their own.
    pub(crate) const fn after_context(&self) -> AfterContext<'_> {
        AfterContext(self)
    }
}

impl Serialize for AgentState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { context, .. } = self;
        let mut map = self.before_context().put_into(serializer.serialize_map(None)?)?;
        put!(map, context);
        self.after_context().put_into(map)?.end()
    }
}

pub(crate) struct BeforeContext<'a>(&'a AgentState);

impl BeforeContext<'_> {
    fn put_into<M: SerializeMap>(&self, mut map: M) -> Result<M, M::Error> {
        let AgentState { session_id, summary, .. } = self.0;
        put!(map, session_id, summary);
        Ok(map)
    }
}

impl Serialize for BeforeContext<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.put_into(serializer.serialize_map(None)?)?.end()
    }
}

pub(crate) struct AfterContext<'a>(&'a AgentState);

impl AfterContext<'_> {
    fn put_into<M: SerializeMap>(&self, mut map: M) -> Result<M, M::Error> {
        // All fields by name, so that a new one is not forgotten.
        let AgentState {
            session_id: _,
            summary: _,
            context: _,
            reply_context,
            permission_context,
            tool_context,
            tasks_context,
            middle_context,
            extra,
        } = self.0;
        put!(map, reply_context, permission_context, tool_context, tasks_context, middle_context);
        extra.write_into(&mut map)?;
        Ok(map)
    }
}

impl Serialize for AfterContext<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.put_into(serializer.serialize_map(None)?)?.end()
    }
}
