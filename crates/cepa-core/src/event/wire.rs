//! The JSON of events: flat, with `type` after the fields that all events have.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess},
    ser::SerializeMap,
};

use super::{
    AgentEvent, DataDelta, EventKind, Ticket,
    payload::{ExternalExecutionResultEvent, UserConfirmResultEvent, UserInterruptEvent},
};
use crate::{
    fields::Fields,
    id::Id,
    message::{ReplyFinishedReason, Role},
    model::FinishedReason,
    time::Timestamp,
    wire::{FromMap, Head, Key, field, object, open, put, read},
};

macro_rules! event_types {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        const TYPES: &[&str] = &[$($name),+];

        impl EventKind {
            /// The `type` of the event in JSON.
            #[must_use]
            pub const fn event_type(&self) -> &'static str {
                match self {
                    $( Self::$variant { .. } => $name, )+
                }
            }
        }
    };
}

event_types! {
    ReplyStart = "REPLY_START",
    ReplyEnd = "REPLY_END",
    ModelCallStart = "MODEL_CALL_START",
    ModelCallEnd = "MODEL_CALL_END",
    TextBlockStart = "TEXT_BLOCK_START",
    TextBlockDelta = "TEXT_BLOCK_DELTA",
    TextBlockEnd = "TEXT_BLOCK_END",
    ThinkingBlockStart = "THINKING_BLOCK_START",
    ThinkingBlockDelta = "THINKING_BLOCK_DELTA",
    ThinkingBlockEnd = "THINKING_BLOCK_END",
    DataBlockStart = "DATA_BLOCK_START",
    DataBlockDelta = "DATA_BLOCK_DELTA",
    DataBlockEnd = "DATA_BLOCK_END",
    HintBlock = "HINT_BLOCK",
    ToolCallStart = "TOOL_CALL_START",
    ToolCallDelta = "TOOL_CALL_DELTA",
    ToolCallEnd = "TOOL_CALL_END",
    ToolResultStart = "TOOL_RESULT_START",
    ToolResultTextDelta = "TOOL_RESULT_TEXT_DELTA",
    ToolResultDataDelta = "TOOL_RESULT_DATA_DELTA",
    ToolResultEnd = "TOOL_RESULT_END",
    RequireUserConfirm = "REQUIRE_USER_CONFIRM",
    RequireExternalExecution = "REQUIRE_EXTERNAL_EXECUTION",
    UserConfirmResult = "USER_CONFIRM_RESULT",
    ExternalExecutionResult = "EXTERNAL_EXECUTION_RESULT",
    UserInterrupt = "USER_INTERRUPT",
    ExceedMaxIters = "EXCEED_MAX_ITERS",
    Custom = "CUSTOM",
}

impl EventKind {
    /// The reply the event belongs to; only custom events have none.
    #[must_use]
    pub const fn reply_id(&self) -> Option<&Id> {
        match self {
            Self::ReplyStart { reply_id, .. }
            | Self::ReplyEnd { reply_id, .. }
            | Self::ModelCallStart { reply_id, .. }
            | Self::ModelCallEnd { reply_id, .. }
            | Self::TextBlockStart { reply_id, .. }
            | Self::TextBlockDelta { reply_id, .. }
            | Self::TextBlockEnd { reply_id, .. }
            | Self::ThinkingBlockStart { reply_id, .. }
            | Self::ThinkingBlockDelta { reply_id, .. }
            | Self::ThinkingBlockEnd { reply_id, .. }
            | Self::DataBlockStart { reply_id, .. }
            | Self::DataBlockDelta { reply_id, .. }
            | Self::DataBlockEnd { reply_id, .. }
            | Self::HintBlock { reply_id, .. }
            | Self::ToolCallStart { reply_id, .. }
            | Self::ToolCallDelta { reply_id, .. }
            | Self::ToolCallEnd { reply_id, .. }
            | Self::ToolResultStart { reply_id, .. }
            | Self::ToolResultTextDelta { reply_id, .. }
            | Self::ToolResultDataDelta { reply_id, .. }
            | Self::ToolResultEnd { reply_id, .. }
            | Self::RequireUserConfirm { reply_id, .. }
            | Self::RequireExternalExecution { reply_id, .. }
            | Self::UserConfirmResult(UserConfirmResultEvent { reply_id, .. })
            | Self::ExternalExecutionResult(ExternalExecutionResultEvent { reply_id, .. })
            | Self::UserInterrupt(UserInterruptEvent { reply_id })
            | Self::ExceedMaxIters { reply_id, .. } => Some(reply_id),
            Self::Custom { .. } => None,
        }
    }

    /// Writes the fields of this kind, in AgentScope's order.
    fn write_into<M: SerializeMap>(&self, mut map: M) -> Result<M, M::Error> {
        match self {
            Self::ReplyStart { session_id, reply_id, name, role } => {
                put!(map, session_id, reply_id, name, role);
            }
            Self::ReplyEnd { session_id, reply_id, finished_reason, error, ticket: _ } => {
                put!(map, session_id, reply_id, finished_reason, error);
            }
            Self::ModelCallStart { reply_id, model_name } => put!(map, reply_id, model_name),
            Self::ModelCallEnd {
                reply_id,
                input_tokens,
                output_tokens,
                cache_input_tokens,
                cache_creation_input_tokens,
                finished_reason,
            } => {
                put!(map, reply_id, input_tokens, output_tokens, cache_input_tokens);
                put!(map, cache_creation_input_tokens, finished_reason);
            }
            Self::TextBlockStart { reply_id, block_id }
            | Self::ThinkingBlockStart { reply_id, block_id }
            | Self::ThinkingBlockEnd { reply_id, block_id }
            | Self::DataBlockEnd { reply_id, block_id } => put!(map, reply_id, block_id),
            Self::TextBlockDelta { reply_id, block_id, delta }
            | Self::ThinkingBlockDelta { reply_id, block_id, delta } => put!(map, reply_id, block_id, delta),
            Self::TextBlockEnd { reply_id, block_id, text } => put!(map, reply_id, block_id, text),
            Self::DataBlockStart { reply_id, block_id, media_type, name } => {
                put!(map, reply_id, block_id, media_type, name);
            }
            Self::DataBlockDelta { reply_id, block_id, media_type, delta } => {
                put!(map, reply_id, block_id, media_type);
                delta.write_into(&mut map)?;
            }
            Self::HintBlock { reply_id, block_id, source, hint } => {
                put!(map, reply_id, block_id, source, hint);
            }
            Self::ToolCallStart { reply_id, tool_call_id, tool_call_name }
            | Self::ToolResultStart { reply_id, tool_call_id, tool_call_name } => {
                put!(map, reply_id, tool_call_id, tool_call_name);
            }
            Self::ToolCallDelta { reply_id, tool_call_id, delta }
            | Self::ToolResultTextDelta { reply_id, tool_call_id, delta } => {
                put!(map, reply_id, tool_call_id, delta);
            }
            Self::ToolCallEnd { reply_id, tool_call_id } => put!(map, reply_id, tool_call_id),
            Self::ToolResultDataDelta { reply_id, tool_call_id, block_id, media_type, delta } => {
                put!(map, reply_id, tool_call_id, block_id, media_type);
                delta.write_into(&mut map)?;
            }
            Self::ToolResultEnd { reply_id, tool_call_id, state } => {
                put!(map, reply_id, tool_call_id, state);
            }
            Self::RequireUserConfirm { reply_id, tool_calls }
            | Self::RequireExternalExecution { reply_id, tool_calls } => put!(map, reply_id, tool_calls),
            Self::UserConfirmResult(UserConfirmResultEvent { reply_id, confirm_results }) => {
                put!(map, reply_id, confirm_results);
            }
            Self::ExternalExecutionResult(ExternalExecutionResultEvent { reply_id, execution_results }) => {
                put!(map, reply_id, execution_results);
            }
            Self::UserInterrupt(UserInterruptEvent { reply_id }) => put!(map, reply_id),
            Self::ExceedMaxIters { reply_id, name } => put!(map, reply_id, name),
            Self::Custom { name, value } => put!(map, name, value),
        }
        Ok(map)
    }

    /// Reads the fields of the kind `tag`.
    fn read<'de, A: MapAccess<'de>>(tag: &str, mut map: A, head: &mut EventHead) -> Result<Self, A::Error> {
        Ok(match tag {
            "REPLY_START" => {
                read!(map, head, Self::ReplyStart { session_id, reply_id, name, role = Role::Assistant })
            }
            "REPLY_END" => read!(
                map,
                head,
                Self::ReplyEnd {
                    session_id, reply_id, finished_reason = ReplyFinishedReason::Completed, error = None
                } + { ticket: Ticket::default() }
            ),
            "MODEL_CALL_START" => read!(map, head, Self::ModelCallStart { reply_id, model_name }),
            "MODEL_CALL_END" => read!(
                map,
                head,
                Self::ModelCallEnd {
                    reply_id,
                    input_tokens,
                    output_tokens,
                    cache_input_tokens = 0,
                    cache_creation_input_tokens = 0,
                    finished_reason = FinishedReason::Completed,
                }
            ),
            "TEXT_BLOCK_START" => read!(map, head, Self::TextBlockStart { reply_id, block_id }),
            "TEXT_BLOCK_DELTA" => read!(map, head, Self::TextBlockDelta { reply_id, block_id, delta }),
            "TEXT_BLOCK_END" => read!(map, head, Self::TextBlockEnd { reply_id, block_id, text = None }),
            "THINKING_BLOCK_START" => read!(map, head, Self::ThinkingBlockStart { reply_id, block_id }),
            "THINKING_BLOCK_DELTA" => {
                read!(map, head, Self::ThinkingBlockDelta { reply_id, block_id, delta })
            }
            "THINKING_BLOCK_END" => read!(map, head, Self::ThinkingBlockEnd { reply_id, block_id }),
            "DATA_BLOCK_START" => {
                read!(map, head, Self::DataBlockStart { reply_id, block_id, media_type, name = None })
            }
            "DATA_BLOCK_DELTA" => read!(
                map,
                head,
                Self::DataBlockDelta { reply_id, block_id, media_type }
                    + { delta: DataDelta::take_from(&mut head.extra)? }
            ),
            "DATA_BLOCK_END" => read!(map, head, Self::DataBlockEnd { reply_id, block_id }),
            "HINT_BLOCK" => read!(map, head, Self::HintBlock { reply_id, block_id, source = None, hint }),
            "TOOL_CALL_START" => {
                read!(map, head, Self::ToolCallStart { reply_id, tool_call_id, tool_call_name })
            }
            "TOOL_CALL_DELTA" => read!(map, head, Self::ToolCallDelta { reply_id, tool_call_id, delta }),
            "TOOL_CALL_END" => read!(map, head, Self::ToolCallEnd { reply_id, tool_call_id }),
            "TOOL_RESULT_START" => {
                read!(map, head, Self::ToolResultStart { reply_id, tool_call_id, tool_call_name })
            }
            "TOOL_RESULT_TEXT_DELTA" => {
                read!(map, head, Self::ToolResultTextDelta { reply_id, tool_call_id, delta })
            }
            "TOOL_RESULT_DATA_DELTA" => read!(
                map,
                head,
                Self::ToolResultDataDelta { reply_id, tool_call_id, block_id = Id::new(), media_type }
                    + { delta: DataDelta::take_from(&mut head.extra)? }
            ),
            "TOOL_RESULT_END" => read!(map, head, Self::ToolResultEnd { reply_id, tool_call_id, state }),
            "REQUIRE_USER_CONFIRM" => read!(map, head, Self::RequireUserConfirm { reply_id, tool_calls }),
            "REQUIRE_EXTERNAL_EXECUTION" => {
                read!(map, head, Self::RequireExternalExecution { reply_id, tool_calls })
            }
            "USER_CONFIRM_RESULT" => {
                read!(map, head, UserConfirmResultEvent { reply_id, confirm_results }).into()
            }
            "EXTERNAL_EXECUTION_RESULT" => {
                read!(map, head, ExternalExecutionResultEvent { reply_id, execution_results }).into()
            }
            "USER_INTERRUPT" => read!(map, head, UserInterruptEvent { reply_id }).into(),
            "EXCEED_MAX_ITERS" => read!(map, head, Self::ExceedMaxIters { reply_id, name }),
            "CUSTOM" => read!(map, head, Self::Custom { name, value = Fields::new() }),
            other => return Err(A::Error::unknown_variant(other, TYPES)),
        })
    }
}

/// The fields that all events have, and those nobody knows.
#[derive(Default)]
struct EventHead {
    id: Option<Id>,
    created_at: Option<Timestamp>,
    metadata: Fields,
    extra: Fields,
}

impl Head for EventHead {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "id" => self.id = Some(field(map, "id")?),
            "created_at" => self.created_at = Some(field(map, "created_at")?),
            "metadata" => self.metadata = field(map, "metadata")?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl EventHead {
    /// Takes an entry that is not one of the kind's.
    fn keep<'de, A: MapAccess<'de>>(&mut self, key: Key<'de>, map: &mut A) -> Result<(), A::Error> {
        if self.take(key.as_str(), map)? { Ok(()) } else { self.extra.keep(key, map) }
    }
}

impl Serialize for AgentEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, created_at, metadata, kind, extra } = self;
        let mut map = serializer.serialize_map(None)?;
        put!(map, id, created_at, metadata);
        map.serialize_entry("type", kind.event_type())?;
        map = kind.write_into(map)?;
        extra.write_into(&mut map)?;
        map.end()
    }
}

impl FromMap for AgentEvent {
    const WHAT: &'static str = "an event";

    fn from_map<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let mut head = EventHead::default();
        let (tag, rest) = open(map, &mut head)?;
        let kind = EventKind::read(tag.as_str(), rest, &mut head)?;
        let EventHead { id, created_at, metadata, extra } = head;
        Ok(Self {
            id: id.unwrap_or_else(Id::new),
            created_at: created_at.unwrap_or_else(Timestamp::now),
            metadata,
            kind,
            extra,
        })
    }
}

impl<'de> Deserialize<'de> for AgentEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object(deserializer)
    }
}
