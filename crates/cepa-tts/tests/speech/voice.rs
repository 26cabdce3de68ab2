//! A speech model for tests: its audio is what it was told to say.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use cepa_core::{BoxFuture, ErrorType, ModelError, Result};
use cepa_models::{AudioChunk, TtsAudio, TtsModel, TtsSession, TtsText};

/// What a voice does for one text, or for one piece of a text that is still written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Says this.
    Say(&'static str),
    /// Says what it was told.
    Echo,
    Wait(Duration),
    Hang,
    Fail,
    Panic,
    /// Says this without an end, as long as somebody listens.
    Endless(&'static str),
}

/// A voice that does the same for each text, but for the first ones where other things are set.
#[derive(Clone)]
pub(crate) struct Voice {
    realtime: bool,
    first: Arc<Mutex<VecDeque<Vec<Act>>>>,
    acts: Vec<Act>,
    connects: Vec<Act>,
    known: Arc<Known>,
}

/// What is known of a voice.
#[derive(Default)]
struct Known {
    told: Mutex<Vec<String>>,
    connected: AtomicUsize,
    open: AtomicUsize,
    closed: AtomicUsize,
}

impl Voice {
    /// Says each text at once.
    pub(crate) fn new() -> Self {
        Self::acting([Act::Echo])
    }

    /// Says each text after so many seconds.
    pub(crate) fn slow(seconds: u64) -> Self {
        Self::acting([Act::Wait(Duration::from_secs(seconds)), Act::Echo])
    }

    /// Says something without an end, and without a pause.
    pub(crate) fn endless() -> Self {
        Self::acting([Act::Endless("x")])
    }

    /// Does this for each text.
    pub(crate) fn acting(acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            realtime: false,
            first: Arc::default(),
            acts: acts.into_iter().collect(),
            connects: Vec::new(),
            known: Arc::default(),
        }
    }

    /// Does this for the next text that has nothing of its own yet.
    pub(crate) fn first(self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.first.lock().unwrap().push_back(acts.into_iter().collect());
        self
    }

    /// Does this when it connects.
    pub(crate) fn connecting(mut self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.connects = acts.into_iter().collect();
        self
    }

    /// Says each piece of a text as it comes, and `.` at its end.
    pub(crate) fn realtime(mut self) -> Self {
        self.realtime = true;
        self
    }

    /// The texts, or pieces of text, that it was told.
    pub(crate) fn told(&self) -> Vec<String> {
        self.known.told.lock().unwrap().clone()
    }

    /// How many sessions there were.
    pub(crate) fn sessions(&self) -> usize {
        self.known.connected.load(SeqCst)
    }

    /// How many sessions there are.
    pub(crate) fn open(&self) -> usize {
        self.known.open.load(SeqCst)
    }

    /// How many sessions were ended in good order.
    pub(crate) fn closed(&self) -> usize {
        self.known.closed.load(SeqCst)
    }

    async fn tell(&self, text: &str, audio: &TtsAudio) -> Result<()> {
        self.known.told.lock().unwrap().push(text.to_owned());
        let acts = self.first.lock().unwrap().pop_front().unwrap_or_else(|| self.acts.clone());
        act(&acts, text, Some(audio)).await
    }
}

async fn act(acts: &[Act], text: &str, audio: Option<&TtsAudio>) -> Result<()> {
    for act in acts {
        let said = match act {
            Act::Say(said) => said,
            Act::Echo => text,
            Act::Wait(time) => {
                tokio::time::sleep(*time).await;
                continue;
            }
            Act::Hang => std::future::pending().await,
            Act::Endless(said) => {
                while let Some(audio) = audio
                    && audio.send(AudioChunk::pcm(8_000, *said)).await
                {}
                continue;
            }
            Act::Panic => panic!("the voice breaks"),
            Act::Fail => return Err(ModelError::new(ErrorType::RateLimit, "too many requests").into()),
        };
        if let Some(audio) = audio {
            audio.send(AudioChunk::pcm(8_000, said)).await;
        }
    }
    Ok(())
}

impl TtsModel for Voice {
    fn name(&self) -> &str {
        "voice"
    }

    fn is_realtime(&self) -> bool {
        self.realtime
    }

    fn connect(&self) -> BoxFuture<'_, Result<Box<dyn TtsSession>>> {
        Box::pin(async {
            self.known.connected.fetch_add(1, SeqCst);
            act(&self.connects, "", None).await?;
            self.known.open.fetch_add(1, SeqCst);
            Ok(Box::new(Session(self.clone())) as Box<dyn TtsSession>)
        })
    }
}

struct Session(Voice);

impl TtsSession for Session {
    fn speak<'a>(&'a mut self, mut text: TtsText, audio: TtsAudio) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            if !self.0.realtime {
                let mut whole = String::new();
                while let Some(piece) = text.next().await {
                    whole += &piece;
                }
                return self.0.tell(&whole, &audio).await;
            }
            while let Some(piece) = text.next().await {
                self.0.tell(&piece, &audio).await?;
            }
            act(&[Act::Say(".")], "", Some(&audio)).await
        })
    }

    fn close(self: Box<Self>, _limit: Duration) -> BoxFuture<'static, ()> {
        self.0.known.closed.fetch_add(1, SeqCst);
        Box::pin(std::future::ready(()))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.0.known.open.fetch_sub(1, SeqCst);
    }
}

impl fmt::Debug for Voice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Voice")
    }
}
