//! The recorder as a layer.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use cepa_core::{
    BoxFuture, Cx, HookSet, Id, Inputs, Middleware, Msg, Next, OrderRule, Reply, ReplyInput, Result,
};

use super::WavRecorder;

/// Writes what each reply says to a WAV file, at the end of the call. It stands outside of (before)
/// [`TtsMiddleware`](crate::TtsMiddleware).
///
/// The file is written whatever became of the reply, if it said something; not when the reader has gone away. A file
/// that cannot be written is logged as a warning, and no fault of the reply. [`WavRecorder`] tells its errors.
///
/// A reply that pauses for an answer is written at the pause. When it goes on, in a call of its own, what it says then is
/// added to the file.
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
pub struct RecordSpeech(Arc<File>);

struct File {
    path: Box<dyn Fn(&Id) -> PathBuf + Send + Sync>,
    /// The reply whose speech is in the file, where all replies share one.
    holds: Option<Mutex<Option<Id>>>,
}

impl RecordSpeech {
    /// Writes each reply to this file: the last one stays. Its folder must exist.
    ///
    /// A reply that goes on after a pause begins the file anew where another reply was written meanwhile, and where the
    /// program was started again: [`RecordSpeech::to_each`] keeps the first part there, too.
    pub fn to(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self(Arc::new(File { path: Box::new(move |_| path.clone()), holds: Some(Mutex::default()) }))
    }

    /// Writes each reply to the file that the function names by the reply's id. A reply that goes on after a pause has
    /// the same id, and the file that is there is its own.
    pub fn to_each(path: impl Fn(&Id) -> PathBuf + Send + Sync + 'static) -> Self {
        Self(Arc::new(File { path: Box::new(path), holds: None }))
    }
}

impl File {
    /// Whether the file that is there, if one is, is of this reply.
    fn is_of(&self, reply_id: &Id) -> bool {
        self.holds.as_ref().is_none_or(|holds| {
            holds.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(reply_id)
        })
    }

    fn was_written(&self, reply_id: Id) {
        if let Some(holds) = &self.holds {
            *holds.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply_id);
        }
    }
}

/// Whether a reply goes on that has paused.
fn goes_on(inputs: &Inputs) -> bool {
    matches!(
        inputs,
        Inputs::UserConfirmResult(_) | Inputs::ExternalExecutionResult(_) | Inputs::UserInterrupt(_)
    )
}

impl Middleware for RecordSpeech {
    fn hooks(&self) -> HookSet {
        HookSet::REPLY
    }

    fn order(&self) -> &'static [OrderRule] {
        const RULES: &[OrderRule] =
            &[OrderRule::outside_of("TtsMiddleware", "inside, it hears nothing, and no file is written")];
        RULES
    }

    fn on_reply(
        self: Arc<Self>,
        cx: Cx<Reply>,
        input: ReplyInput,
        next: Next<Reply>,
    ) -> BoxFuture<'static, Result<Msg>> {
        Box::pin(async move {
            let reply_id = cx.reply_id()?;
            let path = (self.0.path)(&reply_id);
            let mut recorder = match goes_on(&input.inputs) && self.0.is_of(&reply_id) {
                true => WavRecorder::going_on(&path),
                false => WavRecorder::new(&path),
            };
            let result = next.tap(input, |event| recorder.feed(event)).await;
            // Writing a file blocks.
            let written = tokio::task::spawn_blocking(move || recorder.finish()).await;
            let path = path.display();
            match written {
                Ok(Ok(Some(recording))) => {
                    self.0.was_written(reply_id);
                    for why in recording.left_out {
                        tracing::warn!(%path, why, "a part of what the reply said is not recorded");
                    }
                }
                Ok(Err(error)) => tracing::warn!(%path, %error, "what the reply said is not recorded"),
                _ => {}
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
