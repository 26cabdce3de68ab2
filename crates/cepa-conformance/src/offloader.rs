//! A fake place for what does not fit in the context.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use cepa_core::{BoxFuture, DataBlock, Id, Msg, Offloader, Result, ToolResultBlock};
use serde_json::json;

use crate::{log::Log, models::json_of};

/// Keeps nothing, and answers with numbered paths.
#[derive(Debug)]
pub(crate) struct FakeOffloader {
    log: Log,
    kept: AtomicUsize,
}

impl FakeOffloader {
    pub(crate) fn new(log: &Log) -> Arc<Self> {
        Arc::new(Self { log: log.clone(), kept: AtomicUsize::new(0) })
    }

    fn path(&self) -> String {
        format!("/off/{}.txt", self.kept.fetch_add(1, Relaxed) + 1)
    }
}

impl Offloader for FakeOffloader {
    fn offload_context<'a>(&'a self, _session: &'a Id, messages: &'a [Msg]) -> BoxFuture<'a, Result<String>> {
        self.log.backend(json!({"backend": "offloader", "op": "context", "messages": json_of(&messages)}));
        Box::pin(std::future::ready(Ok(self.path())))
    }

    fn offload_tool_result<'a>(
        &'a self,
        _session: &'a Id,
        result: &'a ToolResultBlock,
    ) -> BoxFuture<'a, Result<String>> {
        self.log.backend(json!({"backend": "offloader", "op": "tool_result", "result": json_of(result)}));
        Box::pin(std::future::ready(Ok(self.path())))
    }

    fn offload_data_block<'a>(&'a self, block: &'a DataBlock) -> BoxFuture<'a, Result<Option<String>>> {
        self.log.backend(json!({"backend": "offloader", "op": "data_block", "block": json_of(block)}));
        Box::pin(std::future::ready(Ok(Some(self.path()))))
    }
}
