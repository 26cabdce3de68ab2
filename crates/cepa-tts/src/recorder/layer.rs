//! The recorder as a layer.

use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use cepa_core::{BoxFuture, Cx, HookSet, Id, Inputs, Middleware, Msg, Next, OrderRule, Reply, ReplyInput};

use super::{RecordError, Recording, WavRecorder};

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
    /// Writes what a reply said, which goes on after a pause or not. (It blocks.)
    fn write(
        &self,
        mut recorder: WavRecorder,
        reply_id: Id,
        goes_on: bool,
    ) -> Result<Option<Recording>, RecordError> {
        let Some(holds) = &self.holds else {
            recorder.goes_on = goes_on;
            return recorder.finish();
        };
        let mut holds = holds.lock().unwrap_or_else(PoisonError::into_inner);
        recorder.goes_on = goes_on && holds.as_ref() == Some(&reply_id);
        let recording = recorder.finish()?;
        if recording.is_some() {
            *holds = Some(reply_id);
        }
        Ok(recording)
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
    ) -> BoxFuture<'static, cepa_core::Result<Msg>> {
        Box::pin(async move {
            let reply_id = cx.reply_id()?;
            let path = (self.0.path)(&reply_id);
            let (mut recorder, goes_on) = (WavRecorder::new(&path), goes_on(&input.inputs));
            let result = next.tap(input, |event| recorder.feed(event)).await;
            let file = self.0.clone();
            let written = tokio::task::spawn_blocking(move || file.write(recorder, reply_id, goes_on)).await;
            let path = path.display();
            match written {
                Ok(Ok(Some(recording))) => {
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
