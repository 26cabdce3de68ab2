//! What must hold whatever happens: over generated scripts, ended after any event by dropping or by an interrupt.

use std::time::Duration;

use cepa_core::{
    Agent, CancelToken, ConfirmResult, ErrorType, Inputs, ModelError, ReactConfig, UserConfirmResultEvent,
    on_acting, on_model_call,
    testing::{Answer, EventLog, ScriptedModel, ScriptedTool, ToolAnswer},
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::support::{builder, check_paired, saved, within};

/// One answer of the model.
#[derive(Clone, Debug)]
struct Round {
    says: Option<&'static str>,
    /// Id, tool and arguments.
    calls: Vec<(&'static str, &'static str, &'static str)>,
    ends: Ends,
}

#[derive(Clone, Copy, Debug)]
enum Ends {
    Well,
    Fails,
    Hangs,
}

fn round() -> impl Strategy<Value = Round> {
    let call = (
        select(&["a", "b", "c", ""][..]),
        select(&["fine", "alone", "fails", "breaks", "asks", "hangs", "unknown"][..]),
        select(&["{}", r#"{"n":1}"#, r#"{"n":"#, "[]", "", "not JSON", r#"{"n":NaN}"#][..]),
    );
    let ends = prop_oneof![8 => Just(Ends::Well), 1 => Just(Ends::Fails), 1 => Just(Ends::Hangs)];
    let says = select(&[None, Some("Words."), Some("")][..]);
    (says, vec(call, 0..4), ends).prop_map(|(says, calls, ends)| Round { says, calls, ends })
}

/// What the user does with one reply.
#[derive(Clone, Copy, Debug)]
enum Does {
    ReadsOn,
    /// Goes away after so many events.
    Drops(usize),
    /// Interrupts after so many events.
    Interrupts(usize),
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        Just(Does::ReadsOn),
        (0..20_usize).prop_map(Does::Drops),
        (0..20_usize).prop_map(Does::Interrupts),
    ]
}

fn answer(round: &Round) -> Answer {
    let said = round.says.into_iter().fold(Answer::new(), Answer::text);
    let called =
        round.calls.iter().fold(said, |answer, (id, name, input)| answer.raw_tool_call(*id, *name, *input));
    match round.ends {
        Ends::Well => called,
        Ends::Fails => called.fails(ModelError::new(ErrorType::Upstream, "overloaded")),
        Ends::Hangs => called.hangs(),
    }
}

fn agent(model: &ScriptedModel, layered: bool) -> Agent {
    let mut react = ReactConfig::default();
    react.max_iters = 4;
    let slow = |text: &'static str| {
        move |_: &_| ToolAnswer::new().text(text).delay(Duration::from_secs(1)).text("!")
    };
    let mut builder = builder(model)
        .react_config(react)
        .tool(ScriptedTool::answering("fine", slow("fine")))
        .tool(ScriptedTool::answering("alone", slow("alone")).one_at_a_time())
        .tool(ScriptedTool::answering("fails", |_| ToolAnswer::new().text("half").fails("no")))
        .tool(ScriptedTool::answering("breaks", |_| ToolAnswer::new().fails_for_developer("broken")))
        .tool(ScriptedTool::answering("hangs", |_| ToolAnswer::new().text("half").hangs()))
        .tool(ScriptedTool::echo("asks").asks());
    if layered {
        builder = builder
            .middleware(on_model_call(
                |cx, request, next| async move { next.stream(request).forward(&cx).await },
            ))
            .middleware(on_acting(|cx, input, next| async move { next.stream(input).forward(&cx).await }));
    }
    builder.build().unwrap()
}

/// The next input: an answer where one is waited for.
fn input(agent: &Agent, confirms: bool) -> Inputs {
    let Some(waiting) = agent.waiting_for() else { return "Go on".into() };
    let answer = if confirms { ConfirmResult::confirm } else { ConfirmResult::reject };
    UserConfirmResultEvent::new(waiting.reply_id, waiting.confirmations.into_iter().map(answer)).into()
}

/// Has one reply, and ends it as the user does. Everything is over within the time limit: what hangs is dropped.
async fn reply(agent: &mut Agent, inputs: Inputs, does: Does) {
    let token = CancelToken::new();
    let mut stream = agent.reply(inputs).cancel_on(token.clone()).stream();
    let reads = match does {
        Does::ReadsOn => usize::MAX,
        Does::Drops(events) | Does::Interrupts(events) => events,
    };
    for _ in 0..reads {
        match tokio::time::timeout(Duration::from_secs(60), stream.next()).await {
            Ok(Some(_)) => {}
            Ok(None) => break,
            // The model or a tool hangs.
            Err(_) => return,
        }
    }
    if matches!(does, Does::Interrupts(_)) {
        token.cancel();
        // What is interrupted ends, whatever hangs.
        within(EventLog::of_stream(stream)).await;
    }
}

async fn run(rounds: &[Round], users: &[(Does, bool)], layered: bool) -> Result<(), TestCaseError> {
    let last = [Answer::new().text("At last."), Answer::new().text("At last.")];
    let model = ScriptedModel::new(rounds.iter().map(answer).chain(last));
    let mut agent = agent(&model, layered);
    for (does, confirms) in users {
        let inputs = input(&agent, *confirms);
        reply(&mut agent, inputs, *does).await;
        // The state is whole, in this process and in another one.
        let state = saved(&agent);
        agent = agent.definition().agent_with(crate::support::read(&state));
        prop_assert_eq!(saved(&agent), state);
    }
    for (number, request) in model.requests().iter().enumerate() {
        prop_assert_eq!(check_paired(request), Ok(()), "request {}", number);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every request is one that servers take: each call has exactly one result right after it, and arguments that parse.
    #[test]
    fn every_request_is_paired_whatever_happened_before(
        rounds in vec(round(), 1..7),
        users in vec((does(), any::<bool>()), 1..6),
        layered in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(run(&rounds, &users, layered))?;
    }
}
