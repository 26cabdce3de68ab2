//! The ReMe service, over HTTP.

use std::{fmt, time::Duration};

use cepa_core::BoxFuture;
use cepa_http::{AUTHORIZATION, Http, Method, ServerError, shown_url};
use serde_json::{Map, Value};

use super::{JobAnswer, ReMe, ReMeError};

/// The longest that any job may take. The layer has shorter deadlines of its own.
const DEADLINE: Duration = Duration::from_secs(300);

/// A ReMe service, as `reme start` starts it: each job is a `POST` of a JSON object (ReMe 0.4).
///
/// Clones share their connections.
///
/// ```
/// # fn main() -> Result<(), cepa_memory::ReMeError> {
/// let reme = cepa_memory::ReMeService::builder("http://127.0.0.1:8002").build()?;
/// # let _ = reme; Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ReMeService {
    http: Http,
}

/// Sets a [`ReMeService`] up.
#[must_use = "nothing is built until `build()`"]
#[derive(Clone)]
pub struct ReMeServiceBuilder {
    url: String,
    token: Option<secrecy::SecretString>,
    deadline: Duration,
}

impl ReMeService {
    /// The service at this URL.
    pub fn builder(url: impl Into<String>) -> ReMeServiceBuilder {
        ReMeServiceBuilder { url: url.into(), token: None, deadline: DEADLINE }
    }
}

impl ReMeServiceBuilder {
    /// A token for what guards the service, sent as `Authorization: Bearer`. ReMe itself asks for none.
    pub fn bearer_token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into().into());
        self
    }

    /// The longest that any job may take. 5 minutes by default; the layer has shorter deadlines of its own.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Checks the settings. Nothing is sent yet.
    ///
    /// # Errors
    /// A URL that is none, a deadline of 0, a token that no header can hold.
    pub fn build(self) -> Result<ReMeService, ReMeError> {
        let mut http = Http::new("ReMe", &self.url, self.deadline)?;
        if let Some(token) = self.token {
            http = http.sign_in(AUTHORIZATION, "Bearer ", token)?;
        }
        Ok(ReMeService { http })
    }
}

impl fmt::Debug for ReMeServiceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReMeServiceBuilder")
            .field("url", &shown_url(&self.url))
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

impl ReMe for ReMeService {
    fn run<'a>(
        &'a self,
        job: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<JobAnswer, ReMeError>> {
        Box::pin(async move {
            // The name becomes a part of the URL.
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if job.is_empty() || !job.chars().all(is_plain) {
                return Err(ReMeError::NoSuchJob { job: job.to_owned() });
            }
            match self.http.call(Method::POST, job, Some(&arguments)).await {
                Ok(answer) => self.read(job, answer),
                Err(ServerError::Refused { status: 404, .. }) => {
                    Err(ReMeError::NoSuchJob { job: job.to_owned() })
                }
                Err(error) => Err(error.into()),
            }
        })
    }

    fn jobs(&self) -> BoxFuture<'_, Result<Vec<String>, ReMeError>> {
        Box::pin(async {
            let api = self.http.call(Method::GET, "openapi.json", None::<&()>).await?;
            let Some(paths) = api["paths"].as_object() else {
                return Err(self.http.nonsense("its openapi.json has no paths").into());
            };
            Ok(paths.keys().map(|path| path.trim_start_matches('/').to_owned()).collect())
        })
    }
}

impl ReMeService {
    /// A failure is told in the answer, under a status of 200.
    fn read(&self, job: &str, mut answer: Value) -> Result<JobAnswer, ReMeError> {
        match answer["success"].as_bool() {
            Some(true) => {
                let metadata = match answer["metadata"].take() {
                    Value::Object(metadata) => metadata,
                    _ => Map::new(),
                };
                Ok(JobAnswer { answer: answer["answer"].take(), metadata })
            }
            Some(false) => {
                let words = match &answer["answer"] {
                    Value::String(words) => self.http.words(words),
                    other => self.http.words(&other.to_string()),
                };
                Err(ReMeError::Failed { job: job.to_owned(), words })
            }
            None => Err(self.http.nonsense(format_args!("`{job}` does not say whether it succeeded")).into()),
        }
    }
}
