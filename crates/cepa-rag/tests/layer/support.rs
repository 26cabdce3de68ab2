//! Retrievers, and what is asked of an agent that has them.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, BoxFuture, ContentBlock, InjectionConfig, IntoShared, Middleware, ModelRequest,
    OutputBlock, TextBlock, testing::ScriptedModel,
};
use cepa_rag::{Chunk, Hit, RagError, Retriever, SearchOptions};

type Answer = Arc<dyn Fn(&[OutputBlock]) -> Result<Vec<Hit>, String> + Send + Sync>;

/// Queries, and how to search for them.
type Asked = (Vec<OutputBlock>, SearchOptions);

/// A search service in this process. Copies are the same one.
#[derive(Clone)]
pub(crate) struct Service {
    name: &'static str,
    answer: Answer,
    scale: Option<&'static str>,
    takes: Duration,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Service {
    /// One that answers by a function of the queries.
    pub(crate) fn answering(
        name: &'static str,
        answer: impl Fn(&[OutputBlock]) -> Result<Vec<Hit>, String> + Send + Sync + 'static,
    ) -> Self {
        let (scale, takes) = (Some("m"), Duration::ZERO);
        Self { name, answer: Arc::new(answer), scale, takes, asked: Arc::default() }
    }

    /// One that finds these texts, whatever is asked, the best first, with scores from 0.9 down.
    pub(crate) fn finding(name: &'static str, texts: &'static [&'static str]) -> Self {
        Self::answering(name, move |_| {
            let scored = (0_u8..).zip(texts);
            Ok(scored.map(|(place, text)| hit(0.9 - f32::from(place) / 10.0, text)).collect())
        })
    }

    pub(crate) fn failing(name: &'static str, reason: &'static str) -> Self {
        Self::answering(name, move |_| Err(reason.to_owned()))
    }

    pub(crate) fn takes(mut self, time: Duration) -> Self {
        self.takes = time;
        self
    }

    pub(crate) fn scale(mut self, scale: Option<&'static str>) -> Self {
        self.scale = scale;
        self
    }

    /// The queries so far.
    pub(crate) fn queries(&self) -> Vec<Vec<OutputBlock>> {
        self.asked.lock().unwrap().iter().map(|(queries, _)| queries.clone()).collect()
    }

    /// The queries so far, as texts.
    pub(crate) fn texts(&self) -> Vec<Vec<String>> {
        let text = |query: &OutputBlock| query.as_text().unwrap_or("(data)").to_owned();
        self.queries().iter().map(|queries| queries.iter().map(text).collect()).collect()
    }

    pub(crate) fn options(&self) -> Vec<SearchOptions> {
        self.asked.lock().unwrap().iter().map(|(_, options)| options.clone()).collect()
    }
}

impl Retriever for Service {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        "What is known."
    }

    fn search<'a>(
        &'a self,
        queries: &'a [OutputBlock],
        options: &'a SearchOptions,
    ) -> BoxFuture<'a, Result<Vec<Hit>, RagError>> {
        self.asked.lock().unwrap().push((queries.to_vec(), options.clone()));
        Box::pin(async move {
            tokio::time::sleep(self.takes).await;
            (self.answer)(queries).map_err(RagError::Settings)
        })
    }

    fn scale(&self) -> Option<&str> {
        self.scale
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A chunk of the file `<text>.txt`.
pub(crate) fn hit(score: f32, text: &str) -> Hit {
    let source = format!("{text}.txt");
    Hit::new(score, &source, Chunk::new(&source, TextBlock::new(text)))
}

/// An agent with this layer.
pub(crate) fn agent(model: &ScriptedModel, layer: impl IntoShared<dyn Middleware>) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection).middleware(layer)
}

/// The hints in a request, as text.
pub(crate) fn hints(request: &ModelRequest) -> Vec<String> {
    let blocks = request.messages.iter().flat_map(|msg| &msg.content);
    blocks
        .filter_map(|block| match block {
            ContentBlock::Hint(hint) => Some(hint.hint.text().into_owned()),
            _ => None,
        })
        .collect()
}

/// The hints in each request so far, as text.
pub(crate) fn all_hints(model: &ScriptedModel) -> Vec<Vec<String>> {
    model.requests().iter().map(hints).collect()
}

/// The result of the only call in the last request: its state, and its text.
pub(crate) fn result(model: &ScriptedModel) -> (String, String) {
    let requests = model.requests();
    let blocks = requests.last().unwrap().messages.iter().flat_map(|msg| &msg.content);
    let results: Vec<_> = blocks.filter_map(ContentBlock::as_tool_result).collect();
    let [result] = &results[..] else { panic!("{results:?}") };
    (format!("{:?}", result.state), result.output.text().into_owned())
}
