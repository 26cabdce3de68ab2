//! What `UsageMiddleware` counts, keeps and tells.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

#[path = "support/replies.rs"]
mod support;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use cepa_core::{
    Agent, AgentState, ChatResponse, ChatUsage, ContextConfig, ErrorKind, ErrorType, Flow,
    GENERATE_STRUCTURED_OUTPUT, MiddlewareExt, MiddlewareKey, ModelError, ModelRequest, Msg, Purpose,
    StoreError, on_model_call, on_reasoning, on_reply,
    serde_json::{Value, from_value, json, to_value},
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_tracing::{ModelUsage, Price, Prices, ReplyUsage, SessionUsage, UsageMiddleware, UsageSums};

use crate::support::{builder, cancelled_soon, last, within, yes};

/// Counts in dollars: a million tokens of `small` cost 1 and 10.
fn usage() -> UsageMiddleware {
    let small = Price::new(1, 10).cache_read(0.1).cache_write(2);
    UsageMiddleware::new().prices(Prices::builder("USD").model("small", small).build().unwrap())
}

fn small(answers: impl IntoIterator<Item = Answer>) -> ScriptedModel {
    ScriptedModel::new(answers).named("small")
}

fn overloaded() -> ModelError {
    ModelError::new(ErrorType::Upstream, "overloaded")
}

fn session(agent: &Agent) -> SessionUsage {
    UsageMiddleware::of(&agent.state().unwrap()).unwrap()
}

/// What the events of a log told.
fn told(log: &EventLog) -> Vec<ReplyUsage> {
    log.events().iter().filter_map(ReplyUsage::of_event).collect()
}

/// Calls, tokens sent and written, and the cost.
fn figures(usage: &ModelUsage) -> (u64, u64, u64, Option<String>) {
    (usage.calls, usage.input_tokens, usage.output_tokens, usage.cost.map(|cost| cost.to_string()))
}

fn of(calls: u64, input: u64, output: u64, cost: &str) -> (u64, u64, u64, Option<String>) {
    (calls, input, output, Some(cost.to_owned()))
}

#[tokio::test(start_paused = true)]
async fn a_reply_tells_what_it_used_right_before_its_end() {
    let model = small([
        Answer::new().tool_call("look", json!({})).usage(100, 10),
        Answer::new().text("Done.").usage(200, 20),
    ]);
    let mut agent = builder(&model).tool(ScriptedTool::echo("look")).middleware(usage()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    assert_eq!(last(&log, 3), ["MODEL_CALL_END completed", "CUSTOM cepa.usage", "REPLY_END completed"]);
    let reply = told(&log).remove(0);
    assert_eq!(reply.reply_id, *agent.state().unwrap().reply_id());
    assert_eq!(figures(&reply.sums.total), of(2, 300, 30, "0.0006"));
    assert_eq!(session(&agent).reply, Some(reply.clone()));
    let same = json!({
        "calls": 2, "failed_calls": 0, "unreported_calls": 0, "input_tokens": 300, "output_tokens": 30,
        "cache_input_tokens": 0, "cache_creation_input_tokens": 0, "cost": "0.0006",
    });
    let json = json!({
        "reply_id": reply.reply_id, "currency": "USD", "total": same, "models": {"small": same},
        "purposes": {"chat": same}, "unpriced": [],
    });
    assert_eq!(to_value(reply).unwrap(), json);
}

#[tokio::test(start_paused = true)]
async fn each_model_is_counted_with_what_its_failed_attempts_cost() {
    let fails = || Answer::new().reports_usage(10, 0).fails(overloaded());
    let silent = || Answer::new().fails(overloaded());
    let primary = small([fails(), silent()]);
    let fallback = ScriptedModel::new([Answer::new().text("Hi.").usage(30, 3)]).named("large");
    let prices = Prices::builder("USD").model("small", Price::new(1, 10)).model("lar*", Price::new(2, 20));
    let layer = UsageMiddleware::new().prices(prices.build().unwrap());
    let mut agent =
        builder(&primary).model_retries(1).fallback_model(fallback).middleware(layer).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    let sums = session(&agent).sums;
    assert_eq!(figures(&sums.models["small"]), of(1, 10, 0, "0.00001"));
    assert_eq!(sums.models["small"].failed_calls, 2);
    assert_eq!(figures(&sums.models["large"]), of(1, 30, 3, "0.00012"));
    assert_eq!(figures(&sums.total), of(2, 40, 3, "0.00013"));
    assert_eq!(sums.total.unreported_calls, 0);
}

#[tokio::test(start_paused = true)]
async fn the_summary_of_a_long_context_is_paid_by_the_reply_that_caused_it() {
    let mut config = ContextConfig::default();
    config.summary_template = "{s}".to_owned();
    config.summary_schema = json!({"type": "object", "properties": {"s": {"type": "string"}}});
    let model = ScriptedModel::answering(|request| match request.purpose {
        Purpose::Summary => {
            Answer::new().tool_call("generate_structured_output", json!({"s": "short"})).usage(900, 9)
        }
        _ => Answer::new().text("Hi.").usage(10, 1),
    });
    let model = model.named("small").with_context_size(1_000);
    let mut agent = builder(&model).context_config(config).middleware(usage()).build().unwrap();
    within(agent.reply("word ".repeat(600))).await.unwrap();
    within(agent.reply("word ".repeat(600))).await.unwrap();
    let reply = session(&agent).reply.unwrap();
    assert_eq!(figures(&reply.sums.purposes["chat"]), of(1, 10, 1, "0.00002"));
    assert_eq!(figures(&reply.sums.purposes["summary"]), of(1, 900, 9, "0.00099"));
    assert_eq!(figures(&reply.sums.total), of(2, 910, 10, "0.00101"));
    assert!(!session(&agent).previous_reply.unwrap().sums.purposes.contains_key("summary"));
}

#[tokio::test(start_paused = true)]
async fn what_a_layer_asks_before_the_reply_begins_is_paid_by_that_reply() {
    let answer = |text: &str| Answer::new().text(text).usage(10, 1);
    let model = small(["Hi.", "this one", "Hi again."].map(answer));
    let second_only = AtomicUsize::new(0);
    let selects = on_reply(move |cx: cepa_core::Cx<_>, input, next: cepa_core::Next<_>| {
        let asks = second_only.fetch_add(1, SeqCst) == 1;
        async move {
            if asks {
                let question = ModelRequest::new([Msg::user("user", "Which file?")]);
                cx.call_model(Purpose::MemorySelection, question).await?;
            }
            next.run(input).await
        }
    });
    let mut agent = builder(&model).middleware(selects).middleware(usage()).build().unwrap();
    within(agent.reply("One")).await.unwrap();
    within(agent.reply("Two")).await.unwrap();
    let session = session(&agent);
    let (reply, previous) = (session.reply.unwrap(), session.previous_reply.unwrap());
    assert_eq!(reply.reply_id, *agent.state().unwrap().reply_id());
    assert_eq!(reply.sums.purposes.keys().collect::<Vec<_>>(), ["chat", "memory_selection"]);
    assert_eq!((reply.sums.total.calls, previous.sums.total.calls, session.sums.total.calls), (2, 1, 3));
}

#[tokio::test(start_paused = true)]
async fn tokens_of_the_cache_have_prices_of_their_own() {
    let cached = on_model_call(|_cx, request, next| async move {
        let mut response: ChatResponse = next.run(request).await?;
        let mut usage = ChatUsage::new(1_000, 100, 0.0);
        (usage.cache_input_tokens, usage.cache_creation_input_tokens) = (700, 200);
        response.usage = Some(usage);
        Ok(response)
    });
    let mut agent =
        builder(&small([Answer::new().text("Hi.")])).middleware(usage()).middleware(cached).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    let total = session(&agent).sums.total;
    // 100 × 1 + 700 × 0.1 + 200 × 2 + 100 × 10, for a million each.
    assert_eq!(figures(&total), of(1, 1_000, 100, "0.00157"));
    assert_eq!((total.cache_input_tokens, total.cache_creation_input_tokens), (700, 200));
}

#[tokio::test(start_paused = true)]
async fn a_session_adds_up_over_replies_and_over_saving() {
    let model = small([1, 2, 3].map(|n| Answer::new().text("Hi.").usage(n * 10, n)));
    let define = || builder(&model).middleware(usage());
    let mut agent = define().build().unwrap();
    within(agent.reply("One")).await.unwrap();
    within(agent.reply("Two")).await.unwrap();
    let (before, saved) = (session(&agent), to_value(&*agent.state().unwrap()).unwrap());
    let state: AgentState = from_value(saved).unwrap();
    assert_eq!(UsageMiddleware::of(&state).unwrap(), before);
    let mut agent = define().state(state).build().unwrap();
    within(agent.reply("Three")).await.unwrap();
    let after = session(&agent);
    assert_eq!(figures(&after.sums.total), of(3, 60, 6, "0.00012"));
    assert_eq!(figures(&after.reply.unwrap().sums.total), of(1, 30, 3, "0.00006"));
    // Only the last two replies are kept.
    assert_eq!(after.previous_reply, before.reply);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_waits_for_a_person_is_one_with_what_goes_on() {
    let model = small([
        Answer::new().tool_call("look", json!({})).usage(100, 10),
        Answer::new().text("Done.").usage(200, 20),
    ]);
    let define = || builder(&model).tool(ScriptedTool::echo("look").asks()).middleware(usage());
    let mut agent = define().build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    assert_eq!(last(&log, 2), ["REQUIRE_USER_CONFIRM tool_calls=[", "CUSTOM cepa.usage"]);
    let paused = told(&log).remove(0);
    assert_eq!(figures(&paused.sums.total), of(1, 100, 10, "0.0002"));

    let state = from_value(to_value(&*agent.state().unwrap()).unwrap()).unwrap();
    let mut agent = define().state(state).build().unwrap();
    let log = within(EventLog::of(agent.reply(yes(&agent)))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.usage", "REPLY_END completed"]);
    let whole = told(&log).remove(0);
    assert_eq!(whole.reply_id, paused.reply_id);
    assert_eq!(figures(&whole.sums.total), of(2, 300, 30, "0.0006"));
    assert_eq!(session(&agent).previous_reply, None);
}

#[tokio::test(start_paused = true)]
async fn agents_that_share_an_instance_do_not_mix() {
    let layer = Arc::new(usage());
    let agent = |tokens| {
        let slowly = Answer::new().delay(std::time::Duration::from_secs(1)).text("Hi.").usage(tokens, 0);
        builder(&small([slowly])).middleware(layer.clone()).build().unwrap()
    };
    let (mut one, mut two) = (agent(10), agent(20));
    let (first, second) = within(async { tokio::join!(one.reply("Go"), two.reply("Go")) }).await;
    first.unwrap();
    second.unwrap();
    assert_eq!(figures(&session(&one).sums.total), of(1, 10, 0, "0.00001"));
    assert_eq!(figures(&session(&two).sums.total), of(1, 20, 0, "0.00002"));
}

#[tokio::test(start_paused = true)]
async fn two_instances_count_for_themselves_under_their_keys() {
    let model = small([Answer::new().text("Hi.").usage(100, 10)]);
    let twice = builder(&model).middleware(usage()).middleware(usage()).build().unwrap_err().to_string();
    assert!(twice.contains("UsageMiddleware"), "{twice}");

    let own = Prices::builder("EUR").model("*", Price::new(100, 100)).build().unwrap();
    let own = UsageMiddleware::new().prices(own).keyed("own");
    let mut agent = builder(&model).middleware(own).middleware(usage()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    let currencies: Vec<_> = told(&log).into_iter().map(|reply| reply.sums.currency.unwrap()).collect();
    assert_eq!(currencies, ["USD", "EUR"]);
    assert_eq!(figures(&session(&agent).sums.total), of(1, 100, 10, "0.0002"));
    let key = MiddlewareKey::new("own");
    let own = UsageMiddleware::of_keyed(&agent.state().unwrap(), &key).unwrap();
    assert_eq!(figures(&own.sums.total), of(1, 100, 10, "0.011"));
}

#[tokio::test(start_paused = true)]
async fn a_model_without_a_price_is_named_and_logged_once() {
    let logged = Logged::of("cepa_tracing::usage");
    let unknown = ScriptedModel::new([1, 2].map(|_| Answer::new().text("Hi.").usage(10, 1))).named("new");
    let mut agent = builder(&unknown).middleware(usage()).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    within(agent.reply("Go")).await.unwrap();
    let sums = session(&agent).sums;
    assert_eq!(figures(&sums.total), (2, 20, 2, None));
    assert_eq!(sums.unpriced.into_iter().collect::<Vec<_>>(), ["new"]);
    assert_eq!(logged.lines().len(), 1);
    assert!(logged.lines()[0].contains("there is no price for the model"), "{:?}", logged.lines());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_counted_and_nothing_is_made_up() {
    let model = small([Answer::new().text("Hi.")]);
    let mut agent = builder(&model).middleware(usage()).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    let sums = session(&agent).sums;
    assert_eq!(figures(&sums.total), (1, 0, 0, None));
    assert_eq!(sums.total.unreported_calls, 1);
    assert!(sums.unpriced.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_call_counts_with_what_the_server_had_said() {
    let model =
        small([Answer::new().reports_usage(100, 0).text("Half").hangs(), Answer::new().text("Half").hangs()]);
    let mut agent = builder(&model).middleware(usage()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go").cancel_on(cancelled_soon()))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.usage", "REPLY_END interrupted"]);
    assert_eq!(figures(&told(&log)[0].sums.total), of(1, 100, 0, "0.0001"));

    let log = within(EventLog::of(agent.reply("Go").cancel_on(cancelled_soon()))).await;
    let reply = told(&log).remove(0);
    assert_eq!((reply.sums.total.calls, reply.sums.total.unreported_calls), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_nobody_listens_to_any_more_is_counted_and_told_to_observers() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observed = seen.clone();
    let model = small([
        Answer::new().tool_call("look", json!({})).usage(100, 10),
        Answer::new().text("Half").hangs(),
        Answer::new().reports_usage(1_000, 1).text("Half").hangs(),
    ]);
    let mut agent = builder(&model)
        .tool(ScriptedTool::echo("look"))
        .middleware(usage())
        .observer(move |event| observed.lock().unwrap().extend(ReplyUsage::of_event(event)))
        .build()
        .unwrap();
    let mut leave = async || {
        let mut stream = agent.reply("Go").stream();
        while let Some(event) = within(stream.next()).await {
            if event.event_type() == "TEXT_BLOCK_DELTA" {
                break;
            }
        }
        drop(stream);
        session(&agent).reply.unwrap()
    };
    let reply = leave().await;
    assert_eq!(figures(&reply.sums.total), of(2, 100, 10, "0.0002"));
    assert_eq!(reply.sums.total.unreported_calls, 1);
    // What the server had said counts.
    let second = leave().await;
    assert_eq!(figures(&second.sums.total), of(1, 1_000, 1, "0.00101"));
    assert_eq!(second.sums.total.unreported_calls, 0);
    assert_eq!(*seen.lock().unwrap(), [reply, second]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_fails_tells_what_it_used_before_its_end() {
    let model = small([Answer::new().reports_usage(10, 0).fails(overloaded())]);
    let mut agent = builder(&model).model_retries(0).middleware(usage()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.usage", "REPLY_END error"]);
    assert_eq!(figures(&told(&log)[0].sums.total), of(1, 10, 0, "0.00001"));
}

#[tokio::test(start_paused = true)]
async fn a_structured_reply_is_counted() {
    let model = small([Answer::new().tool_call(GENERATE_STRUCTURED_OUTPUT, json!({"n": 1})).usage(10, 1)]);
    let mut agent = builder(&model).middleware(usage()).build().unwrap();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let log = within(EventLog::of(agent.reply("Go").schema(schema))).await;
    assert_eq!(last(&log, 2), ["CUSTOM cepa.usage", "REPLY_END completed"]);
    assert_eq!(figures(&told(&log)[0].sums.total), of(1, 10, 1, "0.00002"));
}

#[tokio::test(start_paused = true)]
async fn a_reply_without_a_model_call_has_used_nothing() {
    let answers = on_reasoning(|_cx, _input, next| async move {
        drop(next);
        Ok(Some(Msg::assistant("Friday", "From memory.")))
    });
    let mut agent = builder(&small([])).middleware(answers).middleware(usage()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    let reply = told(&log).remove(0);
    assert_eq!(reply.reply_id, *agent.state().unwrap().reply_id());
    assert_eq!(reply.sums, UsageSums::default());
}

#[tokio::test(start_paused = true)]
async fn a_layer_that_has_the_agent_go_on_is_told_again() {
    let left = Arc::new(AtomicUsize::new(1));
    let swallows_once = on_reply(move |_cx, input, next| {
        let left = left.clone();
        next.tap_shared(input, move |event| match event.kind {
            cepa_core::EventKind::ReplyEnd { .. } if left.swap(0, SeqCst) > 0 => Flow::Drop,
            _ => Flow::Keep,
        })
    });
    let model = small([1, 2].map(|_| Answer::new().text("Hi.").usage(10, 1)));
    let mut agent = builder(&model).middleware(swallows_once).middleware(usage()).build().unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    let calls: Vec<_> = told(&log).into_iter().map(|reply| reply.sums.total.calls).collect();
    assert_eq!(calls, [1, 2]);
    assert_eq!(last(&log, 2), ["CUSTOM cepa.usage", "REPLY_END completed"]);
}

#[tokio::test(start_paused = true)]
async fn layers_outside_that_read_the_events_see_it_before_the_end_too() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = seen.clone();
    let reads = on_reply(move |cx: cepa_core::Cx<_>, input, next: cepa_core::Next<cepa_core::Reply>| {
        let notes = notes.clone();
        async move {
            let mut events = next.stream(input);
            while let Some(event) = events.next().await {
                notes.lock().unwrap().push(event.event_type());
                cx.emit(event).await;
            }
            events.finish().await
        }
    });
    let model = small([Answer::new().text("Hi.").usage(10, 1)]);
    let mut agent = builder(&model).middleware(reads).middleware(usage()).build().unwrap();
    within(agent.reply("Go")).await.unwrap();
    assert!(seen.lock().unwrap().ends_with(&["MODEL_CALL_END", "CUSTOM", "REPLY_END"]));
}

#[tokio::test(start_paused = true)]
async fn an_entry_of_another_form_is_an_error_that_names_its_key_before_anything_is_spent() {
    let model = small([Answer::new().text("Hi.").usage(10, 1)]);
    let mut agent = builder(&model).middleware(usage()).build().unwrap();
    let broken = json!({"total": "a lot"});
    let state: AgentState = from_value(json!({"middle_context": {"UsageMiddleware": broken}})).unwrap();
    *agent.state().unwrap() = state;
    let error = within(agent.reply("Go")).await.unwrap_err();
    assert!(error.to_string().contains("UsageMiddleware"), "{error}");
    assert!(matches!(error.kind(), ErrorKind::Store(StoreError::Decode { .. })), "{error:?}");
    assert!(UsageMiddleware::of(&agent.state().unwrap()).is_err());
    let saved: Value = to_value(&*agent.state().unwrap()).unwrap();
    assert_eq!(saved["middle_context"]["UsageMiddleware"], broken);
    assert_eq!(model.requests().len(), 0);
}
