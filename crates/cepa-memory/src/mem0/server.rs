//! The open-source server.

use std::{fmt, time::Duration};

use cepa_core::{BoxError, BoxFuture};
use cepa_http::{HeaderName, Http, Method, SecretString, ServerError, shown_url};
use serde_json::{Map, Value, json};

use super::{
    answers,
    backend::{Mem0, Mem0Add, Mem0Added, Mem0Memory, Mem0Search},
};

/// mem0's open-source server: `/memories` and `/search`.
#[derive(Clone, Debug)]
pub struct Mem0Server(Http);

/// Sets a [`Mem0Server`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone)]
pub struct Mem0ServerBuilder {
    url: String,
    api_key: Option<SecretString>,
    deadline: Duration,
}

impl Mem0Server {
    /// The server at this URL, such as `http://127.0.0.1:8000`.
    pub fn builder(url: impl Into<String>) -> Mem0ServerBuilder {
        Mem0ServerBuilder { url: url.into(), api_key: None, deadline: super::builder::WRITE_DEADLINE }
    }

    /// The memory with this id; `None` where there is none.
    ///
    /// # Errors
    /// The server is not reached, refuses, or answers with something else.
    pub async fn get(&self, id: &str) -> Result<Option<Mem0Memory>, ServerError> {
        // An id is no path: a slash in it would ask for something else.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
            return Ok(None);
        }
        let answer = self.0.call(Method::GET, &format!("memories/{id}"), None::<&()>).await?;
        if answer.is_null() {
            return Ok(None);
        }
        answers::memory(&answer).map(Some).ok_or_else(|| self.0.nonsense("a memory without a text"))
    }
}

impl Mem0ServerBuilder {
    /// The key, sent as `X-API-Key`.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into().into());
        self
    }

    /// How long any one call may take; 60 s by default. The layer has deadlines of its own, which may be shorter.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// A URL, a key or a deadline that cannot be.
    pub fn build(self) -> Result<Mem0Server, ServerError> {
        let http = Http::new("the mem0 server", &self.url, self.deadline)?;
        Ok(Mem0Server(match self.api_key {
            Some(key) => http.sign_in(HeaderName::from_static("x-api-key"), "", key)?,
            None => http,
        }))
    }
}

impl fmt::Debug for Mem0ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mem0ServerBuilder")
            .field("url", &shown_url(&self.url))
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl Mem0 for Mem0Server {
    fn search(&self, search: Mem0Search) -> BoxFuture<'_, Result<Vec<Mem0Memory>, BoxError>> {
        Box::pin(async move {
            let filters = ids(&search.user_id, search.agent_id.as_deref());
            let body = search_body(&search, filters.into());
            let answer = self.0.call(Method::POST, "search", Some(&body)).await?;
            Ok(answers::memories(&self.0, &answer)?)
        })
    }

    fn add(&self, add: Mem0Add) -> BoxFuture<'_, Result<Mem0Added, BoxError>> {
        Box::pin(async move {
            let answer = self.0.call(Method::POST, "memories", Some(&add_body(&add))).await?;
            Ok(answers::added(&self.0, &answer)?)
        })
    }
}

/// The ids that are given.
fn ids(user_id: &str, agent_id: Option<&str>) -> Map<String, Value> {
    let mut ids = Map::from_iter([("user_id".to_owned(), user_id.into())]);
    ids.extend(agent_id.map(|id| ("agent_id".to_owned(), id.into())));
    ids
}

/// mem0 2 takes the ids of a search in its `filters` and nowhere else.
pub(super) fn search_body(search: &Mem0Search, filters: Value) -> Value {
    let mut body = json!({"query": search.query, "filters": filters, "top_k": search.top_k});
    if let Some(threshold) = search.threshold {
        body["threshold"] = threshold.into();
    }
    body
}

/// The ids of an addition stand at the top.
pub(super) fn add_body(add: &Mem0Add) -> Value {
    let mut body = ids(&add.user_id, add.agent_id.as_deref());
    body.insert("messages".to_owned(), json!(add.messages));
    if !add.infer {
        body.insert("infer".to_owned(), false.into());
    }
    body.into()
}
