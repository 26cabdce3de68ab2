//! A turn, whole: what was asked and what was answered, also over pauses.

use std::sync::Arc;

use cepa_core::{
    AgentEvent, Cx, EventKind, Id, Inputs, Msg, Next, Reply, ReplyFinishedReason, ReplyInput, Result,
};
use serde::{Deserialize, Serialize};

/// What was asked, and what the agent has said and done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turn {
    reply_id: Id,
    /// The messages that were put in.
    pub(crate) asked: Vec<Arc<Msg>>,
    /// All that the agent has said and done, as its events told it: a compression in the middle takes nothing away.
    pub(crate) said: Msg,
}

impl Turn {
    /// Whether a call of a tool is open: what is returned meanwhile is no answer.
    fn waits(&self) -> bool {
        self.said.tool_calls().any(|call| self.said.tool_result(&call.id).is_none())
    }
}

/// Runs a reply and returns with its result the turn, if it has ended with an answer: not when it waits, was interrupted
/// or failed. What is known of a turn that waits is kept in the layer's place in the session, and taken from there when
/// it goes on.
///
/// `look` sees each event, before it goes on.
pub(crate) async fn run_turn(
    cx: &Cx<Reply>,
    input: ReplyInput,
    next: Next<Reply>,
    mut look: impl FnMut(&AgentEvent) -> Result<()>,
) -> (Result<Msg>, Option<Turn>) {
    let mut turn = match begin(cx, &input.inputs) {
        Ok(turn) => turn,
        Err(error) => return (Err(error), None),
    };
    let state = cx.my_state();
    let result = next
        .tap(input, |event| {
            turn.said.apply_event(event);
            if is_question(event) {
                // At once, as the caller may leave with it.
                state.set(turn.clone())?;
            }
            look(event)
        })
        .await;
    let ended = match &result {
        // A layer inside may have answered, with a message of its own that has no reason.
        Ok(msg) if msg.finished_reason.is_some() || !turn.waits() => {
            let kept = state.take::<Turn>().map(drop);
            let is_answered = matches!(
                msg.finished_reason,
                None | Some(ReplyFinishedReason::Completed | ReplyFinishedReason::ExceedMaxIters)
            );
            kept.map(|()| is_answered.then_some(turn))
        }
        Ok(_) => state.set(turn).map(|()| None),
        // What waits goes on waiting where the input did not fit.
        Err(_) => Ok(None),
    };
    let ended = ended.unwrap_or_else(|error| {
        tracing::warn!(%error, "the state is not reached: a turn will not be remembered");
        None
    });
    (result, ended.filter(|turn| !turn.asked.is_empty()))
}

fn is_question(event: &AgentEvent) -> bool {
    matches!(event.kind, EventKind::RequireUserConfirm { .. } | EventKind::RequireExternalExecution { .. })
}

fn begin(cx: &Cx<Reply>, inputs: &Inputs) -> Result<Turn> {
    let id = cx.reply_id()?;
    // What waits stays there until its reply has ended: this input may be refused.
    let waiting = cx.my_state().take::<Turn>()?;
    if let Some(waiting) = &waiting {
        cx.my_state().set(waiting.clone())?;
    }
    let waiting = waiting.filter(|turn| turn.reply_id == id);
    let mut turn = waiting.unwrap_or_else(|| Turn {
        reply_id: id.clone(),
        asked: Vec::new(),
        said: Msg::assistant(cx.agent_name(), Vec::new()).with_id(id),
    });
    turn.asked.extend(inputs.messages().iter().cloned());
    Ok(turn)
}
