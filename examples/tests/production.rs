//! The example of production: every layer meets what it is there for.

use std::{path::Path, process::Command};

#[test]
fn every_layer_does_what_it_is_there_for() {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(Path::parent).unwrap();
    let program = target.join("examples/production").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.is_file(), "build it first: cargo build --examples --all-features");
    let run = Command::new(program).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{text}\n{}", String::from_utf8_lossy(&run.stderr));

    let (play, table) = text.split_once("## What each layer did").unwrap();
    for said in [
        "< Good morning!",
        "< By induction over the rings.",
        "< I may look up one at a time.",
        "< It has 41 pages.",
        "< Once upon a time there was an onion which",
        "< The spare one is here.",
        "< Back again.",
    ] {
        assert!(play.contains(said), "{said}\n{text}");
    }
    for (layer, did) in [
        ("UsageMiddleware", " calls, "),
        ("BackgroundTools", "goes on in the background"),
        ("DynamicContext", "told 3"),
        ("PromptCacheHints", "marked 3"),
        ("ArgumentGuard", "a call was objected to"),
        ("PiiGuard (input)", "taken out"),
        ("PiiGuard  ", "taken out"),
        ("SecretScrub  ", "taken out"),
        ("ReplyBudgetControlMiddleware", "told the model to come to an end"),
        ("ModelRouterMiddleware", "the model of the reply is chosen"),
        ("ContextEditing", "old tool results are left out"),
        ("ModelFallback", "another model is asked"),
        ("ModelRetry", "tries again"),
        ("ToolOutputLimit", "a tool's output was cut"),
        ("ToolRetry", "is tried again"),
        ("AuditLog", "whose chain holds"),
        ("ToolCallLimit", "no tool call is left"),
        ("CircuitBreaker", "circuit closed"),
        ("RateLimit", "requests and"),
        ("Timeout", "model call took too long"),
        ("PathGuard", "a call was objected to"),
    ] {
        let row = table.lines().find(|line| line.starts_with(layer));
        assert!(row.is_some_and(|row| row.contains(did)), "{layer}: {did}\n{text}");
    }
    // The order of the stack is the recommended one, and nothing that was planted went out.
    assert!(!text.contains("belongs"), "{text}");
    assert!(table.contains(" 0 with personal data or secrets in them"), "{text}");
    for planted in ["ann.lee@example.com", "4111 1111 1111 1111", "ghp_0123456789"] {
        let told = play.lines().filter(|line| !line.starts_with("> ")).any(|line| line.contains(planted));
        assert!(!told, "{planted}\n{text}");
    }
}
