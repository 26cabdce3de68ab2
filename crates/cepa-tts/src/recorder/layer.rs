//! The recorder as a layer.

use std::{fmt, path::PathBuf, sync::Arc};

use cepa_core::{BoxFuture, Cx, HookSet, Id, Middleware, Msg, Next, Reply, ReplyInput, Result};

use super::WavRecorder;

/// Writes what each reply says to a WAV file, at the end of the call. It stands outside of (before)
/// [`TtsMiddleware`](crate::TtsMiddleware).
///
/// The file is written whatever became of the reply, if it said something; not when the reader has gone away. A file
/// that cannot be written is logged as a warning, and no fault of the reply. [`WavRecorder`] tells its errors.
///
/// ```
/// use cepa_tts::RecordSpeech;
///
/// let last = RecordSpeech::to("reply.wav"); // the last reply
/// let each = RecordSpeech::to_each(|reply_id| format!("replies/{reply_id}.wav").into());
/// // Agent::builder("Friday").middleware(each).middleware(TtsMiddleware::new(model))…
/// # let _ = (last, each);
/// ```
#[derive(Clone)]
pub struct RecordSpeech(Arc<dyn Fn(&Id) -> PathBuf + Send + Sync>);

impl RecordSpeech {
    /// Writes each reply to this file: the last one stays. Its folder must exist.
    pub fn to(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self::to_each(move |_| path.clone())
    }

    /// Writes each reply to the file that the function names by the reply's id. A reply that goes on after a pause has
    /// the same id.
    pub fn to_each(path: impl Fn(&Id) -> PathBuf + Send + Sync + 'static) -> Self {
        Self(Arc::new(path))
    }
}

impl Middleware for RecordSpeech {
    fn hooks(&self) -> HookSet {
        HookSet::REPLY
    }

    fn on_reply(
        self: Arc<Self>,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        Box::pin(async move {
            let path = (self.0)(&cx.reply_id()?);
            let mut recorder = WavRecorder::new(&path);
            let result = next.tap(input, |event| recorder.feed(event)).await;
            // Writing a file blocks.
            let written = tokio::task::spawn_blocking(move || recorder.finish()).await;
            if let Ok(Err(error)) = written {
                tracing::warn!(path = %path.display(), %error, "what the reply said is not recorded");
            }
            result
        })
    }
}

impl fmt::Debug for RecordSpeech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordSpeech")
    }
}
