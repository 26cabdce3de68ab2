use cepa_core::{
    Agent, AgentBuilder, ChatChunk, ErrorType, ModelError, ToolChunk,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_guard::{Action, PiiGuard};
use proptest::{prelude::*, sample::Index};

use crate::support::{Left, PLANTED, talk};

fn guard(action: Action) -> PiiGuard {
    PiiGuard::builder().hash_key([7; 32]).detect_all(action).build().unwrap()
}

fn behind(guard: PiiGuard) -> AgentBuilder {
    Agent::builder("Friday").middleware(guard)
}

fn borders(text: &str) -> Vec<usize> {
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect()
}

/// `text` in pieces that end at these places.
fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut at = vec![0];
    at.extend(cuts);
    at.push(text.len());
    at.sort_unstable();
    at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

/// A reply in which the value is everywhere: in the input, thinking, text, arguments, a result with metadata, a tool's
/// failure, and in the answer.
async fn everywhere(guard: PiiGuard, value: &str, cuts: impl Fn(&str) -> Vec<usize>) -> Left {
    let said = format!("it is {value} they say");
    let arguments = json!({"to": said, "list": [value], "deep": {"text": format!("<{value}>")}}).to_string();
    let escaped = arguments.replace('@', r"\u0040").replace('4', r"\u0034");
    let mut first = Answer::new();
    for piece in pieces(&said, &cuts(&said)) {
        first = first.thinking(piece);
    }
    for piece in pieces(&said, &cuts(&said)) {
        first = first.text(piece);
    }
    for (id, name, input) in
        [("c1", "look", &arguments), ("c2", "look", &escaped), ("c3", "fail", &arguments)]
    {
        for piece in pieces(input, &cuts(input)) {
            first = first.chunk(ChatChunk::tool_call(id, name, piece));
        }
    }
    let last = Answer::new().texts(pieces(&said, &cuts(&said)));
    let model = ScriptedModel::new([first, last]);
    let mut results = Vec::new();
    for _ in 0..2 {
        let mut result = ToolAnswer::new();
        for piece in pieces(&said, &cuts(&said)) {
            result = result.chunk(ToolChunk::text(piece).with_metadata("note", value));
        }
        results.push(result.metadata("found", json!({"by": [value]})));
    }
    let look = ScriptedTool::new("look", results);
    let fail = ScriptedTool::new("fail", [ToolAnswer::new().text(&said[..9]).fails(said.clone())]);
    let builder = behind(guard).tool(look.clone()).tool(fail);
    let (mut left, _agent) = talk(builder, &model, &[&said]).await;
    assert_eq!(model.remaining(), 0, "{left:?}");
    // What tools get is outside as well.
    let calls = look.calls().iter().map(crate::support::plain).collect::<Vec<_>>().join("\n");
    left.places.push(("a tool's arguments", calls));
    left
}

#[tokio::test]
async fn each_value_at_each_border() {
    for value in PLANTED {
        for cut in borders(value) {
            let left = everywhere(guard(Action::Redact), value, |text| {
                text.match_indices(value).map(|(at, _)| at + cut).collect()
            });
            left.await.holds_none_of(&[value]);
        }
    }
}

#[tokio::test]
async fn a_short_value_at_each_pair_of_borders() {
    let value = "bo@ex.org";
    for a in borders(value) {
        for b in borders(value).into_iter().filter(|&b| b > a) {
            let left = everywhere(guard(Action::Redact), value, |text| {
                text.match_indices(value).flat_map(|(at, _)| [at + a, at + b]).collect()
            });
            left.await.holds_none_of(&[value]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_and_any_action(
        value in proptest::sample::select(PLANTED),
        action in proptest::sample::select(vec![Action::Redact, Action::Mask, Action::Hash, Action::Block]),
        cuts in proptest::collection::vec(any::<Index>(), 0..10),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let cut = |text: &str| cuts.iter().map(|cut| *cut.get(&borders(text))).collect::<Vec<_>>();
        if action == Action::Block {
            let said = format!("it is {value} they say");
            let answer = Answer::new().texts(pieces(&said, &cut(&said)));
            let model = ScriptedModel::new([answer]);
            let (left, _) = runtime.block_on(talk(behind(guard(action)), &model, &["Hello"]));
            left.holds_none_of(&[value]);
            prop_assert!(!left.of("is not let through").is_empty());
        } else {
            runtime.block_on(everywhere(guard(action), value, cut)).holds_none_of(&[value]);
        }
    }
}

#[tokio::test]
async fn errors_and_their_logs_are_clean() {
    let value = "bob@example.com";
    let error = || {
        ModelError::new(ErrorType::Upstream, format!("no quota for {value}")).with_source(format!("{value}!"))
    };
    let model = ScriptedModel::new([Answer::new().fails(error()), Answer::new().fails(error())]);
    let (left, _) = talk(behind(guard(Action::Redact)).model_retries(1), &model, &["Hello"]).await;
    left.holds_none_of(&[value]);
    assert_eq!(
        left.of("no quota for [REDACTED:email]").len(),
        3,
        "the log, the event and the error: {left:?}"
    );

    let broken = ToolAnswer::new().fails_for_developer(format!("no such row: {value}"));
    let model = ScriptedModel::new([Answer::new().tool_call("look", json!({}))]);
    let builder = behind(guard(Action::Redact)).tool(ScriptedTool::new("look", [broken]));
    let (left, _) = talk(builder, &model, &["Hello"]).await;
    left.holds_none_of(&[value]);
    assert!(!left.of("no such row: [REDACTED:email]").is_empty());
}

#[tokio::test]
async fn a_model_that_fails_half_way_can_be_asked_again() {
    // Nothing of the first attempt has gone out, as it is held back: the second is the answer.
    let error = ModelError::new(ErrorType::Connection, "reset");
    let model =
        ScriptedModel::new([Answer::new().text("bob@exam").fails(error), Answer::new().text("Nobody.")]);
    let (left, agent) = talk(behind(guard(Action::Redact)).model_retries(1), &model, &["Who?"]).await;
    assert_eq!(left.events[0].text(), "Nobody.");
    assert_eq!(agent.state().unwrap().context[1].text().as_deref(), Some("Nobody."));
}

#[tokio::test]
async fn an_answer_that_does_not_stream_is_clean_too() {
    let model = ScriptedModel::new(["Ask bob@example.com."]).without_streaming();
    let (left, _) = talk(behind(guard(Action::Redact)), &model, &["Who?"]).await;
    left.holds_none_of(&["bob@example.com"]);
    assert_eq!(left.events[0].text(), "Ask [REDACTED:email].");
}
