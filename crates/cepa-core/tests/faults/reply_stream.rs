//! What the reader of a reply sees.

use cepa_core::{
    ChatUsage, ErrorType, HintBlock, ModelError, Msg, ReasoningInput, on_model_call, on_reasoning,
    serde_json::json,
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool},
};

use crate::support::{assert_paired, builder, log, said};

#[tokio::test(start_paused = true)]
async fn r23_thinking_alone_is_no_answer() {
    let model = ScriptedModel::new([Answer::new().thinking("Let me see."), Answer::new().text("Seven.")]);
    let mut agent = builder(&model).build().unwrap();
    let message = log(agent.reply("3 + 4?")).await.into_outcome().unwrap();
    assert_eq!(message.text().as_deref(), Some("Seven."));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn r29_a_block_ends_before_the_next_one_starts() {
    let model = ScriptedModel::new([Answer::new().thinking("Hm.").text("Seven.")]);
    let mut agent = builder(&model).build().unwrap();
    log(agent.reply("3 + 4?")).await.assert([
        "REPLY_START",
        "MODEL_CALL_START",
        "THINKING_BLOCK_START",
        "THINKING_BLOCK_DELTA Hm.",
        "THINKING_BLOCK_END",
        "TEXT_BLOCK_START",
        "TEXT_BLOCK_DELTA Seven.",
        "TEXT_BLOCK_END",
        "MODEL_CALL_END",
        "REPLY_END",
    ]);
}

#[tokio::test(start_paused = true)]
async fn r31_tokens_of_the_prompt_cache_are_kept() {
    let cached = on_model_call(|_cx, request, next| async move {
        let mut response: cepa_core::ChatResponse = next.run(request).await?;
        let mut usage = ChatUsage::new(10, 5, 0.0);
        (usage.cache_input_tokens, usage.cache_creation_input_tokens) = (7, 3);
        response.usage = Some(usage);
        Ok(response)
    });
    let mut agent = builder(&ScriptedModel::new(["Seven."])).middleware(cached).build().unwrap();
    let log = log(agent.reply("3 + 4?")).await;
    log.only(["MODEL_CALL_END"]).assert([
        "MODEL_CALL_END input_tokens=10 output_tokens=5 cache_input_tokens=7 cache_creation_input_tokens=3",
    ]);
    let usage = log.into_outcome().unwrap().usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (10, 5));
    assert_eq!((usage.cache_input_tokens, usage.cache_creation_input_tokens), (7, 3));
}

#[tokio::test(start_paused = true)]
async fn r63_a_memory_between_rounds_is_no_reason_for_another_round() {
    let remember = on_reasoning(|cx, input: ReasoningInput, next| async move {
        let memory = HintBlock::new("The user likes short answers.");
        cx.state()?.context.push(Msg::assistant("memory", memory).into());
        next.run(input).await
    });
    let model = ScriptedModel::new([Answer::new().tool_call("add", json!({})), Answer::new().text("Seven.")]);
    let add = ScriptedTool::new("add", ["7"]);
    let mut agent = builder(&model).tool(add.clone()).middleware(remember).build().unwrap();
    let message = log(agent.reply("3 + 4?")).await.into_outcome().unwrap();
    assert_eq!(message.text().as_deref(), Some("Seven."));
    // One call before the result and one after it.
    assert_eq!((model.requests().len(), add.calls().len()), (2, 1));
    assert_paired(&model);
}

#[tokio::test(start_paused = true)]
async fn f37_a_model_error_ends_what_is_open_and_the_reply() {
    let overloaded = || ModelError::new(ErrorType::Upstream, "overloaded");
    for (answer, open) in [
        (Answer::new().text("Sev").fails(overloaded()), "TEXT_BLOCK"),
        (Answer::new().thinking("Hm").fails(overloaded()), "THINKING_BLOCK"),
    ] {
        let model = ScriptedModel::new([answer, Answer::new().text("Seven.")]);
        let mut agent = builder(&model).build().unwrap();
        let failed = log(agent.reply("3 + 4?")).await;
        failed.assert([
            "REPLY_START".to_owned(),
            "MODEL_CALL_START".to_owned(),
            format!("{open}_START"),
            format!("{open}_DELTA"),
            format!("{open}_END"),
            "REPLY_END error error.type=upstream error.message=overloaded".to_owned(),
        ]);
        // The agent is ready for the next message.
        assert_eq!(log(agent.reply("Again")).await.text(), "Seven.");
        assert_eq!(said(&agent), ["3 + 4?", "Again", "Seven."]);
    }
}

#[tokio::test(start_paused = true)]
async fn f38_an_answer_in_one_piece_is_shown_like_a_streamed_one() {
    let answer = || Answer::new().thinking("Hm.").text("Seven.").raw_tool_call("c1", "add", "{}");
    let mut logs = Vec::new();
    for streams in [true, false] {
        let model = ScriptedModel::new([answer(), Answer::new().text("Done.")]);
        let model = if streams { model } else { model.without_streaming() };
        let mut agent = builder(&model).tool(ScriptedTool::new("add", ["7"])).build().unwrap();
        let log = log(agent.reply("3 + 4?")).await;
        log.assert(["...", "THINKING_BLOCK_DELTA Hm.", "...", "TEXT_BLOCK_DELTA Seven.", "...", "REPLY_END"]);
        logs.push(kinds(&log));
    }
    assert_eq!(logs[0], logs[1]);
}

/// The kinds of events. Blocks that come in one piece are open side by side, so their order is not the same.
fn kinds(log: &EventLog) -> Vec<&'static str> {
    let mut kinds: Vec<_> = log.events().iter().map(|event| event.event_type()).collect();
    kinds.sort_unstable();
    kinds
}
