//! However replies end under all layers, the state stays valid and what is shared is given back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{
    Agent, AgentState, CancelToken, ConfirmResult, ContentBlock, Error, ErrorType, Hook, Middleware,
    ModelError, Next, Result, Role, UserConfirmResultEvent, on_acting, on_model_call,
    serde_json::json,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_resilience::{
    AtReplyLimit, CircuitBreaker, ConcurrencyLimit, ModelFallback, ModelRetry, RateLimit, Timeout,
};
use proptest::prelude::*;
use tokio::time::Instant;

use super::support::{SECOND, builder, within};

/// What a model does.
#[derive(Clone, Copy, Debug)]
enum Does {
    Answers,
    CallsTool,
    CallsTwo,
    Fails,
    FailsHalfWay,
    Hangs,
    HangsHalfWay,
    HangsInACall,
    Drips,
}

#[derive(Clone, Copy, Debug)]
enum ToolDoes {
    Answers,
    Fails,
    FailsForDeveloper,
    Hangs,
    HangsHalfWay,
}

/// What a layer beside ours does, each second time.
#[derive(Clone, Copy, Debug)]
enum LayerDoes {
    Nothing,
    RaisesBefore,
    RaisesAfter,
    HangsBefore,
    HangsAfter,
}

/// A layer around any hook that misbehaves so.
async fn misbehave<H: Hook>(does: Option<LayerDoes>, input: H::Input, next: Next<H>) -> Result<H::Output> {
    let raised = || Err(Error::other("a layer has had enough"));
    match does.unwrap_or(LayerDoes::Nothing) {
        LayerDoes::Nothing => next.run(input).await,
        LayerDoes::RaisesBefore => raised(),
        LayerDoes::RaisesAfter => {
            next.run(input).await?;
            raised()
        }
        LayerDoes::HangsBefore => std::future::pending().await,
        LayerDoes::HangsAfter => {
            let _output = next.run(input).await;
            std::future::pending().await
        }
    }
}

/// Such layers around model calls and around tool calls.
fn beside(does: LayerDoes) -> [Arc<dyn Middleware>; 2] {
    let turn = Arc::new(AtomicUsize::new(0));
    let each_second = move || (turn.fetch_add(1, SeqCst) % 2 == 1).then_some(does);
    let again = each_second.clone();
    [
        Arc::new(on_model_call(move |_cx, input, next| misbehave(each_second(), input, next))),
        Arc::new(on_acting(move |_cx, input, next| misbehave(again(), input, next))),
    ]
}

fn layer_does() -> impl Strategy<Value = LayerDoes> {
    use LayerDoes::*;
    prop::sample::select(vec![Nothing, Nothing, Nothing, RaisesBefore, RaisesAfter, HangsBefore, HangsAfter])
}

/// What the caller does to a reply.
#[derive(Clone, Copy, Debug)]
enum Caller {
    Reads,
    InterruptsAfter(u64),
    DropsAfterSeconds(u64),
    DropsAfterEvents(usize),
}

fn answer(does: Does) -> Answer {
    let error = ModelError::new(ErrorType::Upstream, "no");
    match does {
        Does::Answers => "Done".into(),
        Does::CallsTool => Answer::new().text("I look.").tool_call("look", json!({})),
        Does::CallsTwo => Answer::new().tool_call("look", json!({})).tool_call("ask", json!({})),
        Does::Fails => Answer::new().fails(error),
        Does::FailsHalfWay => Answer::new().text("Half").fails(error),
        Does::Hangs => Answer::new().hangs(),
        Does::HangsHalfWay => Answer::new().text("Half").hangs(),
        Does::HangsInACall => Answer::new().raw_tool_call("1", "look", "{\"a\":").hangs(),
        Does::Drips => (0..8).fold(Answer::new(), |answer, _| answer.text("drip ").delay(SECOND)),
    }
}

fn tool_answer(does: ToolDoes) -> ToolAnswer {
    match does {
        ToolDoes::Answers => "seen".into(),
        ToolDoes::Fails => ToolAnswer::new().text("half").fails("no"),
        ToolDoes::FailsForDeveloper => ToolAnswer::new().fails_for_developer("a bug"),
        ToolDoes::Hangs => ToolAnswer::new().hangs(),
        ToolDoes::HangsHalfWay => ToolAnswer::new().text("half").hangs(),
    }
}

fn does() -> impl Strategy<Value = Does> {
    use Does::*;
    prop::sample::select(vec![
        Answers,
        CallsTool,
        CallsTwo,
        Fails,
        FailsHalfWay,
        Hangs,
        HangsHalfWay,
        HangsInACall,
        Drips,
    ])
}

fn tool_does() -> impl Strategy<Value = ToolDoes> {
    use ToolDoes::*;
    prop::sample::select(vec![Answers, Answers, Fails, FailsForDeveloper, Hangs, HangsHalfWay])
}

fn caller() -> impl Strategy<Value = Caller> {
    prop_oneof![
        3 => Just(Caller::Reads),
        1 => (0_u64..40).prop_map(Caller::InterruptsAfter),
        1 => (0_u64..40).prop_map(Caller::DropsAfterSeconds),
        1 => (0_usize..12).prop_map(Caller::DropsAfterEvents),
    ]
}

/// Each call has at most one result, and exactly one unless somebody is waited for.
fn check_state(state: &AgentState, waits: bool) -> std::result::Result<(), TestCaseError> {
    let blocks =
        || state.context.iter().filter(|msg| msg.role == Role::Assistant).flat_map(|msg| &msg.content);
    for block in blocks() {
        if let ContentBlock::ToolCall(call) = block {
            let is_its = |block: &&ContentBlock| matches!(block, ContentBlock::ToolResult(result) if result.id == call.id);
            let results = blocks().filter(is_its).count();
            prop_assert!(results == 1 || waits && results == 0, "{} has {} results", call.id, results);
        }
    }
    Ok(())
}

async fn reply(agent: &mut Agent, caller: Caller) {
    let inputs: cepa_core::Inputs = match agent.waiting_for() {
        Some(waiting) => {
            let yes = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
            UserConfirmResultEvent::new(waiting.reply_id, yes).into()
        }
        None => "Go".into(),
    };
    let token = CancelToken::new();
    let call = agent.reply(inputs).cancel_on(token.clone());
    match caller {
        Caller::Reads => _ = within(call).await,
        Caller::InterruptsAfter(seconds) => {
            let start = Instant::now();
            tokio::spawn(async move {
                tokio::time::sleep(seconds as u32 * SECOND).await;
                token.cancel();
            });
            let _ = within(call).await;
            // Nothing of these layers keeps an interrupted reply longer than layers may.
            assert!(start.elapsed() <= (seconds as u32 + 3) * SECOND, "{:?}", start.elapsed());
        }
        Caller::DropsAfterSeconds(seconds) => {
            let _ = tokio::time::timeout(seconds as u32 * SECOND, async { call.await }).await;
        }
        Caller::DropsAfterEvents(events) => {
            let mut stream = call.stream();
            for _ in 0..events {
                if within(stream.next()).await.is_none() {
                    break;
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn state_and_limits_stay_whole(
        first in prop::collection::vec(does(), 1..12),
        second in prop::collection::vec(does(), 1..6),
        tools in prop::collection::vec(tool_does(), 1..8),
        callers in prop::collection::vec(caller(), 1..6),
        errors in any::<bool>(),
        outside in layer_does(),
        inside in layer_does(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async move {
            let model = ScriptedModel::new(first.into_iter().map(answer)).named("first");
            let other = ScriptedModel::new(second.into_iter().map(answer)).named("second");
            let tool = |name| {
                let (tools, next) = (tools.clone(), AtomicUsize::new(0));
                ScriptedTool::answering(name, move |_| {
                    let at = next.fetch_add(1, SeqCst);
                    tool_answer(tools[at % tools.len()])
                })
            };
            let places = ConcurrencyLimit::builder().model_calls(1).tool_calls(2).build().unwrap();
            let rate = RateLimit::builder().requests_per_minute(6).tokens_per_minute(50_000).build().unwrap();
            let breaker = CircuitBreaker::builder().consecutive_failures(3).open_for(10 * SECOND).all_tools().build().unwrap();
            let limits = Timeout::builder()
                .reply(60 * SECOND)
                .at_reply_limit(if errors { AtReplyLimit::Error } else { AtReplyLimit::End })
                .reasoning(40 * SECOND)
                .first_item(5 * SECOND)
                .idle(5 * SECOND)
                .tool_calls(5 * SECOND);
            let mut build = builder(&model).tool(tool("look")).tool(tool("ask").asks());
            for layer in beside(outside) {
                build = build.middleware(layer);
            }
            let mut build = build
                .middleware(ModelFallback::builder().model(other).build().unwrap())
                .middleware(ModelRetry::default())
                .middleware(breaker.clone())
                .middleware(rate.clone())
                .middleware(places.clone())
                .middleware(limits.build().unwrap());
            for layer in beside(inside) {
                build = build.middleware(layer);
            }
            let mut agent = build.build().unwrap();
            for caller in callers {
                let start = Instant::now();
                reply(&mut agent, caller).await;
                prop_assert!(start.elapsed() <= 62 * SECOND, "{:?} for one reply", start.elapsed());
                let waits = agent.waiting_for().is_some();
                check_state(&agent.state().unwrap(), waits)?;
                prop_assert_eq!((places.free_model_calls(), places.free_tool_calls()), (Some(1), Some(2)));
                prop_assert!(rate.used().0 <= 6);
            }
            // Whatever they have been through, the shared ones let others through.
            tokio::time::sleep(120 * SECOND).await;
            let well = ScriptedModel::new(["Hello"]).named("first");
            let mut other = builder(&well).middleware(breaker).middleware(rate).middleware(places).build().unwrap();
            let start = Instant::now();
            prop_assert!(within(other.reply("Hi")).await.is_ok());
            prop_assert_eq!(start.elapsed(), Duration::ZERO);
            Ok(())
        })?;
    }
}
