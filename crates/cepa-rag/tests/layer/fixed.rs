//! The layer searches by itself.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use cepa_core::{
    Agent, ContentBlock, DataBlock, Error, EventKind, HintContent, Msg, OutputBlock, ReasoningInput, Source,
    TextBlock, on_reasoning,
    serde_json::json,
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_rag::{Chunk, Filter, Hit, RagMiddleware, RagMiddlewareBuilder, RagMode};

use crate::support::{Service, agent, all_hints, hints, hit};

fn builder(service: &Service) -> RagMiddlewareBuilder {
    RagMiddleware::builder([service.clone()]).mode(RagMode::Static).hint_template("KB[{context}]")
}

const ALPHA: &str = "KB[[1] (source: alpha.txt)\nalpha]";

fn two_rounds() -> ScriptedModel {
    ScriptedModel::new([Answer::new().tool_call("f", json!({})), Answer::new().text("ok")])
}

#[tokio::test]
async fn a_reply_of_several_rounds_is_searched_for_once() {
    let service = Service::finding("kb", &["alpha"]);
    let model = two_rounds();
    let mut agent = agent(&model, builder(&service).build().unwrap())
        .tool(ScriptedTool::new("f", ["F"]).read_only())
        .build()
        .unwrap();
    agent.reply("q").await.unwrap();
    assert_eq!(service.texts(), [["user: q"]]);
    assert_eq!(all_hints(&model), [vec![ALPHA], vec![]]);
}

#[tokio::test]
async fn a_round_that_is_run_again_has_the_hint_again_from_the_same_search() {
    let service = Service::finding("kb", &["alpha"]);
    for persists in [false, true] {
        let again = on_reasoning(|_cx, input: ReasoningInput, next| async move {
            match next.clone().run(input.clone()).await {
                Err(_) => next.run(input).await,
                first => first,
            }
        });
        let failed = Arc::new(AtomicBool::new(false));
        let fails_once = on_reasoning(move |_cx, input: ReasoningInput, next| {
            let fails = !failed.swap(true, Relaxed);
            async move { if fails { Err(Error::other("not now")) } else { next.run(input).await } }
        });
        let model = ScriptedModel::new(["ok"]);
        let layer = builder(&service).emit_hint_event(false).persist_hint(persists).build().unwrap();
        let agent = Agent::builder("Friday").model(model.clone()).middleware(again).middleware(layer);
        agent.middleware(fails_once).build().unwrap().reply("q").await.unwrap();
        let told = hints(&model.requests()[0]);
        assert_eq!(told.iter().filter(|hint| *hint == ALPHA).count(), 1, "{told:?}");
    }
    assert_eq!(service.texts().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_is_given_up_while_it_is_searched_for_is_searched_for_again() {
    let service = Service::finding("kb", &["alpha"]).takes(Duration::from_millis(80));
    let impatient = on_reasoning(|_cx, input: ReasoningInput, next| async move {
        let first = next.clone().run(input.clone());
        match tokio::time::timeout(Duration::from_millis(50), first).await {
            Ok(first) => first,
            Err(_) => next.run(input).await,
        }
    });
    let model = ScriptedModel::new(["ok"]);
    let agent = agent(&model, impatient).middleware(builder(&service).build().unwrap());
    let log = EventLog::of(agent.build().unwrap().reply("q")).await;
    assert_eq!(service.texts(), [["user: q"], ["user: q"]]);
    assert_eq!(all_hints(&model), [[ALPHA]]);
    let told = log.events().iter().filter(|event| matches!(event.kind, EventKind::HintBlock { .. }));
    assert_eq!(told.count(), 1);
}

#[tokio::test]
async fn where_all_fails_the_reply_goes_on_without_a_hint() {
    let warnings = Logged::warnings("cepa_rag");
    let model = ScriptedModel::new(["ok"]);
    let layer = builder(&Service::failing("kb", "kb down")).build().unwrap();
    let log = EventLog::of(agent(&model, layer).build().unwrap().reply("q")).await;
    assert_eq!(log.text(), "ok");
    assert_eq!(all_hints(&model), [[""; 0]]);
    assert!(!log.events().iter().any(|event| matches!(event.kind, EventKind::HintBlock { .. })));
    assert_eq!(warnings.lines().len(), 1, "{:?}", warnings.lines());
}

#[tokio::test]
async fn texts_and_images_of_all_messages_are_the_query_and_blank_ones_are_none() {
    let service = Service::finding("kb", &[]);
    let image = DataBlock::new(Source::base64("AAE=", "image/png"));
    let text = |text: &str| ContentBlock::from(TextBlock::new(text));
    let messages = vec![
        Msg::user("alice", vec![text(" \n"), image.clone().into(), text("what is this"), text("and that")]),
        Msg::user("bob", vec![ContentBlock::from(image.clone())]),
        Msg::user("carol", "yes"),
    ];
    let model = ScriptedModel::new(["ok", "ok"]);
    let mut agent = agent(&model, builder(&service).build().unwrap()).build().unwrap();
    agent.reply(messages).await.unwrap();
    agent.reply(Msg::user("dave", "  ")).await.unwrap();
    let queries = service.queries();
    assert_eq!(queries.len(), 1, "a blank turn was searched for");
    let texts: Vec<_> = queries[0].iter().map(OutputBlock::as_text).collect();
    let expected = [None, Some("alice: what is this"), Some("and that"), None, Some("carol: yes")];
    assert_eq!(texts, expected);
    assert_eq!(queries[0][0], OutputBlock::Data(image));
}

#[tokio::test]
async fn an_image_that_was_found_stays_an_image() {
    let image = DataBlock::new(Source::base64("AAE=", "image/png")).with_id("i1");
    let found = image.clone();
    let service = Service::answering("kb", move |_| {
        Ok(vec![hit(0.9, "alpha"), Hit::new(0.4, "p", Chunk::new("p.png", found.clone()))])
    });
    let model = ScriptedModel::new(["ok"]);
    let log =
        EventLog::of(agent(&model, builder(&service).build().unwrap()).build().unwrap().reply("q")).await;
    let told = log.events().iter().find_map(|event| match &event.kind {
        EventKind::HintBlock { hint, .. } => Some(hint.clone()),
        _ => None,
    });
    let Some(HintContent::Blocks(blocks)) = told else { panic!("{told:?}") };
    assert_eq!(blocks[1], OutputBlock::Data(image));
}

#[tokio::test]
async fn each_base_is_asked_for_what_was_set_and_hits_are_merged_and_cut() {
    let (a, b) = (Service::finding("a", &["one", "two", "three"]), Service::finding("b", &["two", "four"]));
    let layer = RagMiddleware::builder([a.clone(), b.clone()])
        .mode(RagMode::Static)
        .top_k(3)
        .score_threshold(0.25)
        .filter(Filter::eq("team", "search"))
        .hint_template("{context}")
        .build()
        .unwrap();
    let model = ScriptedModel::new(["ok"]);
    agent(&model, layer).build().unwrap().reply("q").await.unwrap();
    for options in a.options().iter().chain(&b.options()) {
        assert_eq!((options.top_k, options.score_threshold), (3, Some(0.25)));
        assert_eq!(options.filter, Some(Filter::eq("team", "search")));
    }
    // `two` is 0.8 in one and 0.9 in the other: it is there once.
    let expected = "[1] (source: one.txt)\none\n\n[2] (source: two.txt)\ntwo\n\n[3] (source: four.txt)\nfour";
    assert_eq!(all_hints(&model), [[expected]]);
}

#[tokio::test]
async fn scores_of_different_models_are_not_compared() {
    let words =
        Service::answering("words", |_| Ok(vec![hit(31.0, "w1"), hit(30.0, "w2")])).scale(Some("bm25"));
    let vectors = Service::finding("vectors", &["v1", "v2"]).scale(Some("small-embedder"));
    let layer = RagMiddleware::builder([words, vectors])
        .mode(RagMode::Static)
        .top_k(2)
        .hint_template("{context}")
        .build()
        .unwrap();
    let model = ScriptedModel::new(["ok"]);
    agent(&model, layer).build().unwrap().reply("q").await.unwrap();
    let expected = "[1] (source: w1.txt)\nw1\n\n[2] (source: v1.txt)\nv1";
    assert_eq!(all_hints(&model), [[expected]]);
}
