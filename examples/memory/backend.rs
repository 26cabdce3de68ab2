//! Where memories are kept.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use cepa::{
    Middleware,
    memory::{
        AgenticMemoryMiddleware, ReMe as _, ReMeMiddleware, ReMeService,
        mem0::{Mem0Middleware, Mem0Server},
    },
};

use serde_json::{Map, Value};

use crate::{
    Outcome,
    options::{Kind, Options},
};

/// How long writes may take that a reply did not wait for.
const WRITING: Duration = Duration::from_secs(60);
/// How long ReMe may take to read its files again.
const READING: Duration = Duration::from_secs(30);

pub(crate) enum Backend {
    Files {
        layer: Arc<AgenticMemoryMiddleware>,
        folder: PathBuf,
        _gone_at_the_end: Option<tempfile::TempDir>,
    },
    Mem0(Arc<Mem0Middleware>, String),
    ReMe {
        layer: Arc<ReMeMiddleware>,
        service: Box<ReMeService>,
        url: String,
        /// What it knew at the beginning of what will be told.
        known: Value,
    },
}

impl Backend {
    pub(crate) async fn open(options: &Options, is_language_model: bool) -> Outcome<Self> {
        let url = |usual: &str| options.url.clone().unwrap_or_else(|| usual.to_owned());
        Ok(match options.kind {
            Kind::Agentic => {
                let (folder, gone_at_the_end) = match &options.folder {
                    Some(folder) => (folder.clone(), None),
                    None => {
                        let temporary = tempfile::tempdir()?;
                        (temporary.path().to_owned(), Some(temporary))
                    }
                };
                std::fs::create_dir_all(&folder)?;
                // Choosing memories by a model takes one that can choose.
                let layer = AgenticMemoryMiddleware::builder(&folder).retrieval(is_language_model).build()?;
                Self::Files { layer: Arc::new(layer), folder, _gone_at_the_end: gone_at_the_end }
            }
            Kind::Mem0 => {
                let url = url("http://127.0.0.1:8000");
                let layer = Mem0Middleware::builder(Mem0Server::builder(&url).build()?)
                    .user_id("example")
                    // A server without a language model keeps what it is told as it is.
                    .infer(is_language_model)
                    .build()?;
                Self::Mem0(Arc::new(layer), url)
            }
            Kind::ReMe => {
                let url = url("http://127.0.0.1:8002");
                let service = ReMeService::builder(&url).build()?;
                // A reply of one round would be over before the search is.
                let layer = ReMeMiddleware::builder(service.clone()).wait_up_to(Duration::from_secs(5));
                let layer = Arc::new(layer.connect().await?);
                let known = found(&service, &options.told).await?;
                Self::ReMe { layer, service: Box::new(service), url, known }
            }
        })
    }

    pub(crate) fn layer(&self) -> Arc<dyn Middleware> {
        match self {
            Self::Files { layer, .. } => layer.clone(),
            Self::Mem0(layer, _) => layer.clone(),
            Self::ReMe { layer, .. } => layer.clone(),
        }
    }

    /// Waits for what is written in the background.
    pub(crate) async fn flush(&self) -> Outcome {
        match self {
            Self::Files { .. } => {}
            Self::Mem0(layer, _) => layer.flush(WRITING).await?,
            Self::ReMe { layer, .. } => layer.flush(WRITING).await?,
        }
        Ok(())
    }

    /// Waits until what was told can be found. ReMe reads its files every few seconds, and finds nothing before.
    pub(crate) async fn finds(&self, told: &str) -> Outcome {
        if let Self::ReMe { service, known, .. } = self {
            println!("(ReMe reads its files every few seconds.)");
            let reading = async {
                while found(service, told).await? == *known {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                Outcome::Ok(())
            };
            match tokio::time::timeout(READING, reading).await {
                Ok(outcome) => outcome?,
                Err(_) => println!("(It has found nothing new. Has it got a language model?)"),
            }
        }
        Ok(())
    }
}

/// What a service finds.
async fn found(service: &ReMeService, query: &str) -> Outcome<Value> {
    let query = Map::from_iter([("query".to_owned(), query.into())]);
    let mut answer = service.run("search", query).await?;
    Ok(answer.metadata.remove("results").unwrap_or_default())
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files { folder, .. } => write!(f, "Markdown files in {}", folder.display()),
            Self::Mem0(_, url) => write!(f, "mem0 at {url}"),
            Self::ReMe { url, .. } => write!(f, "ReMe at {url}"),
        }
    }
}
