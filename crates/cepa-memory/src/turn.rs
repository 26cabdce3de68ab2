//! A turn, whole: what was asked and what was answered, also over pauses.

use std::sync::Arc;

use cepa_core::{
    AgentEvent, Cx, EventKind, Id, Inputs, Msg, Next, Reply, ReplyFinishedReason, ReplyInput, Result,
    serde_json::{Map, Value},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// What was asked, and what the agent has said and done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turn<W> {
    reply_id: Id,
    /// Whose turn it is: of who has asked, whoever lets it go on.
    pub(crate) whose: Option<W>,
    /// The messages that were put in.
    pub(crate) asked: Vec<Arc<Msg>>,
    /// All that the agent has said and done, as its events told it: a compression in the middle takes nothing away.
    pub(crate) said: Msg,
}

/// What may be kept with a turn.
pub(crate) trait Whose: Serialize + DeserializeOwned + Clone + Send + 'static {}
impl<W: Serialize + DeserializeOwned + Clone + Send + 'static> Whose for W {}

impl<W> Turn<W> {
    /// Whether a call of a tool is open: what is returned meanwhile is no answer.
    fn waits(&self) -> bool {
        self.said.tool_calls().any(|call| self.said.tool_result(&call.id).is_none())
    }
}

/// Runs a reply and returns with its result the turn, if it has ended with an answer: not when it waits, was interrupted
/// or failed. What is known of a turn that waits is kept in the layer's place in the session, and taken from there when
/// it goes on.
///
/// `look` sees each event, before it goes on. `left` gets the turn of a reader who takes the end of an answered reply and
/// leaves, which drops the rest; with it, the structured output.
pub(crate) async fn run_turn<W: Whose>(
    cx: &Cx<Reply>,
    input: ReplyInput,
    next: Next<Reply>,
    whose: Option<W>,
    mut look: impl FnMut(&AgentEvent) -> Result<()>,
    left: impl FnOnce(Turn<W>, Option<Map<String, Value>>),
) -> (Result<Msg>, Option<Turn<W>>) {
    let turn = match begin(cx, &input.inputs, whose) {
        Ok(turn) => turn,
        Err(error) => return (Err(error), None),
    };
    let state = cx.my_state();
    let mut open = Open { turn: Some(turn), is_over: false, output: None, left: Some(left) };
    let result = next
        .tap(input, |event| {
            open.see(cx, event);
            if let Some(turn) = open.turn.as_ref().filter(|_| is_question(event)) {
                // At once, as the caller may leave with it.
                state.set(turn.clone())?;
            }
            look(event)
        })
        .await;
    let Some(turn) = open.turn.take() else { return (result, None) };
    let ended = match &result {
        // A layer inside may have answered, with a message of its own that has no reason.
        Ok(msg) if msg.finished_reason.is_some() || !turn.waits() => {
            let kept = state.take::<Turn<W>>().map(drop);
            let is_answered = msg.finished_reason.is_none_or(is_answer);
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

/// A turn that runs. Dropped after the end of its reply has gone out, it is handed over.
struct Open<W, L: FnOnce(Turn<W>, Option<Map<String, Value>>)> {
    turn: Option<Turn<W>>,
    /// The end of an answered reply has gone out, and nothing after it.
    is_over: bool,
    output: Option<Map<String, Value>>,
    left: Option<L>,
}

impl<W, L: FnOnce(Turn<W>, Option<Map<String, Value>>)> Open<W, L> {
    fn see(&mut self, cx: &Cx<Reply>, event: &AgentEvent) {
        if let Some(turn) = &mut self.turn {
            turn.said.apply_event(event);
        }
        // A layer outside may drop an end: then others follow it.
        self.is_over =
            matches!(event.kind, EventKind::ReplyEnd { finished_reason, .. } if is_answer(finished_reason));
        if self.is_over {
            self.output = cx.state().ok().and_then(|state| state.reply_context.structured_output.clone());
        }
    }
}

impl<W, L: FnOnce(Turn<W>, Option<Map<String, Value>>)> Drop for Open<W, L> {
    fn drop(&mut self) {
        if let (Some(turn), Some(left)) = (self.turn.take(), self.left.take())
            && self.is_over
            && !turn.asked.is_empty()
        {
            left(turn, self.output.take());
        }
    }
}

fn is_answer(reason: ReplyFinishedReason) -> bool {
    matches!(reason, ReplyFinishedReason::Completed | ReplyFinishedReason::ExceedMaxIters)
}

fn is_question(event: &AgentEvent) -> bool {
    matches!(event.kind, EventKind::RequireUserConfirm { .. } | EventKind::RequireExternalExecution { .. })
}

/// What is known of this reply's turn, if it goes on after a pause.
pub(crate) fn waiting<W: Whose>(cx: &Cx<Reply>) -> Result<Option<Turn<W>>> {
    let id = cx.reply_id()?;
    // What waits stays there until its reply has ended: the input may be refused.
    let waiting = cx.my_state().take::<Turn<W>>()?;
    if let Some(waiting) = &waiting {
        cx.my_state().set(waiting.clone())?;
    }
    Ok(waiting.filter(|turn| turn.reply_id == id))
}

fn begin<W: Whose>(cx: &Cx<Reply>, inputs: &Inputs, whose: Option<W>) -> Result<Turn<W>> {
    let id = cx.reply_id()?;
    let mut turn = waiting(cx)?.unwrap_or_else(|| Turn {
        reply_id: id.clone(),
        whose: None,
        asked: Vec::new(),
        said: Msg::assistant(cx.agent_name(), Vec::new()).with_id(id),
    });
    turn.whose = turn.whose.or(whose);
    turn.asked.extend(inputs.messages().iter().cloned());
    Ok(turn)
}
