//! Faults that users of such layers have met. Each test is named after its row in `docs/faults.md`.

use std::{sync::Arc, time::Duration};

use cepa_core::{
    BoxFuture, BuildError, ChatModel as _, ContextConfig, ErrorType, ModelError, Msg, OutputBlock, Reasoning,
    TextBlock, Usage, on_reasoning, on_reply,
    serde_json::{self, json},
    testing::{Answer, EventLog, Logged, ScriptedModel, ScriptedTool},
};
use cepa_rag::{Chunk, Hit, RagError, RagMiddleware, RagMode, Retriever, SearchOptions};
use tokio::sync::Barrier;

use crate::support::{Service, agent, all_hints, hints, hit};

fn fixed(service: &Service) -> RagMiddleware {
    RagMiddleware::builder([service.clone()])
        .mode(RagMode::Static)
        .hint_template("KB[{context}]")
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn r01_two_agents_of_one_layer_search_for_their_own_question() {
    let service = Service::answering("kb", |queries| {
        Ok(vec![hit(1.0, &format!("for {}", queries[0].as_text().unwrap()))])
    })
    .takes(Duration::from_millis(5));
    let layer = Arc::new(fixed(&service));
    let barrier = Arc::new(Barrier::new(2));
    let models = ["ok", "ok"].map(|answer| ScriptedModel::new([answer]));
    let mut agents = models.each_ref().map(|model| {
        let barrier = barrier.clone();
        // Both are inside `on_reply` before either goes on.
        let meet = on_reply(move |_cx, input, next| {
            let barrier = barrier.clone();
            async move {
                barrier.wait().await;
                next.run(input).await
            }
        });
        agent(model, layer.clone()).middleware(meet).build().unwrap()
    });
    let [a, b] = &mut agents;
    let (a, b) = tokio::join!(async { a.reply(Msg::user("alice", "Q-A")).await }, async {
        b.reply(Msg::user("bob", "Q-B")).await
    },);
    a.unwrap();
    b.unwrap();
    let mut queries = service.texts();
    queries.sort();
    assert_eq!(queries, [["alice: Q-A"], ["bob: Q-B"]]);
    let told = models.map(|model| hints(&model.requests()[0]).concat());
    assert!(told[0].contains("for alice: Q-A") && !told[0].contains("Q-B"), "{told:?}");
    assert!(told[1].contains("for bob: Q-B") && !told[1].contains("Q-A"), "{told:?}");
}

/// A search service that has neither vectors nor a store.
#[derive(Debug)]
struct Lexicon(&'static [(&'static str, &'static str)]);

impl Retriever for Lexicon {
    fn name(&self) -> &str {
        "lexicon"
    }

    fn description(&self) -> &str {
        "Words."
    }

    fn search<'a>(
        &'a self,
        queries: &'a [OutputBlock],
        options: &'a SearchOptions,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        let query = queries.iter().filter_map(OutputBlock::as_text).collect::<String>();
        let entries = self.0.iter().filter(move |(word, _)| query.contains(word));
        let hits = entries.map(|(_, meaning)| hit(1.0, meaning)).take(options.top_k).collect();
        Box::pin(async move { Ok(hits) })
    }
}

#[tokio::test]
async fn r48_any_service_that_searches_can_stand_behind_the_layer() {
    let lexicon = Lexicon(&[("onion", "Allium cepa"), ("leek", "Allium ampeloprasum")]);
    let layer = RagMiddleware::builder([lexicon]).mode(RagMode::Static).build().unwrap();
    let model = ScriptedModel::new(["Allium cepa."]);
    agent(&model, layer).build().unwrap().reply("What is an onion?").await.unwrap();
    let told = hints(&model.requests()[0]).concat();
    assert!(
        told.contains("[1] (source: Allium cepa.txt)\nAllium cepa") && !told.contains("ampelo"),
        "{told}"
    );
}

#[tokio::test]
async fn f06_a_model_that_fails_leaves_nothing_of_the_hint_behind() {
    let service = Service::finding("kb", &["alpha"]);
    for spends in [false, true] {
        let answer = if spends { Answer::new().reports_usage(7, 0) } else { Answer::new() };
        let model = ScriptedModel::new([answer.fails(ModelError::new(ErrorType::InvalidRequest, "boom"))]);
        let mut agent = agent(&model, fixed(&service)).build().unwrap();
        agent.reply("q").await.unwrap_err();
        assert_eq!(all_hints(&model).concat(), ["KB[[1] (source: alpha.txt)\nalpha]"]);
        let state = agent.state().unwrap();
        let [question] = &state.context[..] else { panic!("{:?}", state.context) };
        assert_eq!(question.text().as_deref(), Some("q"));
        // What was spent is not lost with the message.
        assert_eq!(question.usage.as_ref().map(|usage: &Usage| usage.input_tokens), spends.then_some(7));
    }
}

#[tokio::test]
async fn f07_no_request_is_longer_than_the_models_context() {
    // Hits of 30 to 600 tokens each, where 500 fit altogether.
    for words in [20, 60, 180, 400] {
        let service = Service::answering("kb", move |_| {
            let text = |n| TextBlock::new(format!("{n}{}", " alpha".repeat(words)));
            Ok((0..5).map(|n| Hit::new(0.9, "a", Chunk::new("a.txt", text(n)))).collect())
        });
        let warnings = Logged::warnings("cepa_rag");
        let summary = json!({"task_overview": "S", "current_state": "S", "important_discoveries": "S",
            "next_steps": "S", "context_to_preserve": "S"});
        let model = ScriptedModel::answering(move |request| {
            if request.tools.iter().any(|tool| &**tool.name() == "generate_structured_output") {
                Answer::new().tool_call("generate_structured_output", summary.clone())
            } else {
                Answer::new().text("a longer answer ".repeat(8))
            }
        })
        .with_context_size(500);
        let mut context = ContextConfig::default();
        context.reserve_ratio = 0.4;
        let mut agent = agent(&model, fixed(&service)).context_config(context).build().unwrap();
        for turn in 0..6 {
            agent.reply(format!("question {turn} {}", "about it ".repeat(12))).await.unwrap();
        }
        let chats: Vec<_> = model.requests().into_iter().filter(|request| request.tools.is_empty()).collect();
        assert_eq!(chats.len(), 6);
        for (turn, request) in chats.iter().enumerate() {
            let tokens = model.count_tokens(&request.messages, &request.tools);
            assert!(tokens <= 500, "{words} words, turn {turn}: {tokens} tokens");
            let said = serde_json::to_string(&request.messages).unwrap();
            assert!(said.contains(&format!("question {turn} about")), "{words} words: no question {turn}");
            // What was found is not summed up: as much as fits is there.
            assert_eq!(hints(request).len(), usize::from(words < 400), "{words} words, turn {turn}");
        }
        assert_eq!(warnings.lines().len(), if words < 400 { 0 } else { 6 }, "{:?}", warnings.lines());
        // Older turns were summed up to make room.
        assert!(model.requests().len() > 6, "{words} words: nothing was compressed");
    }
}

#[tokio::test]
async fn f08_the_search_tool_reaches_the_model() {
    let layer = || RagMiddleware::builder([Service::finding("kb", &["alpha"])]).build().unwrap();
    let model = ScriptedModel::new(["ok"]);
    agent(&model, layer()).build().unwrap().reply("q").await.unwrap();
    assert_eq!(&**model.requests()[0].tools[0].name(), "search_knowledge");
    let twice = agent(&model, layer()).tool(ScriptedTool::echo("search_knowledge")).build();
    assert!(matches!(twice, Err(BuildError::Tools(_))), "{twice:?}");
}

#[tokio::test(start_paused = true)]
async fn f10_a_base_that_fails_loses_only_its_own_hits() {
    let warnings = Logged::warnings("cepa_rag");
    let bases = [
        Service::finding("good", &["alpha", "beta"]),
        Service::failing("down", "no route to it"),
        Service::finding("slow", &["gamma"]).takes(Duration::from_secs(60)),
    ];
    let layer = RagMiddleware::builder(bases)
        .mode(RagMode::Static)
        .search_deadline(Duration::from_secs(2))
        .build()
        .unwrap();
    let model = ScriptedModel::new(["ok"]);
    let start = tokio::time::Instant::now();
    agent(&model, layer).build().unwrap().reply("q").await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    let told = hints(&model.requests()[0]).concat();
    assert!(told.contains("alpha") && told.contains("beta") && !told.contains("gamma"), "{told}");
    let lines = warnings.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains("down") && lines[0].contains("no route to it"), "{lines:?}");
    assert!(lines[1].contains("slow") && lines[1].contains("2s"), "{lines:?}");
}

#[tokio::test]
async fn f11_wherever_the_stream_is_dropped_no_hint_is_in_the_state() {
    let script = || ScriptedModel::new([Answer::new().texts(["o", "k"])]);
    let service = Service::finding("kb", &["alpha"]);
    let log = EventLog::of(agent(&script(), fixed(&service)).build().unwrap().reply("q")).await;
    let types: Vec<_> = log.events().iter().map(|event| event.event_type().to_owned()).collect();
    assert!(types.contains(&"HINT_BLOCK".to_owned()), "{types:?}");
    for read in 0..=types.len() {
        let mut agent = agent(&script(), fixed(&service)).build().unwrap();
        let mut stream = agent.reply("q").stream();
        for _ in 0..read {
            stream.next().await.unwrap();
        }
        drop(stream);
        let saved = agent.save().unwrap();
        assert!(!saved.contains("alpha"), "after {:?}: {saved}", types.get(..read));
        let state = agent.state().unwrap();
        assert!(state.context.iter().all(|msg| !msg.content.is_empty()), "{:?}", state.context);
    }
}

#[tokio::test]
async fn f11_a_layer_inside_that_hangs_and_is_dropped_leaves_no_hint() {
    let model = ScriptedModel::new(["ok"]);
    let hangs = on_reasoning(|_cx, _input, _next: cepa_core::Next<Reasoning>| std::future::pending());
    let mut agent =
        agent(&model, fixed(&Service::finding("kb", &["alpha"]))).middleware(hangs).build().unwrap();
    let reply = async { agent.reply("q").await.map(drop) };
    tokio::time::timeout(Duration::from_millis(50), reply).await.unwrap_err();
    assert!(!agent.save().unwrap().contains("alpha"));
}

/// An embedding model with vectors of four numbers.
#[cfg(feature = "embedded")]
#[derive(Debug)]
struct Four;

#[cfg(feature = "embedded")]
impl cepa_models::EmbeddingModel for Four {
    fn name(&self) -> &str {
        "four"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(4)
    }

    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, cepa_core::Result<cepa_models::Embeddings>> {
        let vectors = vec![vec![0.5; 4]; texts.len()];
        Box::pin(async move { Ok(cepa_models::Embeddings::new(vectors)) })
    }
}

#[cfg(feature = "embedded")]
#[tokio::test]
async fn f13_a_collection_of_other_dimensions_is_told() {
    use cepa_rag::{Collection, EmbeddedStore, KnowledgeBase, VectorStore as _};

    let store = Arc::new(EmbeddedStore::in_memory());
    store.ensure_collection(&Collection::new("guides", 3).unwrap()).await.unwrap();
    let base = KnowledgeBase::builder("guides", "How it works.", store).collection("guides");
    let base = base.embedding_model(Four).build().unwrap();
    let told = "collection `guides` has vectors of 3 dimensions, and not of 4";

    let warnings = Logged::warnings("cepa_rag");
    let model = ScriptedModel::new(["ok"]);
    let layer = RagMiddleware::builder([base.clone()]).mode(RagMode::Static).build().unwrap();
    agent(&model, layer).build().unwrap().reply("q").await.unwrap();
    let lines = warnings.lines();
    assert!(lines.len() == 1 && lines[0].contains(told) && lines[0].contains("guides"), "{lines:?}");

    let search = Answer::new().tool_call("search_knowledge", json!({"query": "what"}));
    let model = ScriptedModel::new([search, Answer::new().text("ok")]);
    let layer = RagMiddleware::builder([base]).build().unwrap();
    agent(&model, layer).build().unwrap().reply("q").await.unwrap();
    let (state, text) = crate::support::result(&model);
    assert!(state == "Error" && text.contains(told), "{state}: {text}");
}
