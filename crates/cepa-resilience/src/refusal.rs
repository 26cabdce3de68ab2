//! Telling a tool's own failure from a call that a layer has refused.

use cepa_core::{ToolResponse, ToolResultState};

/// In the metadata of a result: the layer that has refused the call. Such a result is no failure of the tool: it is
/// neither tried again nor put in other words.
const REFUSED_BY: &str = "refused_by";

/// The error result of a call that a layer refuses.
pub(crate) fn refuse(layer: &str, text: String) -> ToolResponse {
    ToolResponse::error(text).with_metadata(REFUSED_BY, layer)
}

/// Whether a result says that the tool itself has failed.
pub(crate) fn tool_failed(response: &ToolResponse) -> bool {
    response.state == ToolResultState::Error && !response.metadata.contains_key(REFUSED_BY)
}
