//! What events of Cepa's own crates say beside their message.
//!
//! Their texts of errors and reasons may quote what people and models said. They are for the program's log, on the
//! machine where that was said anyway. Spans, which go elsewhere, have the same as far as the capture lets them.

/// Fields with names and figures, made by the program.
const TOLD: [&str; 30] = [
    "action",
    "agent",
    "at",
    "attempt",
    "collection",
    "deadline",
    "error_type",
    "event",
    "failures",
    "guard",
    "hooks",
    "knowledge_base",
    "limit",
    "media_type",
    "message",
    "model",
    "next",
    "of",
    "onion",
    "open_for",
    "per",
    "purpose",
    "service",
    "task",
    "then",
    "tokens",
    "tool",
    "wait",
    "waited",
    "what",
];

/// Whether a text of an event may stand in a span or on a page. It is up to others what their events say.
pub(crate) fn may_be_told(target: &str, field: &str) -> bool {
    let of = target.split("::").next().unwrap_or_default();
    let is_own = of == "cepa" || of.starts_with("cepa_");
    !is_own || TOLD.contains(&field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_says_is_told_by_others_only() {
        for own in ["cepa", "cepa::agent", "cepa_core::agent::ask", "cepa_tracing"] {
            assert!(!may_be_told(own, "error"), "{own}");
            assert!(may_be_told(own, "message"), "{own}");
            assert!(may_be_told(own, "model"), "{own}");
        }
        for other in ["my_crate", "cepal::x", "reqwest"] {
            assert!(may_be_told(other, "error"), "{other}");
        }
    }
}
