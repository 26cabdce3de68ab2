//! Tools that do what their argument says.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use cepa_core::{
    BoxFuture, Msg, PermissionContext, PermissionDecision, Tool, ToolChunk, ToolCx, ToolError, ToolResponse,
};
use serde_json::{Map, Value, json};

use super::{
    script::{Does, ToolKind},
    world::{World, busy},
};

#[derive(Debug)]
pub(crate) struct Acts {
    pub(crate) kind: ToolKind,
    pub(crate) world: Arc<World>,
}

pub(crate) const KINDS: [ToolKind; 4] =
    [ToolKind::Safe, ToolKind::Serial, ToolKind::Asks, ToolKind::External];

pub(crate) static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| json!({"type": "object", "properties": {"do": {"type": "string"}}, "required": ["do"]}));

const WORDS: [(Does, &str); 8] = [
    (Does::Ok, "ok"),
    (Does::Error, "error"),
    (Does::Stream, "stream"),
    (Does::StreamThenFail, "stream then fail"),
    (Does::Slow, "slow"),
    (Does::Hang, "hang"),
    (Does::DeveloperError, "developer error"),
    (Does::Note, "note"),
];

pub(crate) fn word_of(does: Does) -> &'static str {
    WORDS.iter().find(|(known, _)| *known == does).map_or("ok", |(_, word)| word)
}

pub(crate) fn name_of(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Serial => "serial",
        ToolKind::Asks => "asks",
        ToolKind::External => "external",
        _ => "safe",
    }
}

impl Tool for Acts {
    fn name(&self) -> &str {
        name_of(self.kind)
    }

    fn description(&self) -> &str {
        "Does what it is told."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn is_concurrency_safe(&self) -> bool {
        self.kind != ToolKind::Serial
    }

    fn is_external(&self) -> bool {
        self.kind == ToolKind::External
    }

    fn check_permissions<'a>(
        &'a self,
        _input: &'a Map<String, Value>,
        _context: &'a PermissionContext,
    ) -> BoxFuture<'a, PermissionDecision> {
        let decision = match self.kind {
            ToolKind::Asks => PermissionDecision::passthrough("who knows"),
            _ => PermissionDecision::allow("why not"),
        };
        Box::pin(std::future::ready(decision))
    }

    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        let does = WORDS.iter().find(|(_, word)| input["do"] == *word).map(|(does, _)| *does);
        Box::pin(busy(self.world.clone(), async move {
            match does {
                Some(Does::Error) => return Err(ToolError::new("it broke")),
                Some(Does::DeveloperError) => return Err(ToolError::developer("it was never finished")),
                Some(Does::Stream) => {
                    for piece in ["one ", "two ", "three"] {
                        cx.emit(ToolChunk::text(piece)).await;
                    }
                    return Ok(ToolResponse::streamed());
                }
                Some(Does::StreamThenFail) => {
                    cx.emit(ToolChunk::text("so far ")).await;
                    return Err(ToolError::new("and no further"));
                }
                Some(Does::Slow) => tokio::time::sleep(Duration::from_millis(30)).await,
                Some(Does::Hang) => std::future::pending().await,
                Some(Does::Note) => cx.state()?.context.push(Arc::new(Msg::user("memory", "by the way"))),
                Some(Does::Ok) | None => {}
            }
            Ok(ToolResponse::text("ok"))
        }))
    }
}
