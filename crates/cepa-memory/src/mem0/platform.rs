//! The hosted platform.

use std::{fmt, time::Duration};

use cepa_core::{BoxError, BoxFuture};
use cepa_http::{AUTHORIZATION, Http, Method, ServerError, shown_url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::{
    answers,
    backend::{Mem0, Mem0Add, Mem0Added, Mem0Memory, Mem0Search},
    server::{add_body, search_body},
};

/// Where the platform is.
const URL: &str = "https://api.mem0.ai";
/// How long is waited between two questions about work that is pending.
const POLL: Duration = Duration::from_millis(500);

/// mem0's hosted platform: `/v3/memories/add/` and `/v3/memories/search/`.
///
/// The platform keeps what a user said under the user, and what an agent said under the agent, and never one memory under
/// both. A search therefore asks for the memories of the user, whatever agent they were told to. What the agent said is found
/// with [`agent_memories(true)`](Mem0PlatformBuilder::agent_memories) only: then also what it said to **other users**.
#[derive(Clone, Debug)]
pub struct Mem0Platform {
    http: Http,
    agent_memories: bool,
    wait: Duration,
}

/// Sets a [`Mem0Platform`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone)]
pub struct Mem0PlatformBuilder {
    key: SecretString,
    url: String,
    agent_memories: bool,
    wait: Duration,
    deadline: Duration,
}

impl Mem0Platform {
    /// The platform, with a key of it.
    pub fn builder(key: impl Into<String>) -> Mem0PlatformBuilder {
        Mem0PlatformBuilder {
            key: key.into().into(),
            url: URL.to_owned(),
            agent_memories: false,
            wait: Duration::ZERO,
            deadline: super::builder::WRITE_DEADLINE,
        }
    }

    /// Asks once what became of an addition that was pending.
    ///
    /// # Errors
    /// The platform is not reached or refuses, or the addition has failed.
    pub async fn added(&self, event_id: &str) -> Result<Mem0Added, ServerError> {
        let event = self.event(event_id).await?;
        self.read(event_id, &event)
    }

    async fn event(&self, event_id: &str) -> Result<Value, ServerError> {
        if event_id.is_empty() || !event_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(self.http.nonsense("an event whose id is none"));
        }
        self.http.call(Method::GET, &format!("v1/event/{event_id}/"), None::<&()>).await
    }

    fn read(&self, event_id: &str, event: &Value) -> Result<Mem0Added, ServerError> {
        match event["status"].as_str() {
            Some("FAILED") => Err(self.http.nonsense(format_args!("the addition has failed: {event}"))),
            Some("SUCCEEDED") => match answers::added(&self.http, &json!({"results": event["results"]})) {
                Err(_) => Ok(Mem0Added::Nothing), // It says nothing of results.
                added => added,
            },
            Some(_) => Ok(Mem0Added::Pending { event_id: Some(event_id.to_owned()) }),
            None => Err(self.http.nonsense("an event without a `status`")),
        }
    }

    /// Asks until the work is done, or the time is over. A question that fails says nothing of the addition, which was
    /// taken in.
    async fn wait_for(&self, event_id: String) -> Result<Mem0Added, ServerError> {
        let asking = async {
            loop {
                let added = match self.event(&event_id).await {
                    Ok(event) if event["status"].is_string() => self.read(&event_id, &event)?,
                    answer => {
                        tracing::debug!(event_id, ?answer, "it is not known what became of an addition");
                        Mem0Added::Pending { event_id: None }
                    }
                };
                match added {
                    Mem0Added::Pending { .. } => sleep(POLL).await,
                    added => return Ok(added),
                }
            }
        };
        let done = timeout(self.wait, asking).await;
        done.unwrap_or(Ok(Mem0Added::Pending { event_id: Some(event_id.clone()) }))
    }
}

impl Mem0PlatformBuilder {
    /// Another place than mem0's own.
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = url.into();
        self
    }

    /// Whether a search for an agent also finds what the platform keeps under that agent, whoever it was said to: one user
    /// is shown what the agent said to another. `false` by default: a search finds what is kept under the user, of all agents.
    /// It suits an agent with a single user, or one whose `agent_id` is another for each user.
    pub fn agent_memories(mut self, found: bool) -> Self {
        self.agent_memories = found;
        self
    }

    /// How long an addition asks what became of it, at most. 0 by default: it is left pending.
    pub fn wait_for_additions(mut self, limit: Duration) -> Self {
        self.wait = limit;
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
    /// A key, a URL or a deadline that cannot be.
    pub fn build(self) -> Result<Mem0Platform, ServerError> {
        if self.key.expose_secret().trim().is_empty() {
            let reason = "the key of the mem0 platform is empty: make one in its dashboard";
            return Err(ServerError::Settings(reason.to_owned()));
        }
        let http = Http::new("the mem0 platform", &self.url, self.deadline)?;
        let http = http.sign_in(AUTHORIZATION, "Token ", self.key)?;
        Ok(Mem0Platform { http, agent_memories: self.agent_memories, wait: self.wait })
    }
}

impl fmt::Debug for Mem0PlatformBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mem0PlatformBuilder")
            .field("url", &shown_url(&self.url))
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl Mem0 for Mem0Platform {
    fn search(&self, search: Mem0Search) -> BoxFuture<'_, Result<Vec<Mem0Memory>, BoxError>> {
        Box::pin(async move {
            let user = json!({"user_id": search.user_id});
            let filters = match &search.agent_id {
                Some(agent) if self.agent_memories => json!({"OR": [user, {"agent_id": agent}]}),
                _ => user,
            };
            let body = search_body(&search, filters);
            let answer = self.http.call(Method::POST, "v3/memories/search/", Some(&body)).await?;
            let answer = without_other_users(answer, &search.user_id);
            Ok(answers::memories(&self.http, &answer)?)
        })
    }

    fn add(&self, add: Mem0Add) -> BoxFuture<'_, Result<Mem0Added, BoxError>> {
        Box::pin(async move {
            let answer = self.http.call(Method::POST, "v3/memories/add/", Some(&add_body(&add))).await?;
            match answers::added(&self.http, &answer)? {
                Mem0Added::Pending { event_id: Some(event_id) } if !self.wait.is_zero() => {
                    Ok(self.wait_for(event_id).await?)
                }
                added => Ok(added),
            }
        })
    }
}

/// Leaves out what says of itself that it is another user's.
fn without_other_users(mut answer: Value, user_id: &str) -> Value {
    if let Some(results) = answer.get_mut("results").and_then(Value::as_array_mut) {
        results.retain(|result| result["user_id"].as_str().is_none_or(|of| of == user_id));
    }
    answer
}
