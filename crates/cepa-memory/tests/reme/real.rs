//! The real service.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use cepa_core::{
    serde_json::{Map, Value, json},
    testing::{Answer, Logged, ScriptedModel},
};
use cepa_memory::{ReMe, ReMeError, ReMeMiddleware, ReMeService};

use crate::{
    reme_models,
    reme_server::{self, PATIENCE},
    support::{builder, flush, memories},
};

struct Service {
    process: reme_server::Service,
    client: ReMeService,
}

impl Service {
    async fn start(model: &str) -> Option<Self> {
        let process = reme_server::Service::start(model).await?;
        let client = ReMeService::builder(&process.url).build().unwrap();
        Some(Self { process, client })
    }

    fn log(&self) -> String {
        self.process.log()
    }

    async fn run(&self, job: &str, arguments: Value) -> Result<Value, ReMeError> {
        let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
        self.client.run(job, arguments).await.map(|answer| answer.metadata.into())
    }

    /// Waits until a search finds this: the service looks at its files every few seconds. Its job `reindex` does not: it
    /// sorts again what was read.
    async fn finds(&self, query: &str, text: &str) {
        let start = Instant::now();
        loop {
            let found = self.run("search", json!({"query": query})).await.unwrap();
            if found["results"].to_string().contains(text) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{query}: {found}\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

#[tokio::test]
async fn r46_the_real_service_searches_by_words_without_embeddings() {
    let Some(service) = Service::start("http://127.0.0.1:1/v1").await else { return };
    ReMeMiddleware::builder(service.client.clone()).connect().await.unwrap();
    let note =
        json!({"session_id": "s", "name": "tea", "description": "taste", "content": "Ada likes Darjeeling."});
    service.run("daily_write", note).await.unwrap();
    service.finds("Darjeeling", "Ada likes Darjeeling.").await;

    let error = service.run("no_such_job", json!({})).await.unwrap_err();
    assert!(matches!(error, ReMeError::NoSuchJob { .. }), "{error:?}");
    let error = service.run("auto_memory", json!({"messages": [], "session_id": ""})).await.unwrap_err();
    assert!(matches!(&error, ReMeError::Failed { words, .. } if words.contains("session_id")), "{error:?}");
}

#[tokio::test]
async fn a_second_session_knows_what_the_first_was_told() {
    let Some(service) = Service::start(&reme_models::serve().await).await else { return };
    let warnings = Logged::warnings("cepa_memory");
    let layer = ReMeMiddleware::builder(service.client.clone()).wait_up_to(Duration::from_secs(5));
    let layer = Arc::new(layer.connect().await.unwrap());

    let model = ScriptedModel::new([Answer::new().text("I will remember that.")]);
    let mut first = builder(&model, &layer).build().unwrap();
    first.reply("My cat is called Zanzibar.").await.unwrap();
    flush(&layer).await;
    assert_eq!(warnings.take(), Vec::<String>::new(), "{}", service.log());
    service.finds("Zanzibar", "My cat is called Zanzibar.").await;

    let model = ScriptedModel::new([Answer::new().text("Zanzibar.")]);
    let mut second = builder(&model, &layer).build().unwrap();
    second.reply("What is my cat called?").await.unwrap();
    let told = memories(&model.requests()[0]).join("\n");
    let request = format!("{:?}", model.requests()[0].messages);
    assert!(request.contains("My cat is called Zanzibar."), "{told}\n{}", service.log());
    flush(&layer).await;
}
