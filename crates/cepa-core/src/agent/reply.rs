//! The middle of `on_reply`: the reasoning-acting loop.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use super::{closing::Why, context, emit::Events, next_action::Action, scope::ReplyScope};
use crate::{
    chain::{BoxFuture, Core, Cx, Reply},
    error::{Error, ErrorKind, Result},
    event::{EventKind, Ticket},
    message::{ErrorInfo, Msg, ReplyFinishedReason, Role},
    middleware::{Inputs, ReplyInput},
    texts,
};

/// Why the loop stops before its end.
pub(super) enum Stop {
    Failed(Error),
    Interrupted,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Interrupted => Self::Interrupted,
            _ => Self::Failed(error),
        }
    }
}

impl Core<Reply> for ReplyScope {
    fn run(self: Arc<Self>, cx: Cx<Reply>, input: ReplyInput) -> BoxFuture<'static, Result<Msg>> {
        Box::pin(async move {
            let _writing = self.write(&self.replying, "on_reply")?;
            if self.end_left.load(Relaxed) {
                return self.ended_before();
            }
            match self.clone().reply(&cx, input).await {
                Ok(message) => Ok(message),
                Err(Stop::Interrupted) => Box::pin(self.end_interrupted(&cx)).await,
                Err(Stop::Failed(error)) => {
                    Box::pin(self.close_failed(&cx, &error)).await?;
                    Err(error)
                }
            }
        })
    }
}

impl ReplyScope {
    async fn reply(self: Arc<Self>, cx: &Cx<Reply>, input: ReplyInput) -> Result<Msg, Stop> {
        Box::pin(self.begin(cx, input)).await?;
        let events = Events::new(cx, self.state()?.reply_id().clone());
        let mut answer = None;
        // A layer may drop the end of the reply to have another round; dropping it again at once is a busy loop.
        let mut made_progress = true;
        loop {
            if self.is_interrupted() {
                return Err(Stop::Interrupted);
            }
            let action = self.next_action(&*self.state()?, answer.take());
            match action {
                Action::Park(message) => return Ok(message),
                Action::End(message, reason) => {
                    if self.send_end(&events, reason, None).await? {
                        return Ok(message);
                    }
                    if !made_progress {
                        return Err(Error::new(ErrorKind::ReplyEndSwallowedTwice).into());
                    }
                    made_progress = false;
                    self.run_state().end_requested = false;
                    continue;
                }
                Action::Reason { hint, tool_choice } => {
                    made_progress = true;
                    answer = self.step_reason(&events, hint, tool_choice).await?;
                }
                Action::Act(calls) => {
                    made_progress = true;
                    // Apart from the rest: an agent that waits for its model has no need of the room it takes.
                    Box::pin(self.step_act(&events, calls)).await?;
                }
            }
            let mut state = self.state()?;
            if !context::open_calls(&state, &self.definition.name).unfinished {
                state.reply_context.cur_iter += 1;
            }
        }
    }

    /// A layer runs a reply again that has ended for its reader: nothing more is sent.
    fn ended_before(&self) -> Result<Msg> {
        if self.is_interrupted() {
            return self.interrupted_message();
        }
        let mut message = self.last_words(&*self.state()?, texts::MSG_ENDED_EARLY);
        message.finished_reason = Some(ReplyFinishedReason::Completed);
        Ok(message)
    }

    /// What an interrupted reply comes to, as the agent is set.
    pub(super) fn interrupted_message(&self) -> Result<Msg> {
        let react = &self.definition.react;
        if react.interruption_raise_cancelled_error {
            return Err(ErrorKind::Interrupted.into());
        }
        let (text, reason) = (&react.interruption_message, ReplyFinishedReason::Interrupted);
        if let Some(id) = self.coming() {
            // It was not begun: what the state has is the reply before.
            let mut message = Msg::assistant(self.definition.name.clone(), text.as_str()).with_id(id);
            message.finished_reason = Some(reason);
            return Ok(message);
        }
        Ok(self.message(&*self.state()?, text, Some(reason)))
    }

    /// Takes the input in, once per reply however often layers call for it.
    async fn begin(self: &Arc<Self>, cx: &Cx<Reply>, input: ReplyInput) -> Result<(), Stop> {
        if self.run_state().begun {
            return Ok(());
        }
        match input.inputs {
            Inputs::UserInterrupt(event) => {
                self.accept_interrupt(&event)?;
                self.run_state().begun = true;
                return Err(Stop::Interrupted);
            }
            Inputs::UserConfirmResult(event) => self.resume_confirmed(cx, event).await?,
            Inputs::ExternalExecutionResult(event) => self.resume_external(cx, event).await?,
            inputs @ (Inputs::Nothing | Inputs::Messages(_)) => {
                self.start_new(inputs.messages(), input.structured_schema).await?;
                let (reply_id, session_id) = {
                    let state = self.state()?;
                    (state.reply_id().clone(), state.session_id.clone())
                };
                let events = Events::new(cx, reply_id);
                let (name, role) = (self.definition.name.clone(), Role::Assistant);
                events.emit(EventKind::ReplyStart { reply_id: events.id(), session_id, name, role }).await;
            }
        }
        self.offer_structured_tool()?;
        Ok(())
    }

    /// Sends the end of the reply; `false` when a layer dropped it.
    pub(super) async fn send_end(
        &self,
        events: &Events,
        finished_reason: ReplyFinishedReason,
        error: Option<ErrorInfo>,
    ) -> Result<bool> {
        self.end_left.store(false, Relaxed);
        if finished_reason == ReplyFinishedReason::ExceedMaxIters {
            let name = self.definition.name.clone();
            events.emit(EventKind::ExceedMaxIters { reply_id: events.id(), name }).await;
        }
        let session_id = self.state()?.session_id.clone();
        let (ticket, fate) = Ticket::pair();
        events
            .emit(EventKind::ReplyEnd { reply_id: events.id(), session_id, finished_reason, error, ticket })
            .await;
        // The loop looks, it does not wait: a layer that still holds the event has not dropped it.
        Ok(self.end_left.load(Relaxed) || !fate.dropped())
    }

    async fn end_interrupted(&self, cx: &Cx<Reply>) -> Result<Msg> {
        let events = Events::new(cx, self.state()?.reply_id().clone());
        self.close_open_calls(&events, Why::Interrupted).await?;
        self.send_end(&events, ReplyFinishedReason::Interrupted, None).await?;
        self.interrupted_message()
    }

    /// The reply fails: open calls get a result before the error goes on.
    async fn close_failed(&self, cx: &Cx<Reply>, error: &Error) -> Result<()> {
        if !self.run_state().begun {
            return Ok(());
        }
        let events = Events::new(cx, self.state()?.reply_id().clone());
        let text = texts::fill(texts::TOOL_ABORTED, &[("error", &error.to_string())]);
        self.close_open_calls(&events, Why::Failed(text)).await
    }
}
