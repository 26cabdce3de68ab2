//! Structured output.

use crate::support::{case, refusal};

#[test]
fn structured__user_tool_with_the_same_name() {
    let refusal = refusal(case("structured/user_tool_with_the_same_name"));
    assert!(refusal.contains("two tools are named `GenerateStructuredOutput`"), "{refusal}");
    // Both are named: whose they are, and what to do.
    assert!(refusal.contains("the agent itself") && refusal.contains("one of the agent;"), "{refusal}");
    assert!(refusal.contains("rename one"), "{refusal}");
}
