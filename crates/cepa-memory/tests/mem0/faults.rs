//! Faults that users of such memories have met. Each test is named after its row in `docs/faults.md`.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{
    BuildError, CancelToken, ConfirmResult, EventKind, Flow, UserConfirmResultEvent, on_reply,
    serde_json::json,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_memory::{
    Mode,
    mem0::{Mem0Middleware, Mem0Server, MemoryScope},
};
use tokio::time::Instant;

use crate::{
    store::Store,
    support::{agent, hints, within},
};

const LONG: Duration = Duration::from_secs(600);

#[tokio::test(start_paused = true)]
async fn r39_no_answer_waits_for_a_write_and_flush_does() {
    let store = Store::default().add_takes(Duration::from_secs(50));
    let memory = Arc::new(Mem0Middleware::builder(store.clone()).user_id("alice").build().unwrap());
    let model = ScriptedModel::new(["Hello."]);
    let mut agent = agent(&model, memory.clone()).build().unwrap();
    let start = Instant::now();
    within(EventLog::of(agent.reply("Hi"))).await.into_outcome().unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(store.adds().is_empty());
    memory.flush(Duration::from_secs(10)).await.unwrap_err();
    memory.flush(LONG).await.unwrap();
    assert_eq!(store.turns(), [("alice".into(), "Hi".into(), "Hello.".into())]);
}

#[tokio::test(start_paused = true)]
async fn r39_a_reply_waits_for_its_write_where_that_is_wanted() {
    let store = Store::default().add_takes(Duration::from_secs(50));
    let memory = Mem0Middleware::builder(store.clone()).user_id("alice").await_write(true).build().unwrap();
    let model = ScriptedModel::new(["Hello."]);
    let start = Instant::now();
    within(agent(&model, memory).build().unwrap().reply("Hi")).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(50));
    assert_eq!(store.turns().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn r40_a_search_that_hangs_holds_the_reply_up_no_longer_than_its_deadline() {
    let warnings = Logged::warnings("cepa_memory");
    let store = Store::default().knows("alice", "Hi").search_takes(Duration::from_secs(30));
    let memory = Mem0Middleware::builder(store).user_id("alice").build().unwrap();
    let model = ScriptedModel::new(["Hello."]);
    let start = Instant::now();
    within(agent(&model, memory).build().unwrap().reply("Hi")).await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert!(hints(&model).is_empty());
    assert_eq!(warnings.lines().len(), 1, "{:?}", warnings.lines());
    assert!(warnings.lines()[0].contains("3s"), "{:?}", warnings.lines());
}

#[tokio::test]
async fn r43_ids_are_in_the_filters_of_a_search_and_at_the_top_of_an_addition() {
    let bodies = Arc::<Mutex<Vec<serde_json::Value>>>::default();
    let keep = bodies.clone();
    let router = axum::Router::new().fallback(move |body: axum::Json<_>| {
        keep.lock().unwrap().push(body.0);
        async { axum::Json(json!({"results": []})) }
    });
    let server = Mem0Server::builder(crate::support::serve(router).await).build().unwrap();
    let memory = Mem0Middleware::builder(server)
        .user_id("alice")
        .agent_id("friday")
        .top_k(3)
        .threshold(0.5)
        .await_write(true)
        .build()
        .unwrap();
    let model = ScriptedModel::new(["Hello."]);
    within(agent(&model, memory).build().unwrap().reply("Hi")).await.unwrap();
    let said = [json!({"role": "user", "content": "Hi"}), json!({"role": "assistant", "content": "Hello."})];
    let filters = json!({"user_id": "alice", "agent_id": "friday"});
    assert_eq!(
        *bodies.lock().unwrap(),
        [
            json!({"query": "Hi", "filters": filters, "top_k": 3, "threshold": 0.5}),
            json!({"messages": said, "user_id": "alice", "agent_id": "friday"}),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn r44_no_tool_takes_an_id_and_two_users_of_one_instance_do_not_meet() {
    let store = Store::default().knows("alice", "secret of Alice").knows("bob", "secret of Bob");
    let memory = Arc::new(Mem0Middleware::builder(store.clone()).scope_from_context().build().unwrap());
    // What a model says of ids is nothing that the tools read.
    let asks = || {
        let call = json!({"keywords": ["secret"], "user_id": "bob", "agent_id": "x"});
        ScriptedModel::new([
            Answer::new().delay(Duration::from_secs(1)).tool_call("search_memory", call),
            Answer::new().text("Done."),
        ])
    };
    let (first, second) = (asks(), asks());
    let (mut one, mut two) =
        (agent(&first, memory.clone()).build().unwrap(), agent(&second, memory.clone()).build().unwrap());
    for tool in one.definition().toolkit().tools() {
        let schema = tool.input_schema().to_string();
        assert!(!schema.contains("user") && !schema.contains("agent"), "{schema}");
    }
    let (a, b) = within(async {
        tokio::join!(
            one.reply("secret?").with(MemoryScope::user("alice")),
            two.reply("secret?").with(MemoryScope::user("bob")),
        )
    })
    .await;
    a.unwrap();
    b.unwrap();
    for (model, own, other) in [(&first, "of Alice", "of Bob"), (&second, "of Bob", "of Alice")] {
        let seen = format!("{:?}", model.requests().last().unwrap().messages);
        assert!(seen.contains(own) && !seen.contains(other), "{seen}");
    }
    memory.flush(LONG).await.unwrap();
    let mut users: Vec<_> = store.turns().into_iter().map(|(user, ..)| user).collect();
    users.sort();
    assert_eq!(users, ["alice", "bob"]);
}

#[tokio::test(start_paused = true)]
async fn r44_a_reply_that_goes_on_is_the_users_who_began_it() {
    for (mode, writes) in [(Mode::Both, 1), (Mode::AgentControl, 0)] {
        let store = Store::default().knows("alice", "PIN of Alice").knows("default", "PIN of another");
        for user in [Some("default"), None] {
            let memory = Mem0Middleware::builder(store.clone()).mode(mode).await_write(true);
            let memory = match user {
                Some(user) => memory.user_id(user),
                None => memory.scope_from_context(),
            };
            let model = ScriptedModel::new([
                Answer::new().tool_call("pay", json!({})),
                Answer::new().tool_call("search_memory", json!({"keywords": ["PIN"]})),
                "Paid.".into(),
            ]);
            let pay = ScriptedTool::new("pay", ["paid"]).asks();
            let mut agent = agent(&model, memory.build().unwrap()).tool(pay).build().unwrap();
            within(agent.reply("Pay the bill").with(MemoryScope::user("alice"))).await.unwrap();
            let waiting = agent.waiting_for().unwrap();
            let answers = waiting.confirmations.into_iter().map(ConfirmResult::confirm);
            // Whoever says yes says nothing of memories.
            within(agent.reply(UserConfirmResultEvent::new(waiting.reply_id, answers))).await.unwrap();
            let seen = format!("{:?}", model.requests().last().unwrap().messages);
            assert!(
                seen.contains("PIN of Alice") && !seen.contains("of another"),
                "{mode:?} {user:?} {seen}"
            );
        }
        let turn = ("alice".to_owned(), "Pay the bill".to_owned(), "Paid.".to_owned());
        assert_eq!(store.turns(), vec![turn; 2 * writes], "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn r45_a_turn_is_kept_as_it_is_where_that_is_wanted() {
    for infer in [true, false] {
        let store = Store::default();
        let memory = Mem0Middleware::builder(store.clone()).user_id("alice").infer(infer).await_write(true);
        let model = ScriptedModel::new(["Hello."]);
        within(agent(&model, memory.build().unwrap()).build().unwrap().reply("Hi")).await.unwrap();
        assert_eq!(store.adds()[0].infer, infer);
    }
}

#[tokio::test(start_paused = true)]
async fn f08_the_tools_that_the_prompt_speaks_of_reach_the_model() {
    for (mode, expected) in [
        (Mode::Both, &["search_memory", "add_memory"][..]),
        (Mode::AgentControl, &["search_memory", "add_memory"]),
        (Mode::StaticControl, &[]),
    ] {
        let memory = Mem0Middleware::builder(Store::default()).user_id("alice").mode(mode).build().unwrap();
        let model = ScriptedModel::new(["Hello."]);
        within(agent(&model, memory).build().unwrap().reply("Hi")).await.unwrap();
        let request = &model.requests()[0];
        let offered: Vec<_> = request.tools.iter().map(|tool| tool.name().to_string()).collect();
        assert_eq!(offered, expected);
        let prompt = request.messages[0].text().unwrap_or_default();
        assert_eq!(prompt.contains("`search_memory`"), mode != Mode::StaticControl, "{prompt}");
    }
    let memory = Mem0Middleware::builder(Store::default()).user_id("alice").build().unwrap();
    let taken = agent(&ScriptedModel::new(["Hello."]), memory).tool(ScriptedTool::echo("add_memory"));
    let error: BuildError = taken.build().unwrap_err();
    assert!(error.to_string().contains("add_memory"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn f18_a_turn_that_waits_for_a_person_is_written_once_with_the_real_answer() {
    let store = Store::default();
    let build = |model: &ScriptedModel| {
        let memory =
            Mem0Middleware::builder(store.clone()).user_id("alice").await_write(true).build().unwrap();
        agent(model, memory).tool(ScriptedTool::new("pay", ["paid"]).asks())
    };
    let model =
        ScriptedModel::new([Answer::new().text("I will pay.").tool_call("pay", json!({})), "Paid.".into()]);
    let mut agent = build(&model).build().unwrap();
    within(agent.reply("Pay the bill")).await.unwrap();
    assert!(store.adds().is_empty());
    // The session is saved meanwhile, and goes on in another agent.
    let state = serde_json::to_string(&*agent.state().unwrap()).unwrap();
    let state: cepa_core::AgentState = serde_json::from_str(&state).unwrap();
    let mut agent = build(&model).state(state).build().unwrap();
    // Neither a message that comes too early nor an answer to another question makes it forget what was asked.
    within(agent.reply("Are you there?")).await.unwrap_err();
    let call = agent.state().unwrap().context.last().unwrap().tool_calls().next().unwrap().clone();
    let reply_id = agent.state().unwrap().reply_id().clone();
    let stale = UserConfirmResultEvent::new("another", [ConfirmResult::confirm(call.clone())]);
    within(agent.reply(stale)).await.unwrap_err();
    let yes = UserConfirmResultEvent::new(reply_id, [ConfirmResult::confirm(call)]);
    within(agent.reply(yes)).await.unwrap();
    assert_eq!(store.turns(), [("alice".into(), "Pay the bill".into(), "Paid.".into())]);
    let asked: Vec<_> = store.searches().into_iter().map(|search| search.query).collect();
    assert_eq!(asked, ["Pay the bill", "Are you there?"]);
}

#[tokio::test(start_paused = true)]
async fn f18_a_turn_is_not_forgotten_when_the_reader_leaves_with_the_question() {
    let store = Store::default();
    let memory = Mem0Middleware::builder(store.clone()).user_id("alice").await_write(true).build().unwrap();
    let model = ScriptedModel::new([Answer::new().tool_call("pay", json!({})), "Paid.".into()]);
    let mut agent = agent(&model, memory).tool(ScriptedTool::new("pay", ["paid"]).asks()).build().unwrap();
    let mut reply = agent.reply("Pay the bill").stream();
    let call = loop {
        let event = within(reply.next()).await.unwrap();
        if let EventKind::RequireUserConfirm { tool_calls, .. } = event.kind {
            break tool_calls[0].clone();
        }
    };
    drop(reply);
    let reply_id = agent.state().unwrap().reply_id().clone();
    let yes = UserConfirmResultEvent::new(reply_id, [ConfirmResult::confirm(call)]);
    within(agent.reply(yes)).await.unwrap();
    assert_eq!(store.turns(), [("alice".into(), "Pay the bill".into(), "Paid.".into())]);
}

#[tokio::test(start_paused = true)]
async fn f18_a_turn_is_remembered_when_the_reader_leaves_at_its_end() {
    let store = Store::default();
    let memory = Arc::new(Mem0Middleware::builder(store.clone()).user_id("alice").build().unwrap());
    let output = Answer::new().tool_call("GenerateStructuredOutput", json!({"city": "Bergen"}));
    let model = ScriptedModel::new(["Hello.".into(), output]);
    let mut agent = agent(&model, memory.clone()).build().unwrap();
    let city = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    for question in ["Hi", "Where?"] {
        let reply = agent.reply(question);
        let mut reply = if question == "Hi" { reply } else { reply.schema(city.clone()) }.stream();
        while !matches!(within(reply.next()).await.unwrap().kind, EventKind::ReplyEnd { .. }) {}
    }
    memory.flush(LONG).await.unwrap();
    assert_eq!(
        store.turns(),
        [
            ("alice".into(), "Hi".into(), "Hello.".into()),
            ("alice".into(), "Where?".into(), json!({"city": "Bergen"}).to_string()),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn f18_an_end_that_a_layer_drops_is_no_end_for_a_reader_who_leaves_later() {
    let store = Store::default();
    let memory = Arc::new(Mem0Middleware::builder(store.clone()).user_id("alice").build().unwrap());
    let model = ScriptedModel::new(["Half.".into(), Answer::new().text("Hel").hangs()]);
    let goes_on = on_reply(|_cx, input, next| async move {
        let mut ends = 0;
        let tap = next.tap(input, move |event| {
            ends += usize::from(matches!(event.kind, EventKind::ReplyEnd { .. }));
            if matches!(event.kind, EventKind::ReplyEnd { .. }) && ends == 1 {
                Flow::Drop
            } else {
                Flow::Keep
            }
        });
        tap.await
    });
    let mut agent = agent(&model, goes_on).middleware(memory.clone()).build().unwrap();
    let mut reply = agent.reply("Hi").stream();
    while !matches!(within(reply.next()).await.unwrap().kind, EventKind::TextBlockDelta { delta, .. } if delta == "Hel")
    {
    }
    drop(reply);
    memory.flush(LONG).await.unwrap();
    assert!(store.adds().is_empty(), "{:?}", store.adds());
}

#[tokio::test(start_paused = true)]
async fn f19_an_interrupted_turn_is_not_written() {
    let store = Store::default();
    let memory = Arc::new(Mem0Middleware::builder(store.clone()).user_id("alice").build().unwrap());
    let model = ScriptedModel::new([Answer::new().text("Hel").hangs()]);
    let token = CancelToken::new();
    let mut agent = agent(&model, memory.clone()).build().unwrap();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (result, ()) =
        within(async { tokio::join!(agent.reply("Hi").cancel_on(token.clone()), cancel) }).await;
    result.unwrap();
    memory.flush(LONG).await.unwrap();
    assert!(store.adds().is_empty());
}

#[test]
fn f21_writes_outlive_a_runtime_that_flushes_before_it_ends() {
    let store = Store::default().add_takes(Duration::from_millis(20));
    let memory = Arc::new(Mem0Middleware::builder(store.clone()).user_id("alice").build().unwrap());
    for round in 1..=2 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let model = ScriptedModel::new(["Hello."]);
            within(agent(&model, memory.clone()).build().unwrap().reply("Hi")).await.unwrap();
            memory.flush(LONG).await.unwrap();
        });
        assert_eq!(store.turns().len(), round);
    }
}
