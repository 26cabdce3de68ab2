//! Where memories are kept.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use cepa::{
    Middleware,
    memory::{
        AgenticMemoryMiddleware, ReMeMiddleware, ReMeService,
        mem0::{Mem0Middleware, Mem0Server},
    },
};

use crate::{
    Outcome,
    options::{Kind, Options},
};

/// How long writes may take that a reply did not wait for.
const WRITING: Duration = Duration::from_secs(60);

pub(crate) enum Backend {
    Files {
        layer: Arc<AgenticMemoryMiddleware>,
        folder: PathBuf,
        _gone_at_the_end: Option<tempfile::TempDir>,
    },
    Mem0(Arc<Mem0Middleware>, String),
    ReMe(Arc<ReMeMiddleware>, String),
}

impl Backend {
    pub(crate) fn open(options: &Options, is_language_model: bool) -> Outcome<Self> {
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
                let layer = ReMeMiddleware::builder(ReMeService::builder(&url).build()?).build()?;
                Self::ReMe(Arc::new(layer), url)
            }
        })
    }

    pub(crate) fn layer(&self) -> Arc<dyn Middleware> {
        match self {
            Self::Files { layer, .. } => layer.clone(),
            Self::Mem0(layer, _) => layer.clone(),
            Self::ReMe(layer, _) => layer.clone(),
        }
    }

    /// Waits for what is written in the background.
    pub(crate) async fn flush(&self) -> Outcome {
        match self {
            Self::Files { .. } => {}
            Self::Mem0(layer, _) => layer.flush(WRITING).await?,
            Self::ReMe(layer, _) => layer.flush(WRITING).await?,
        }
        Ok(())
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files { folder, .. } => write!(f, "Markdown files in {}", folder.display()),
            Self::Mem0(_, url) => write!(f, "mem0 at {url}"),
            Self::ReMe(_, url) => write!(f, "ReMe at {url}"),
        }
    }
}
