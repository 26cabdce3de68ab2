//! Speech as a layer.

use std::{fmt, sync::Arc};

use cepa_core::{
    AgentEvent, BoxFuture, Cx, EventKind, FinishedReason, HookSet, Middleware, Msg, Next, Reply,
    ReplyFinishedReason, ReplyInput, Result,
};
use cepa_models::TtsModel;

use crate::{
    builder::Builder,
    settings::Settings,
    voice::{Step, Voice},
};

/// Speaks what the agent writes (AgentScope 2.0.11's `TTSMiddleware`): the audio comes as `DATA_BLOCK_*` events in the
/// reply's stream, one audio block per text block, in the order of the text blocks. Each delta is base64 of its own:
/// decode, then join. (A model whose audio does not [join](TtsModel::joins) has a block for each text that it is given.)
///
/// Speech runs beside the text. Text, tools and later rounds never wait for it; `REPLY_END`, and the end of a call that
/// waits for a person, come when what was written is spoken. How long that may take is set by deadlines: a model that
/// hangs holds them up for two text blocks at most, each as long as the limits for connecting and for the first audio (25 s
/// by default). The audio goes to the user, not into the context.
///
/// - An interrupt stops speech at once: the open audio block is ended and no audio comes after it.
/// - A speech model that fails, panics or is too slow is logged as a warning. Its block is ended, the reply goes on, and the
///   next text block is tried again, in a new session; after two such blocks in a row the rest of the reply is not spoken. A
///   filter that panics costs its block, too.
/// - One session per reply, opened at the first text that says something. Two replies never share one. A text block
///   with nothing to say, that is without a letter or a digit, makes no request.
///
/// It speaks what left the layers inside of it: a layer that hides words belongs inside (after it in the list), one that
/// shows them to others, or records the audio, outside.
///
/// ```
/// use cepa_core::{Agent, BoxFuture, Result, testing::{EventLog, ScriptedModel}};
/// use cepa_models::{AudioChunk, TtsAudio, TtsModel, TtsSession, TtsText};
/// use cepa_tts::TtsMiddleware;
///
/// # #[derive(Debug)] struct Beeper;
/// # impl TtsModel for Beeper {
/// #     fn name(&self) -> &str { "beeper" }
/// #     fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
/// #         Box::pin(async { Ok(Box::new(Beep) as Box<dyn TtsSession>) })
/// #     }
/// # }
/// # struct Beep;
/// # impl TtsSession for Beep {
/// #     fn speak<'a>(&'a mut self, mut text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
/// #         Box::pin(async move {
/// #             while text.next().await.is_some() {
/// #                 audio.send(AudioChunk::pcm(8_000, [0, 64, 0, 192])).await;
/// #             }
/// #             Ok(())
/// #         })
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let speech = TtsMiddleware::new(Beeper); // any speech model
/// let mut agent = Agent::builder("Friday").model(ScriptedModel::new(["Hello"])).middleware(speech).build()?;
/// let log = EventLog::of(agent.reply("Hi")).await;
/// log.only(["DATA_BLOCK_START", "DATA_BLOCK_DELTA", "DATA_BLOCK_END", "REPLY_END"]).assert([
///     "DATA_BLOCK_START audio/pcm;rate=8000",
///     "DATA_BLOCK_DELTA",
///     "DATA_BLOCK_END",
///     "REPLY_END completed",
/// ]);
/// # Ok(()) }
/// ```
pub struct TtsMiddleware(Arc<Settings>);

impl TtsMiddleware {
    /// Speech by this model, which may be given by value or in an [`Arc`], with the settings that a [`Builder`] has.
    pub fn new(model: impl TtsModel) -> Self {
        Self::with(Builder::new(model).into_settings())
    }

    /// Speech by this model, to be set up.
    pub fn builder(model: impl TtsModel) -> Builder {
        Builder::new(model)
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self(Arc::new(settings))
    }
}

// By hand rather than by `#[middleware]`: it keeps nothing, so it has no key, and two of them may stand in one agent.
impl Middleware for TtsMiddleware {
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
            let mut voice = Voice::new(&cx, &self.0);
            let mut items = next.stream(input);
            let result = loop {
                match voice.step(Some(&mut items)).await {
                    Step::Interrupted => voice.stop().await,
                    Step::Audio(spoken) => voice.send(spoken).await,
                    Step::Event(Some(event)) => {
                        voice.hear(&event);
                        match effect(&event) {
                            Effect::None => {}
                            Effect::Speaks => voice.speak_to_the_end().await,
                            Effect::Stops => voice.stop().await,
                        }
                        voice.emit(event).await;
                    }
                    Step::Event(None) => break items.finish().await,
                }
            };
            match &result {
                Ok(_) => {
                    voice.speak_to_the_end().await;
                    voice.close().await;
                }
                Err(_) => voice.stop().await,
            }
            result
        })
    }
}

/// What an event means for speech.
enum Effect {
    None,
    /// It waits until all is spoken.
    Speaks,
    /// Speech stops before it.
    Stops,
}

fn effect(event: &AgentEvent) -> Effect {
    match &event.kind {
        EventKind::ReplyEnd { finished_reason, .. } => match finished_reason {
            ReplyFinishedReason::Interrupted | ReplyFinishedReason::Error => Effect::Stops,
            _ => Effect::Speaks,
        },
        EventKind::ModelCallEnd { finished_reason: FinishedReason::Interrupted, .. } => Effect::Stops,
        _ => Effect::None,
    }
}

impl fmt::Debug for TtsMiddleware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TtsMiddleware").field(&self.0).finish()
    }
}
