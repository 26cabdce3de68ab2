//! The thread that the network runs on: its tokenizer cannot be shared by threads.

use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use tokio::sync::oneshot;

use super::network::Network;
use crate::ConfigError;

type Answer = Result<(Vec<f32>, u64), String>;

struct Job {
    text: String,
    answer: oneshot::Sender<Answer>,
}

/// A way to the thread. It ends when the last one is dropped.
#[derive(Clone, Debug)]
pub(super) struct Worker(mpsc::Sender<Job>);

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

impl Worker {
    pub(super) fn start(model: &Path, tokenizer: &Path) -> Result<Self, ConfigError> {
        let paths: (PathBuf, PathBuf) = (model.into(), tokenizer.into());
        let (jobs, waiting) = mpsc::channel::<Job>();
        let (loaded, is_loaded) = mpsc::sync_channel(1);
        let no_thread = |reason: String| ConfigError::BadFile { path: model.display().to_string(), reason };
        let work = move || {
            let network = match Network::load(&paths.0, &paths.1) {
                Ok(network) => network,
                Err(error) => {
                    let _ = loaded.send(Err(error));
                    return;
                }
            };
            if loaded.send(Ok(())).is_err() {
                return;
            }
            for job in waiting {
                // Whoever does not wait any longer is not worked for.
                if !job.answer.is_closed() {
                    let _ = job.answer.send(network.embed(&job.text));
                }
            }
        };
        thread::Builder::new()
            .name("minilm".to_owned())
            .spawn(work)
            .map_err(|error| no_thread(format!("no thread for it: {error}")))?;
        is_loaded.recv().map_err(|_| no_thread("reading it failed".to_owned()))??;
        Ok(Self(jobs))
    }

    pub(super) async fn embed(&self, text: String) -> Answer {
        let (answer, answered) = oneshot::channel();
        let gone = || "its thread has ended".to_owned();
        self.0.send(Job { text, answer }).map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}
