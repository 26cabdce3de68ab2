//! Speaks the text blocks of one reply, one after the other.

use std::{
    pin::pin,
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
    panics::{guarded, guarded_future},
    settings::{Per, Settings},
    wav::Joiner,
};

/// What comes out of a speaker.
#[derive(Debug)]
pub(crate) enum Spoken {
    Audio(AudioChunk),
    /// What of the text block comes now is audio of its own.
    Part,
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
        let mut failures = 0;
        while let Some(block) = blocks.recv().await {
            // Without waiting for the text, where nothing is spoken any more.
            if failures < FAILURES {
                match self.block(block).await {
                    Ok(true) => failures = 0,
                    Ok(false) => {}
                    Err(error) => {
                        failures += 1;
                        self.failed(&error, failures);
                    }
                }
            }
            _ = self.out.send(Spoken::End).await;
        }
        if let Some(session) = self.session {
            close(session, self.settings.deadlines.close).await;
        }
    }

    /// Hangs up. There were so many failures in a row.
    fn failed(&mut self, error: &Failure, failures: usize) {
        let session = self.session.take();
        _ = guarded(|| drop(session));
        let model = self.settings.model.name();
        if failures < FAILURES {
            tracing::warn!(model, %error, "a text block is not spoken to its end; the reply goes on");
        } else {
            tracing::warn!(
                model,
                %error,
                "{failures} text blocks in a row are not spoken to their end; the reply goes on, and nothing more of it is spoken"
            );
        }
    }

    /// Speaks one text block; whether there was something to say.
    async fn block(&mut self, mut block: BlockText) -> Result<bool, Failure> {
        let Some(mut text) = block.recv().await else { return Ok(false) };
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
            utterance.speak(&mut **session, pieces, Some((sender, block))).await?;
            return Ok(true);
        }
        loop {
            // Whether more will come is known when the block was complete before it was spoken.
            let next = block.try_recv();
            let joins = settings.model.joins();
            utterance.joiner.begin(joins && (settings.per == Per::Sentence || next.is_ok()));
            utterance.speak(&mut **session, TtsText::whole(text), None).await?;
            let next = match next {
                Ok(next) => Some(next),
                Err(TryRecvError::Empty) => block.recv().await,
                Err(TryRecvError::Disconnected) => None,
            };
            let Some(next) = next else { return Ok(true) };
            text = next;
            if !joins {
                _ = utterance.out.send(Spoken::Part).await;
            }
        }
    }
}

/// So many text blocks in a row that fail are the last ones that are tried in a reply: a server that hangs would hold it
/// up with each.
const FAILURES: usize = 2;

async fn close(session: Box<dyn TtsSession>, limit: Duration) {
    // How it ends changes nothing.
    if let Ok(closing) = guarded(|| session.close(limit)) {
        _ = tokio::time::timeout(limit, guarded_future(closing)).await;
    }
}

async fn connect(settings: &Settings, clock: &Clock) -> Result<Box<dyn TtsSession>, Failure> {
    let limit = settings.deadlines.connect;
    tokio::select! {
        biased;
        session = guarded_future(guarded(|| settings.model.connect())?) => Ok(session??),
        () = clock.reaches(clock.now().saturating_add(limit)) => Err(Failure::Connect(limit)),
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
        let mut speaking = pin!(guarded_future(guarded(|| session.speak(text, audio))?));
        let mut spoken = None;
        let mut complete = self.clock.now();
        let mut quiet = Quiet { since: complete, heard: false };
        let outcome = loop {
            tokio::select! {
                biased;
                result = &mut speaking, if spoken.is_none() => spoken = Some(result),
                piece = next_piece(&mut rest) => if !piece {
                    // Only now the model can know what there is to say: silence counts from here.
                    complete = self.clock.now();
                    quiet.since = complete;
                },
                chunk = next(&mut chunks, spoken.is_some()) => match chunk {
                    Some(chunk) => {
                        if let Some(chunk) = self.joiner.pass(chunk) {
                            _ = self.out.send(Spoken::Audio(chunk)).await;
                        }
                        quiet = Quiet { since: self.clock.now(), heard: true };
                        // Where audio never pauses, nothing else has its turn.
                        if rest.is_none() && quiet.since >= self.end(complete) {
                            break Err(self.block_took_too_long());
                        }
                    }
                    None => break Ok(()),
                },
                failure = self.too_late(quiet, complete), if rest.is_none() => break Err(failure),
            }
        };
        self.spent += self.clock.now().saturating_sub(complete);
        match spoken {
            Some(result) => outcome.and(result?.map_err(Failure::from)),
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
        let (block, silence) = (self.end(complete), quiet.since.saturating_add(limit));
        if block < silence {
            self.clock.reaches(block).await;
            return self.block_took_too_long();
        }
        self.clock.reaches(silence).await;
        failure(limit)
    }

    /// When the block must be spoken whose text was complete then.
    fn end(&self, complete: Duration) -> Duration {
        complete.saturating_add(self.settings.deadlines.block.saturating_sub(self.spent))
    }

    fn block_took_too_long(&self) -> Failure {
        Failure::Block(self.settings.deadlines.block)
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
