//! Room for what a layer adds to the context.

use std::sync::Arc;

use crate::{
    agent::scope::ReplyScope,
    chain::{Compress, Cx, Outlet, Reasoning},
    error::Result,
    middleware::CompressInput,
};

impl ReplyScope {
    /// How many tokens may be added now without a compression.
    async fn room(self: &Arc<Self>) -> Result<u64> {
        let prompt = match self.known_prompt() {
            Some(prompt) => prompt,
            None => {
                let prompt = self.build_prompt().await?;
                self.run_state().prompt = Some(prompt.clone());
                prompt
            }
        };
        let threshold = self.definition.context.trigger_ratio * self.definition.model.context_size() as f64;
        let below = (threshold.ceil() as u64).saturating_sub(1);
        Ok(below.saturating_sub(self.tokens_with(&prompt)?))
    }
}

impl Cx<Reasoning> {
    /// Sees to it that so many tokens more fit into the request of this round: where the context would be over its
    /// threshold with them, it is compressed first, through `on_compress_context`. Returns how many tokens may be added
    /// then. These may be fewer: what is added should be cut to that.
    ///
    /// For a layer that adds to the context in `on_reasoning`, before `next`: what it adds there comes after the round's
    /// own compression, and nobody else counts it. (The agent's own model counts, whatever a layer routes the request
    /// to.)
    ///
    /// ```
    /// use cepa_core::{Cx, HintBlock, Msg, Reasoning, Result};
    ///
    /// /// Adds a hint if there is room for it.
    /// async fn hint(cx: &Cx<Reasoning>, hint: HintBlock) -> Result<()> {
    ///     let message = Msg::assistant(cx.agent_name(), vec![hint.clone().into()]);
    ///     let tokens = cx.model().count_tokens(&[message.into()], &[]);
    ///     if cx.make_room(tokens).await? >= tokens {
    ///         cx.state()?.append_context(cx.agent_name(), [hint.into()]);
    ///     }
    ///     Ok(())
    /// }
    /// # let _ = hint;
    /// ```
    ///
    /// # Errors
    /// Those of the compression, when one was needed: of the model, of layers, *interrupted*.
    pub async fn make_room(&self, tokens: u64) -> Result<u64> {
        let scope = self.scope();
        let room = scope.room().await?;
        if room >= tokens {
            return Ok(room);
        }
        let input = CompressInput { coming: tokens, ..CompressInput::default() };
        scope.chain::<Compress>(Outlet::unheard(None), input).running.await?;
        scope.room().await
    }
}
