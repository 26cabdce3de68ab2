//! How often the system prompt is built.

use cepa_conformance::CallRecord;

use crate::support::{PLAIN, case, run};

/// The layers of each step, run by run: `A B C`.
fn order(call: &CallRecord, hook: &str, at: &str) -> String {
    let trace = call.trace();
    let steps = trace.iter().filter_map(|step| {
        let mut words = step.splitn(3, ' ');
        let (layer, of, when) = (words.next()?, words.next()?, words.next()?);
        (of == hook && when.starts_with(at)).then_some(layer)
    });
    steps.collect::<Vec<_>>().join(" ")
}

#[test]
fn hooks__order_on_system_prompt() {
    let recording = run(case("hooks/order_on_system_prompt"));
    let reply = recording.call(0);
    let expected = [
        "A on_system_prompt enter",
        "B on_system_prompt enter",
        "model main",
        "check f",
        "tool f",
        "A on_system_prompt enter",
        "B on_system_prompt enter",
        "model main",
    ];
    assert_eq!(reply.trace(), expected);
    assert_eq!(reply.text(), "done");
}

#[test]
fn hooks__order_all_hooks() {
    let recording = run(case("hooks/order_all_hooks"));
    let reply = recording.call(0);
    // Two requests, so two prompts; the first layer is the outermost of every other hook.
    assert_eq!(order(reply, "on_system_prompt", "enter"), "A B C A B C");
    let hooks = [
        ("on_reply", 1),
        ("on_reasoning", 2),
        ("on_model_call", 2),
        ("on_compress_context", 2),
        ("on_check_permission", 1),
        ("on_acting", 1),
    ];
    for (hook, times) in hooks {
        assert_eq!(order(reply, hook, "enter"), vec!["A B C"; times].join(" "), "{hook}");
        assert_eq!(order(reply, hook, "exit"), vec!["C B A"; times].join(" "), "{hook}");
    }
    // One round: prompt, compression check, the round, its model call.
    let trace = reply.trace();
    let first = |step: &str| trace.iter().position(|one| one == step).unwrap();
    let steps = [
        "A on_reply enter",
        "A on_system_prompt enter",
        "A on_compress_context enter",
        "A on_reasoning enter",
        "A on_model_call enter",
        "model main",
        "A on_reasoning exit",
        "A on_check_permission enter",
        "check f",
        "A on_acting enter",
        "tool f",
        "A on_reply exit",
    ];
    let places: Vec<_> = steps.iter().map(|step| first(step)).collect();
    assert!(places.is_sorted(), "{trace:?}");
    assert_eq!(reply.event_types().first(), Some(&PLAIN[0]));
    assert_eq!(reply.text(), "done");
}
