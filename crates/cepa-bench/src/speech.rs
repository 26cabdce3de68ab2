//! How soon speech is heard, and what it holds up: in real time, with a model and a synthesiser of known delays.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{
    Agent, BoxFuture, ChatChunk, ChatModel, ChatResponse, DataDelta, EventKind, ModelOutlet, ModelRequest,
    Result as CepaResult,
};
use cepa_models::{AudioChunk, TtsAudio, TtsModel, TtsSession, TtsText};
use cepa_tts::{Per, TtsMiddleware};

use crate::{
    Error, Figure, Goal, Report,
    samples::{By, Samples},
};

const ROUNDS: usize = 7;
const SENTENCES: usize = 25;
/// Between the words of a sentence.
const WORD: Duration = Duration::from_millis(10);
const WORDS: [&str; 4] = ["Layers ", "of ", "an ", "onion. "];
/// Until a sentence is heard, and between its pieces of audio.
const PIECE: Duration = Duration::from_millis(8);
const PIECES: usize = 4;

/// Takes all the measurements. About half a minute.
///
/// # Errors
/// A reply that fails, or that is not spoken.
pub fn run() -> Result<Report, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let [mut delay, mut first, mut overlap] = [Samples::default(), Samples::default(), Samples::default()];
    for round in 0..=ROUNDS {
        let silent = runtime.block_on(reply(false))?;
        let spoken = runtime.block_on(reply(true))?;
        // The first round warms up.
        if round > 0 {
            delay.add(spoken.text_delay() - silent.text_delay());
            first.add(spoken.first_audio()?);
            overlap.add(spoken.overlap());
        }
    }
    let figure = |name, goal, samples: &Samples| {
        let median = samples.by(By::Median);
        Figure { name, goal: Some(goal), best: median, median: Some(median) }
    };
    let figures = vec![
        figure("text_delay_ms", Goal::AtMost(0.0), &delay),
        figure("first_audio_ms", Goal::AtMost(5.0), &first),
        figure("overlap", Goal::AtLeast(0.9), &overlap),
    ];
    Ok(Report { name: "tts", figures })
}

/// When things happened.
#[derive(Default)]
struct Times {
    /// Pieces of text, as the model sent them and as the reader got them.
    written: Vec<Instant>,
    read: Vec<Instant>,
    /// The first piece of audio, as the synthesiser sent it and as the reader got it.
    first_sent: Option<Instant>,
    first_heard: Option<Instant>,
    speaking: Duration,
    whole: Duration,
}

impl Times {
    /// Milliseconds from the model to the reader, in the middle.
    fn text_delay(&self) -> f64 {
        let mut delays = Samples::default();
        for (written, read) in self.written.iter().zip(&self.read) {
            delays.add(ms(read.duration_since(*written)));
        }
        delays.by(By::Median)
    }

    fn first_audio(&self) -> Result<f64, Error> {
        let (Some(sent), Some(heard)) = (self.first_sent, self.first_heard) else {
            return Err("nothing was heard".into());
        };
        Ok(ms(heard.duration_since(sent)))
    }

    /// How much of the shorter of text and speech ran beside the other.
    fn overlap(&self) -> f64 {
        let text = WORD * (SENTENCES * WORDS.len()) as u32;
        let shorter = text.min(self.speaking);
        (ms(text + self.speaking) - ms(self.whole)) / ms(shorter)
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Times that a model, a synthesiser and a reader share.
#[derive(Clone, Debug, Default)]
struct Clock(Arc<Mutex<Times>>);

impl std::fmt::Debug for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Times").finish_non_exhaustive()
    }
}

impl Clock {
    fn note<R>(&self, note: impl FnOnce(&mut Times) -> R) -> R {
        note(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn reply(aloud: bool) -> Result<Times, Error> {
    let clock = Clock::default();
    let mut builder = Agent::builder("Friday").model(Writer(clock.clone()));
    if aloud {
        builder = builder
            .middleware(TtsMiddleware::builder(Synthesiser(clock.clone())).per(Per::Sentence).build()?);
    }
    let mut agent = builder.build()?;
    let began = Instant::now();
    let mut events = agent.reply("Go on.").stream();
    while let Some(event) = events.next().await {
        let now = Instant::now();
        match &event.kind {
            EventKind::TextBlockDelta { .. } => clock.note(|times| times.read.push(now)),
            EventKind::DataBlockDelta { delta: DataDelta::Base64(data), .. } => {
                STANDARD.decode(data)?;
                clock.note(|times| _ = times.first_heard.get_or_insert(now));
            }
            _ => {}
        }
    }
    events.finish().await?;
    clock.note(|times| times.whole = began.elapsed());
    Ok(clock.note(std::mem::take))
}

/// Writes words at an even pace.
#[derive(Debug)]
struct Writer(Clock);

impl ChatModel for Writer {
    fn name(&self) -> &str {
        "writer"
    }

    fn call(&self, _request: ModelRequest, out: ModelOutlet) -> BoxFuture<'_, CepaResult<ChatResponse>> {
        Box::pin(async move {
            let mut pace = tokio::time::interval(WORD);
            for word in WORDS.iter().cycle().take(SENTENCES * WORDS.len()) {
                pace.tick().await;
                self.0.note(|times| times.written.push(Instant::now()));
                out.emit(ChatChunk::text(*word)).await;
            }
            Ok(ChatResponse::streamed())
        })
    }
}

/// Takes a known time for each sentence.
#[derive(Debug)]
struct Synthesiser(Clock);

impl TtsModel for Synthesiser {
    fn name(&self) -> &str {
        "synthesiser"
    }

    fn connect(&self) -> BoxFuture<'_, CepaResult<Box<dyn TtsSession>>> {
        Box::pin(async { Ok(Box::new(Session(self.0.clone())) as Box<dyn TtsSession>) })
    }
}

struct Session(Clock);

impl TtsSession for Session {
    fn speak<'a>(&'a mut self, mut text: TtsText, audio: TtsAudio) -> BoxFuture<'a, CepaResult<()>> {
        Box::pin(async move {
            while text.next().await.is_some() {
                let began = Instant::now();
                for _ in 0..PIECES {
                    tokio::time::sleep(PIECE).await;
                    self.0.note(|times| _ = times.first_sent.get_or_insert_with(Instant::now));
                    audio.send(AudioChunk::pcm(24_000, vec![0; 480])).await;
                }
                self.0.note(|times| times.speaking += began.elapsed());
            }
            Ok(())
        })
    }
}
