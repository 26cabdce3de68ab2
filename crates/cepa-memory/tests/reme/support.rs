//! What these tests share: a ReMe in the process, and agents.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, BoxFuture, InjectionConfig, ModelRequest,
    serde_json::{Map, Value, json},
    testing::ScriptedModel,
};
use cepa_memory::{JobAnswer, ReMe, ReMeError, ReMeMiddleware};

/// A ReMe that remembers one thing of whatever it is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fake {
    search_takes: Duration,
    write_takes: Duration,
    tells: Option<String>,
    ran: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Fake {
    pub(crate) fn searching(search_takes: Duration) -> Self {
        Self { search_takes, ..Self::default() }
    }

    pub(crate) fn writing(write_takes: Duration) -> Self {
        Self { write_takes, ..Self::default() }
    }

    /// It remembers this, whatever it is asked for.
    pub(crate) fn telling(self, memory: &str) -> Self {
        Self { tells: Some(memory.to_owned()), ..self }
    }

    /// The arguments with which this job was run, each time.
    pub(crate) fn ran(&self, job: &str) -> Vec<Value> {
        let ran = self.ran.lock().unwrap();
        ran.iter().filter(|(name, _)| name == job).map(|(_, arguments)| arguments.clone()).collect()
    }

    /// The turns that were remembered, each message as `name: blocks`.
    pub(crate) fn turns(&self) -> Vec<Vec<String>> {
        let messages = |turn: &Value| turn["messages"].as_array().unwrap().iter().map(shown).collect();
        self.ran("auto_memory").iter().map(messages).collect()
    }
}

fn shown(message: &Value) -> String {
    let blocks = message["content"].as_array().unwrap().iter().map(|block| match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap().to_owned(),
        Some(kind) => format!("<{kind} {}>", block["name"].as_str().unwrap_or_default()),
        None => block.to_string(),
    });
    format!("{}: {}", message["name"].as_str().unwrap(), blocks.collect::<Vec<_>>().join(" "))
}

impl ReMe for Fake {
    fn run<'a>(
        &'a self,
        job: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<JobAnswer, ReMeError>> {
        Box::pin(async move {
            let is_search = job == "search";
            tokio::time::sleep(if is_search { self.search_takes } else { self.write_takes }).await;
            let about = format!("mem for {}", arguments.get("query").and_then(Value::as_str).unwrap_or(""));
            let about = self.tells.clone().unwrap_or(about);
            self.ran.lock().unwrap().push((job.to_owned(), arguments.into()));
            Ok(JobAnswer::new(Map::from_iter([("results".to_owned(), json!([{"text": about}]))])))
        })
    }

    fn jobs(&self) -> BoxFuture<'_, Result<Vec<String>, ReMeError>> {
        Box::pin(async { Ok(vec!["search".to_owned(), "auto_memory".to_owned()]) })
    }
}

/// An agent that is told nothing of time and tasks.
pub(crate) fn builder(model: &ScriptedModel, layer: &Arc<ReMeMiddleware>) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection).middleware(layer.clone())
}

/// Waits for what is written. The clock may stand still meanwhile.
pub(crate) async fn flush(layer: &ReMeMiddleware) {
    layer.flush(Duration::from_secs(3600)).await.unwrap();
}

/// The memories of a request, as the model is told of them.
pub(crate) fn memories(request: &ModelRequest) -> Vec<String> {
    let request = serde_json::to_value(&request.messages).unwrap();
    let blocks = request.as_array().unwrap().iter().flat_map(|msg| msg["content"].as_array().unwrap());
    let hints = blocks.filter_map(|block| block["hint"].as_str());
    hints
        .flat_map(|hint| hint.lines().filter_map(|line| line.strip_prefix("- ")).map(str::to_owned))
        .collect()
}
