//! Speaks the text blocks of one reply, one after the other.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use cepa_core::BoxFuture;
use cepa_models::{AudioChunk, TtsAudioChunks, TtsSession, TtsText, TtsTextSender, tts_audio, tts_text};
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, error::TryRecvError, unbounded_channel,
};

use crate::{
    clock::Clock,
    deadlines::Failure,
    settings::{Per, Settings},
    wav::Joiner,
};

/// What comes out of a speaker.
#[derive(Debug)]
pub(crate) enum Spoken {
    Audio(AudioChunk),
    /// A text block was spoken, or was not.
    End,
}

/// The text of one block on its way to be spoken: pieces for a realtime model, whole texts for another one.
type BlockText = UnboundedReceiver<String>;

/// Speaks the text blocks of one reply. It runs while it is polled; dropping it stops speech at once.
pub(crate) struct Speaker {
    work: BoxFuture<'static, ()>,
    spoken: Receiver<Spoken>,
    texts: UnboundedSender<BlockText>,
    /// Text blocks that are not spoken yet.
    behind: usize,
}

impl Speaker {
    pub(crate) fn new(settings: &Arc<Settings>, clock: &Arc<Clock>) -> Self {
        let (texts, blocks) = unbounded_channel();
        // No more than one: what waits here would be heard after an interrupt, or thrown away.
        let (out, spoken) = channel(1);
        let work = Work { settings: settings.clone(), clock: clock.clone(), session: None, out };
        Self { work: Box::pin(work.run(blocks)), spoken, texts, behind: 0 }
    }

    /// Where the next text block goes. Dropping it ends the block.
    pub(crate) fn next_text(&mut self) -> UnboundedSender<String> {
        let (sender, block) = unbounded_channel();
        if self.texts.send(block).is_ok() {
            self.behind += 1;
        }
        sender
    }

    /// Whether something is left to say.
    pub(crate) fn is_behind(&self) -> bool {
        self.behind > 0
    }

    pub(crate) fn poll_next(&mut self, task: &mut Context<'_>) -> Poll<Spoken> {
        let mut spoken = self.spoken.poll_recv(task);
        // It ends when no more text can come, and is not polled after that.
        if spoken.is_pending() && self.work.as_mut().poll(task).is_pending() {
            spoken = self.spoken.poll_recv(task);
        }
        match spoken {
            Poll::Ready(Some(spoken)) => {
                self.behind -= usize::from(matches!(spoken, Spoken::End));
                Poll::Ready(spoken)
            }
            _ => Poll::Pending,
        }
    }

    /// Ends the session, when all is spoken.
    pub(crate) async fn close(self) {
        let Self { work, texts, spoken, .. } = self;
        drop(texts);
        work.await;
        drop(spoken);
    }
}

struct Work {
    settings: Arc<Settings>,
    clock: Arc<Clock>,
    /// Opened by the first text that says something, and again after a failure.
    session: Option<Box<dyn TtsSession>>,
    out: Sender<Spoken>,
}

impl Work {
    async fn run(mut self, mut blocks: UnboundedReceiver<BlockText>) {
        while let Some(block) = blocks.recv().await {
            if let Err(error) = self.block(block).await {
                self.session = None;
                let model = self.settings.model.name();
                tracing::warn!(model, %error, "a text block is not spoken to its end; the reply goes on");
            }
            _ = self.out.send(Spoken::End).await;
        }
        if let Some(session) = self.session {
            let limit = self.settings.deadlines.close;
            _ = tokio::time::timeout(limit, session.close(limit)).await;
        }
    }

    /// Speaks one text block.
    async fn block(&mut self, mut block: BlockText) -> Result<(), Failure> {
        let Some(mut text) = block.recv().await else { return Ok(()) };
        let Self { settings, clock, session, out } = self;
        let session = match session {
            Some(session) => session,
            None => session.insert(connect(settings, clock).await?),
        };
        let mut utterance =
            Utterance { settings, clock, out, joiner: Joiner::default(), spent: Duration::ZERO };
        if settings.model.is_realtime() {
            let (sender, pieces) = tts_text();
            sender.push(text);
            return utterance.speak(&mut **session, pieces, Some((sender, block))).await;
        }
        loop {
            // Whether more will come is known when the block was complete before it was spoken.
            let next = block.try_recv();
            utterance.joiner.begin(settings.per == Per::Sentence || next.is_ok());
            utterance.speak(&mut **session, TtsText::whole(text), None).await?;
            let next = match next {
                Ok(next) => Some(next),
                Err(TryRecvError::Empty) => block.recv().await,
                Err(TryRecvError::Disconnected) => None,
            };
            match next {
                Some(next) => text = next,
                None => return Ok(()),
            }
        }
    }
}

async fn connect(settings: &Settings, clock: &Clock) -> Result<Box<dyn TtsSession>, Failure> {
    let limit = settings.deadlines.connect;
    tokio::select! {
        biased;
        session = settings.model.connect() => Ok(session?),
        () = clock.reaches(clock.now() + limit) => Err(Failure::Connect(limit)),
    }
}

/// What the texts of one block share.
struct Utterance<'a> {
    settings: &'a Settings,
    clock: &'a Clock,
    out: &'a Sender<Spoken>,
    joiner: Joiner,
    /// The time that speaking the block took so far, beyond that in which it was written.
    spent: Duration,
}

impl Utterance<'_> {
    /// Speaks one text, whose pieces still come where `rest` is given.
    async fn speak(
        &mut self,
        session: &mut dyn TtsSession,
        text: TtsText,
        mut rest: Option<(TtsTextSender, BlockText)>,
    ) -> Result<(), Failure> {
        let (audio, mut chunks) = tts_audio();
        let mut speaking = session.speak(text, audio);
        let mut spoken = None;
        let mut complete = self.clock.now();
        let mut quiet = Quiet { since: complete, heard: false };
        let outcome = loop {
            tokio::select! {
                biased;
                result = &mut speaking, if spoken.is_none() => spoken = Some(result),
                chunk = next(&mut chunks, spoken.is_some()) => match chunk {
                    Some(chunk) => {
                        if let Some(chunk) = self.joiner.pass(chunk) {
                            _ = self.out.send(Spoken::Audio(chunk)).await;
                        }
                        quiet = Quiet { since: self.clock.now(), heard: true };
                    }
                    None => break Ok(()),
                },
                piece = next_piece(&mut rest) => if !piece {
                    // Only now the model can know what there is to say: silence counts from here.
                    complete = self.clock.now();
                    quiet.since = complete;
                },
                failure = self.too_late(quiet, complete), if rest.is_none() => break Err(failure),
            }
        };
        self.spent += self.clock.now().saturating_sub(complete);
        match spoken {
            Some(result) => outcome.and(result.map_err(Failure::from)),
            None => outcome,
        }
    }

    /// Waits until a deadline has passed.
    async fn too_late(&self, quiet: Quiet, complete: Duration) -> Failure {
        let deadlines = &self.settings.deadlines;
        let (limit, failure): (_, fn(Duration) -> Failure) = match quiet.heard {
            true => (deadlines.next_audio, Failure::NextAudio),
            false => (deadlines.first_audio, Failure::FirstAudio),
        };
        let block = complete + deadlines.block.saturating_sub(self.spent);
        if block < quiet.since + limit {
            self.clock.reaches(block).await;
            return Failure::Block(deadlines.block);
        }
        self.clock.reaches(quiet.since + limit).await;
        failure(limit)
    }
}

/// Nothing was heard since then.
#[derive(Clone, Copy)]
struct Quiet {
    since: Duration,
    /// Something was heard before.
    heard: bool,
}

/// The next piece of audio; `None` when there will be none. A session that speaks may put its way out down early.
async fn next(chunks: &mut TtsAudioChunks, is_spoken: bool) -> Option<AudioChunk> {
    match chunks.next().await {
        None if !is_spoken => std::future::pending().await,
        chunk => chunk,
    }
}

/// Passes a piece of text on; `false` at the end of the text, once.
async fn next_piece(rest: &mut Option<(TtsTextSender, BlockText)>) -> bool {
    let Some((sender, block)) = rest else { return std::future::pending().await };
    match block.recv().await {
        Some(piece) => {
            sender.push(piece);
            true
        }
        None => {
            *rest = None;
            false
        }
    }
}
