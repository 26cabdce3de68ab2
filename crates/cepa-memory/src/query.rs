//! What a turn asks, as a query.

use cepa_core::Inputs;
#[cfg(any(feature = "mem0", feature = "reme"))]
use cepa_core::Role;

/// The texts of the user's messages. `None` where there are none: an answer to a question of the agent, or nothing new.
#[cfg(any(feature = "mem0", feature = "reme"))]
pub(crate) fn query_text(inputs: &Inputs) -> Option<String> {
    joined(inputs.messages().iter().filter(|msg| msg.role == Role::User).filter_map(|msg| msg.text()))
}

/// The texts of all messages, each with who says it (AgentScope 2.0.11's agentic memory).
#[cfg(feature = "agentic")]
pub(crate) fn named_query_text(inputs: &Inputs) -> Option<String> {
    joined(inputs.messages().iter().filter_map(|msg| msg.text().map(|text| format!("{}: {text}", msg.name))))
}

fn joined(texts: impl Iterator<Item = String>) -> Option<String> {
    let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
