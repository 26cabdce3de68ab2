//! A tool that floods is cut, as the layer is set.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use cepa_core::{
    Agent, BoxFuture, DataBlock, Error, Source, Tool, ToolChunk, ToolCx, ToolError, ToolResponse,
    ToolResultState,
    serde_json::{Map, Value, json},
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_guard::{AtLimit, OutputLimitError, ToolOutputLimit};

/// What the model is told of a tool's output, and the same as it streamed.
async fn output(
    limit: ToolOutputLimit,
    tool: impl cepa_core::IntoShared<dyn Tool>,
) -> (String, ToolResultState) {
    let tool = tool.into_shared();
    let model = ScriptedModel::new([Answer::new().tool_call(tool.name(), json!({})), "Done.".into()]);
    let mut agent = Agent::builder("Friday").model(model).tool(tool).middleware(limit).build().unwrap();
    let log = EventLog::of(agent.reply("Go")).await;
    let mut streamed = String::new();
    for event in log.events() {
        if let cepa_core::EventKind::ToolResultTextDelta { delta, .. } = &event.kind {
            streamed.push_str(delta);
        }
    }
    let state = agent.state().unwrap();
    let result = state.context[1].tool_results().next().unwrap();
    assert_eq!(result.output.text().replace("\n\n[", "\n["), streamed.replace("\n\n[", "\n["));
    (streamed, result.state)
}

fn bytes(bytes: usize) -> ToolOutputLimit {
    ToolOutputLimit::builder().max_bytes(bytes).build().unwrap()
}

/// Writes for ever, and counts.
#[derive(Debug, Default)]
struct Flood(Arc<Mutex<usize>>);

impl Tool for Flood {
    fn name(&self) -> &str {
        "flood"
    }
    fn description(&self) -> &str {
        "Writes for ever."
    }
    fn input_schema(&self) -> &Value {
        static SCHEMA: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({"type": "object"}));
        &SCHEMA
    }
    fn is_read_only(&self) -> bool {
        true
    }
    fn call(
        self: Arc<Self>,
        _input: Map<String, Value>,
        cx: ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, ToolError>> {
        Box::pin(async move {
            loop {
                *self.0.lock().unwrap() += 1;
                cx.emit(ToolChunk::text("0123456789")).await;
            }
        })
    }
}

#[tokio::test]
async fn a_tool_that_never_ends_is_stopped() {
    let flood = Flood::default();
    let chunks = flood.0.clone();
    let (text, state) = output(bytes(25), flood).await;
    assert_eq!(
        text,
        "0123456789012345678901234\n[The output was cut here at 25 bytes; the tool was stopped.]"
    );
    assert_eq!(state, ToolResultState::Success);
    assert!(*chunks.lock().unwrap() <= 4);
}

#[tokio::test]
async fn what_fits_is_not_touched() {
    for size in [10, 11, 1000] {
        let tool = ScriptedTool::new("say", [ToolAnswer::new().text("01234").text("56789")]);
        assert_eq!(output(bytes(size), tool).await.0, "0123456789");
    }
    let two = ToolOutputLimit::builder().max_lines(2).max_tokens(100).build().unwrap();
    let tool = ScriptedTool::new("say", [ToolAnswer::new().text("a\n").text("b\n")]);
    assert_eq!(output(two, tool).await.0, "a\nb\n");
}

#[tokio::test]
async fn characters_stay_whole_across_pieces() {
    // A family is one character of 18 bytes, an accent belongs to its letter.
    let family = "👨\u{200d}👩\u{200d}👧";
    for text in [format!("ab{family}cd"), "abe\u{301}cd".to_owned(), "ab谢谢".to_owned()] {
        for limit in 1..text.len() {
            let pieces = text.chars().fold(ToolAnswer::new(), |answer, piece| answer.text(piece));
            let (shown, _) = output(bytes(limit), ScriptedTool::new("say", [pieces])).await;
            let (shown, _) = shown.split_once("\n[").unwrap();
            assert!(text.starts_with(shown) && shown.len() <= limit, "{shown:?} of {text:?} at {limit}");
            let rest = &text[shown.len()..];
            let cut = rest.starts_with(['\u{200d}', '\u{301}']) || shown.ends_with('\u{200d}');
            assert!(!cut, "{shown:?} and {rest:?} are parts of one character");
        }
    }
}

#[tokio::test]
async fn lines_and_tokens_count_over_pieces() {
    let pieces =
        || ["one\ntw", "o\n", "three", "\nfour"].into_iter().fold(ToolAnswer::new(), ToolAnswer::text);
    let lines = ToolOutputLimit::builder().max_lines(3).build().unwrap();
    let (text, _) = output(lines, ScriptedTool::new("say", [pieces()])).await;
    assert_eq!(text, "one\ntwo\nthree\n\n[The output was cut here at 3 lines; the tool was stopped.]");
    let tokens = ToolOutputLimit::builder().max_tokens(1).build().unwrap();
    let (text, _) = output(tokens, ScriptedTool::new("say", [pieces()])).await;
    assert_eq!(text, "one\n\n[The output was cut here at 1 token; the tool was stopped.]");
}

#[tokio::test]
async fn a_tool_whose_work_must_be_done_runs_to_its_end() {
    let limit = ToolOutputLimit::builder().max_bytes(4).at_limit(AtLimit::ReadToEnd).build().unwrap();
    let tool =
        ScriptedTool::new("say", [ToolAnswer::new().text("01234").text("5").fails("broken at the end")]);
    let (text, state) = output(limit, tool).await;
    assert_eq!(text, "0123\n[The output was cut here at 4 bytes; the rest is not shown.]");
    assert_eq!(state, ToolResultState::Error);
}

#[tokio::test]
async fn the_whole_is_kept_elsewhere_and_the_model_is_told_where() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = kept.clone();
    let limit = ToolOutputLimit::builder().max_bytes(4).keep_at_most(8).keep_full(move |full| {
        keep.lock().unwrap().push((full.tool_name.to_string(), full.text, full.is_cut));
        async { Ok("/tmp/full.txt".to_owned()) }
    });
    let limit = limit.build().unwrap();
    for (pieces, whole, is_cut) in
        [(vec!["0123", "45"], "012345", false), (vec!["0123", "45678", "never"], "01234567", true)]
    {
        let answer = pieces.into_iter().fold(ToolAnswer::new(), ToolAnswer::text);
        let answer = if is_cut { answer.hangs() } else { answer };
        let (text, _) = output(limit.clone(), ScriptedTool::new("say", [answer])).await;
        assert_eq!(text, "0123\n[The output was cut here at 4 bytes; all of it is at /tmp/full.txt.]");
        assert_eq!(kept.lock().unwrap().pop().unwrap(), ("say".to_owned(), whole.to_owned(), is_cut));
    }
    // Nothing was cut: nothing is kept.
    output(limit, ScriptedTool::new("say", ["0123"])).await;
    assert!(kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_keeper_that_fails_does_not_fail_the_tool() {
    let logged = Logged::warnings("cepa_guard");
    let limit =
        ToolOutputLimit::builder().max_bytes(4).keep_full(|_| async { Err(Error::other("disk full")) });
    let (text, state) = output(limit.build().unwrap(), ScriptedTool::new("say", ["012345"])).await;
    assert_eq!(text, "0123\n[The output was cut here at 4 bytes; the rest could not be kept.]");
    assert_eq!(state, ToolResultState::Success);
    assert_eq!(logged.take().len(), 1);
}

#[tokio::test]
async fn data_that_does_not_fit_is_left_out() {
    let data = ToolChunk::data(DataBlock::new(Source::base64("AAAAAAAA", "image/png")));
    let tool = ScriptedTool::new("say", [ToolAnswer::new().text("ab").chunk(data).text("cd")]);
    let (text, _) = output(bytes(9), tool).await;
    assert_eq!(text, "ab\n[The output was cut here at 9 bytes; the tool was stopped.]");
}

#[test]
fn a_limit_that_cannot_be_says_why() {
    assert_eq!(ToolOutputLimit::builder().build().unwrap_err(), OutputLimitError::NoLimit);
    let zero = ToolOutputLimit::builder().max_lines(0).build().unwrap_err();
    assert_eq!(zero.to_string(), "`max_lines` is 0, but must be at least 1");
}
