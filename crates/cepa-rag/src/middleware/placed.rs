//! A hint in the context, for as long as it is there.

use std::sync::Arc;

use cepa_core::{AgentState, ContentBlock, Cx, HintBlock, Id, Reasoning, Result};

/// A hint in the context. Dropping this takes it out, also when the reply is dropped in the middle.
pub(super) struct Placed {
    cx: Cx<Reasoning>,
    /// `None` for one that stays.
    hint: Option<Id>,
    /// The hint has a message of its own, as the reply had none yet.
    has_own_message: bool,
}

impl Placed {
    /// Puts a hint at the end of the context.
    pub(super) fn put(cx: &Cx<Reasoning>, hint: HintBlock, stays: bool) -> Result<Self> {
        let id = (!stays).then(|| hint.id.clone());
        let mut state = cx.state()?;
        let before = state.context.len();
        state.append_context(cx.agent_name(), [hint.into()]);
        let has_own_message = state.context.len() > before;
        Ok(Self { cx: cx.clone(), hint: id, has_own_message })
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        if let Some(hint) = &self.hint
            && let Ok(mut state) = self.cx.state()
        {
            take_out(&mut state, hint, self.has_own_message);
        }
    }
}

fn take_out(state: &mut AgentState, hint: &Id, has_own_message: bool) {
    let is_it = |block: &ContentBlock| matches!(block, ContentBlock::Hint(block) if block.id == *hint);
    let Some(place) = state.context.iter().rposition(|msg| msg.content.iter().any(is_it)) else { return };
    let msg = Arc::make_mut(&mut state.context[place]);
    msg.content.retain(|block| !is_it(block));
    if has_own_message && msg.content.is_empty() {
        // The model has said nothing: no message is left behind. What its attempts have cost is kept with the one before.
        let usage = msg.usage.take();
        state.context.remove(place);
        if let Some((usage, last)) = usage.zip(state.context.last_mut()) {
            Arc::make_mut(last).add_usage(usage);
        }
    }
}
