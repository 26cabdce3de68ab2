//! Keeping the context short: where it is over the threshold, a summary takes the place of its older part.
//!
//! The way of one compression: old images go (`images`), the context is cut in two (`split`), the model sums the older
//! part up (`summary`), and the state changes in one step (`apply`). The model may ask for it too (`tool`), and a
//! layer may ask for room (`room`). Tool results that are too long by themselves are cut when they come in (`tool_result`).

mod apply;
mod images;
mod room;
mod split;
mod summary;
mod tool;
mod tool_result;

use std::sync::Arc;

use self::split::{Cut, Measure};
pub(super) use self::tool::CompressContextTool;
use super::{config::ContextConfig, scope::ReplyScope};
use crate::{
    chain::{BoxFuture, Compress, Core, Cx},
    error::{ErrorKind, Result},
    message::Msg,
    middleware::CompressInput,
};

impl Core<Compress> for ReplyScope {
    fn run(self: Arc<Self>, _cx: Cx<Compress>, input: CompressInput) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            let config = input.config.unwrap_or_else(|| self.definition.context.clone());
            self.limit_images(config.max_image_num).await?;
            let known = self.known_prompt();
            let prompt = match &known {
                Some(prompt) => prompt.clone(),
                None => self.build_prompt().await?,
            };
            let Some(older) = self.older_part(&config, &prompt, input.coming)? else { return Ok(()) };
            // The summary is a request of its own, with a prompt of its own.
            let prompt = match known {
                Some(_) => self.build_prompt().await?,
                None => prompt,
            };
            let summary = self.sum_up(&config, prompt, &older, input.instructions).await?;
            self.apply(older, summary).await
        })
    }
}

/// The older part of a context, which is to be compressed.
struct Older {
    /// Where it ends.
    cut: Cut,
    messages: Vec<Arc<Msg>>,
    /// The summary so far, as a message.
    summary: Option<Arc<Msg>>,
}

impl ReplyScope {
    /// The system prompt of the request that comes, or of the one that was made last.
    fn known_prompt(&self) -> Option<Arc<Msg>> {
        let run = self.run_state();
        run.prompt.as_ref().or(run.last_prompt.as_ref()).cloned()
    }

    /// What a request would take now, in tokens.
    fn tokens_with(&self, prompt: &Arc<Msg>) -> Result<u64> {
        let (messages, tools) = {
            let state = self.state()?;
            (Self::messages(&state, prompt), self.tool_schemas(&state))
        };
        Ok(self.definition.model.count_tokens(&messages, &tools))
    }

    /// What must be compressed now, with so many tokens `coming`: `None` below the threshold, and where nothing can be.
    fn older_part(&self, config: &ContextConfig, prompt: &Arc<Msg>, coming: u64) -> Result<Option<Older>> {
        let (mut head, context_len, tools) = {
            let state = self.state()?;
            (Self::messages(&state, prompt), state.context.len(), self.tool_schemas(&state))
        };
        let model = &*self.definition.model;
        let size = model.context_size() as f64;
        let threshold = config.trigger_ratio * size;
        let tokens = model.count_tokens(&head, &tools).saturating_add(coming);
        if (tokens as f64) < threshold {
            return Ok(None);
        }
        let context = head.split_off(head.len() - context_len);
        let summary = head.get(1).cloned();
        if context.is_empty() {
            let (threshold, with_summary) = (threshold as u64, summary.is_some());
            return Err(ErrorKind::SystemPromptExceedsThreshold { tokens, threshold, with_summary }.into());
        }
        tracing::info!(agent = &*self.definition.name, tokens, threshold, "the context is compressed");
        let measure = Measure { model, tools: &tools, head: &head, tail: &[] };
        for reserve in [config.reserve_ratio * size, 0.0] {
            let cut = measure.cut(&context, reserve);
            let messages = cut.before(&context);
            if holds_something(&messages) {
                return Ok(Some(Older { cut, messages, summary }));
            }
        }
        tracing::warn!(agent = &*self.definition.name, tokens, "all of the context is needed as it is");
        Ok(None)
    }
}

/// Whether there is anything in these messages; one may be there for what it cost only.
fn holds_something(messages: &[Arc<Msg>]) -> bool {
    messages.iter().any(|msg| !msg.content.is_empty())
}
