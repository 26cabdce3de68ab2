//! The speech of one reply, as events beside the reply's own.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use cepa_core::{AgentEvent, BoxFuture, Cx, DataDelta, EventKind, Id, Items, Reply};
use cepa_models::AudioChunk;
use futures_core::Stream as _;
use tokio::time::Instant;

use crate::{
    clock::Clock,
    script::Script,
    settings::Settings,
    speaker::{Speaker, Spoken},
};

/// What happens next in a reply that is spoken.
pub(crate) enum Step {
    /// An event of the reply; `None` at its end.
    Event(Option<Box<AgentEvent>>),
    Audio(Spoken),
    Interrupted,
}

/// The speech of one reply.
pub(crate) struct Voice<'a> {
    cx: &'a Cx<Reply>,
    settings: &'a Arc<Settings>,
    clock: Arc<Clock>,
    interrupted: BoxFuture<'a, ()>,
    /// Nothing is spoken any more in this reply.
    stopped: bool,
    /// There since the first text block.
    speaker: Option<Speaker>,
    reply_id: Option<Id>,
    /// The text blocks that are open.
    scripts: Vec<(Id, Script)>,
    /// The audio block that is open.
    open: Option<Id>,
    /// The reply goes before the audio in the next step.
    reply_first: bool,
}

impl<'a> Voice<'a> {
    pub(crate) fn new(cx: &'a Cx<Reply>, settings: &'a Arc<Settings>) -> Self {
        Self {
            cx,
            settings,
            clock: Arc::new(Clock::new()),
            interrupted: Box::pin(cx.interrupted()),
            stopped: false,
            speaker: None,
            reply_id: None,
            scripts: Vec::new(),
            open: None,
            reply_first: false,
        }
    }

    /// Runs the reply and its speech until one of them has something to send. Without `items` the reply waits.
    pub(crate) async fn step(&mut self, mut items: Option<&mut Items<Reply>>) -> Step {
        let step = poll_fn(|task| self.poll(items.as_deref_mut(), task)).await;
        // Turn by turn: neither holds the other one up. The end of a text block may be that of a reply that fails, of
        // which nothing more is said: so it is looked at what comes after it.
        self.reply_first = match &step {
            Step::Event(Some(event)) => matches!(event.kind, EventKind::TextBlockEnd { .. }),
            _ => true,
        };
        step
    }

    fn poll(&mut self, items: Option<&mut Items<Reply>>, task: &mut Context<'_>) -> Poll<Step> {
        if !self.stopped && self.interrupted.as_mut().poll(task).is_ready() {
            return Poll::Ready(Step::Interrupted);
        }
        let mut audio = |task: &mut Context<'_>| match &mut self.speaker {
            Some(speaker) => speaker.poll_next(task).map(Step::Audio),
            None => Poll::Pending,
        };
        if !self.reply_first
            && let Poll::Ready(step) = audio(task)
        {
            return Poll::Ready(step);
        }
        if let Some(items) = items
            && let Poll::Ready(event) = Pin::new(items).poll_next(task)
        {
            return Poll::Ready(Step::Event(event));
        }
        if self.reply_first { audio(task) } else { Poll::Pending }
    }

    /// Takes in what is to be spoken.
    pub(crate) fn hear(&mut self, event: &AgentEvent) {
        if self.stopped {
            return;
        }
        match &event.kind {
            EventKind::TextBlockStart { reply_id, block_id } => _ = self.script(reply_id, block_id),
            EventKind::TextBlockDelta { reply_id, block_id, delta } => {
                self.script(reply_id, block_id).push(delta);
            }
            EventKind::TextBlockEnd { block_id, text, .. } => {
                if let Some(index) = self.scripts.iter().position(|(id, _)| id == block_id) {
                    self.scripts.remove(index).1.end(text.as_deref());
                }
            }
            _ => {}
        }
    }

    fn script(&mut self, reply_id: &Id, block_id: &Id) -> &mut Script {
        let index = self.scripts.iter().position(|(id, _)| id == block_id).unwrap_or_else(|| {
            let speaker = self.speaker.get_or_insert_with(|| Speaker::new(self.settings, &self.clock));
            self.reply_id = Some(reply_id.clone());
            self.scripts.push((block_id.clone(), Script::new(self.settings, speaker.next_text())));
            self.scripts.len() - 1
        });
        &mut self.scripts[index].1
    }

    /// Sends audio out.
    pub(crate) async fn send(&mut self, spoken: Spoken) {
        match spoken {
            Spoken::Audio(chunk) => self.send_audio(chunk).await,
            Spoken::Part | Spoken::End => self.end_block().await,
        }
    }

    async fn send_audio(&mut self, AudioChunk { media_type, data, .. }: AudioChunk) {
        let Some(reply_id) = self.reply_id.clone() else { return };
        let block_id = match &self.open {
            Some(id) => id.clone(),
            None => {
                let block_id = Id::new();
                self.open = Some(block_id.clone());
                let (reply_id, media_type) = (reply_id.clone(), media_type.clone());
                let block_id_sent = block_id.clone();
                self.emit(Box::new(AgentEvent::new(EventKind::DataBlockStart {
                    reply_id,
                    block_id: block_id_sent,
                    media_type,
                    name: None,
                })))
                .await;
                block_id
            }
        };
        // Its reader may have interrupted the reply at the start of the block.
        if self.cx.is_interrupted() {
            return;
        }
        let delta = DataDelta::Base64(STANDARD.encode(data));
        let kind = EventKind::DataBlockDelta { reply_id, block_id, media_type, delta };
        self.emit(Box::new(AgentEvent::new(kind))).await;
    }

    async fn end_block(&mut self) {
        if let (Some(block_id), Some(reply_id)) = (self.open.take(), self.reply_id.clone()) {
            self.emit(Box::new(AgentEvent::new(EventKind::DataBlockEnd { reply_id, block_id }))).await;
        }
    }

    /// Sends an event out. Nothing runs while its reader is busy with it.
    pub(crate) async fn emit(&mut self, event: Box<AgentEvent>) {
        let since = Instant::now();
        self.cx.emit(event).await;
        self.clock.held_up_since(since);
    }

    /// Speaks what was written, while the reply waits.
    pub(crate) async fn speak_to_the_end(&mut self) {
        for (_, script) in self.scripts.drain(..) {
            script.end(None);
        }
        while self.speaker.as_ref().is_some_and(Speaker::is_behind) {
            match self.step(None).await {
                Step::Audio(spoken) => self.send(spoken).await,
                Step::Interrupted | Step::Event(_) => self.stop().await,
            }
        }
    }

    /// Speaks no more in this reply.
    pub(crate) async fn stop(&mut self) {
        self.stopped = true;
        self.speaker = None;
        self.scripts.clear();
        self.end_block().await;
    }

    /// Ends the session in good order, unless an interrupt comes.
    pub(crate) async fn close(&mut self) {
        let Some(speaker) = self.speaker.take() else { return };
        tokio::select! {
            biased;
            () = &mut self.interrupted => {}
            () = speaker.close() => {}
        }
    }
}
