//! Where what does not fit in the context is kept.

use std::fmt;

use crate::{
    chain::BoxFuture,
    error::Result,
    id::Id,
    message::{DataBlock, Msg, ToolResultBlock},
};

/// Keeps what does not fit in the context: the rest of cut tool results, messages that were summed up, files that the
/// model cannot read. Returns a path or a URL that the model is told.
///
/// ```
/// use cepa_core::{BoxFuture, DataBlock, Id, Msg, Offloader, Result, ToolResultBlock, serde_json};
///
/// /// Keeps everything in memory, for a test.
/// #[derive(Debug, Default)]
/// struct InMemory(std::sync::Mutex<Vec<String>>);
///
/// impl InMemory {
///     fn keep(&self, text: String) -> BoxFuture<'_, Result<String>> {
///         let mut kept = self.0.lock().unwrap();
///         kept.push(text);
///         let path = format!("memory:{}", kept.len());
///         Box::pin(std::future::ready(Ok(path)))
///     }
/// }
///
/// impl Offloader for InMemory {
///     fn offload_context<'a>(&'a self, _session: &'a Id, messages: &'a [Msg]) -> BoxFuture<'a, Result<String>> {
///         self.keep(serde_json::to_string(messages).unwrap())
///     }
///     fn offload_tool_result<'a>(
///         &'a self,
///         _session: &'a Id,
///         result: &'a ToolResultBlock,
///     ) -> BoxFuture<'a, Result<String>> {
///         self.keep(serde_json::to_string(result).unwrap())
///     }
///     fn offload_data_block<'a>(&'a self, block: &'a DataBlock) -> BoxFuture<'a, Result<Option<String>>> {
///         let path = self.keep(serde_json::to_string(block).unwrap());
///         Box::pin(async { path.await.map(Some) })
///     }
/// }
/// ```
pub trait Offloader: fmt::Debug + Send + Sync + 'static {
    /// Keeps messages that were summed up, and returns where.
    ///
    /// # Errors
    /// They could not be kept: the compression fails.
    fn offload_context<'a>(
        &'a self,
        session_id: &'a Id,
        messages: &'a [Msg],
    ) -> BoxFuture<'a, Result<String>>;

    /// Keeps the rest of a tool result, and returns where.
    ///
    /// # Errors
    /// It could not be kept.
    fn offload_tool_result<'a>(
        &'a self,
        session_id: &'a Id,
        result: &'a ToolResultBlock,
    ) -> BoxFuture<'a, Result<String>>;

    /// Keeps an image or a file, and returns its URL, or `None` if it does not keep such things.
    ///
    /// # Errors
    /// It could not be kept.
    fn offload_data_block<'a>(&'a self, block: &'a DataBlock) -> BoxFuture<'a, Result<Option<String>>>;
}
