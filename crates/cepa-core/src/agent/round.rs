//! One round: prompt, compression check, runtime state, and the model's answer.

use std::sync::Arc;

use super::{
    ask::Answer,
    closing::Why,
    context,
    emit::Events,
    reply::Stop,
    scope::{Offered, ReplyScope},
};
use crate::{
    chain::{BoxFuture, Compress, Core, Cx, Outlet, Reasoning, SystemPrompt},
    error::{ErrorKind, Result},
    message::{ContentBlock, HintBlock, Msg, ReplyFinishedReason, Role, ToolResultState},
    middleware::{CompressInput, ReasoningInput},
    model::{FinishedReason, ModelRequest, ToolChoice, ToolChoiceMode, ToolSchema},
    state::AgentState,
    texts::{self, fill},
};

/// The name of the message that holds the system prompt, and of the user's summary.
const SYSTEM: &str = "system";
pub(super) const USER: &str = "user";

impl ReplyScope {
    /// Asks the model once. Returns its answer if it may be the last one.
    pub(super) async fn step_reason(
        self: &Arc<Self>,
        events: &Events,
        hint: Option<HintBlock>,
        tool_choice: Option<ToolChoice>,
    ) -> Result<Option<Msg>, Stop> {
        if let Some(hint) = hint {
            self.state()?.append_context(self.definition.name.clone(), [ContentBlock::Hint(hint)]);
        }
        let prompt = self.build_prompt().await?;
        self.run_state().prompt = Some(prompt);
        let compress = self.chain::<Compress>(Outlet::unheard(None), CompressInput::default());
        compress.or_interrupt(self).await.ok_or(Stop::Interrupted)??;
        self.inject_runtime_state(events).await?;
        let chain = self.chain::<Reasoning>(events.outlet().clone(), ReasoningInput::new(tool_choice));
        let frame = chain.frame.clone();
        let answer = chain.or_interrupt(self).await.ok_or(Stop::Interrupted)??;
        if self.run_state().cut_off {
            return Err(Stop::Interrupted);
        }
        if let Some(answer) = &answer
            && !frame.core_was_entered()
        {
            // A layer answered itself: the answer is part of the conversation all the same.
            self.save(answer.content.clone())?;
        }
        Box::pin(self.close_unwanted_calls(events, answer)).await
    }

    /// Builds the system prompt: once per model request.
    pub(super) async fn build_prompt(self: &Arc<Self>) -> Result<Arc<Msg>> {
        let base = self.definition.system_prompt.clone();
        let prompt = if self.definition.layers::<SystemPrompt>().is_empty() {
            base
        } else {
            let chain = self.chain::<SystemPrompt>(Outlet::unheard(None), base);
            chain.or_interrupt(self).await.ok_or(ErrorKind::Interrupted)??
        };
        Ok(Arc::new(Msg::system(SYSTEM, prompt)))
    }

    /// The messages of a request: prompt, summary, context.
    pub(super) fn messages(state: &AgentState, prompt: &Arc<Msg>) -> Vec<Arc<Msg>> {
        let mut messages = Vec::with_capacity(state.context.len() + 2);
        messages.push(prompt.clone());
        messages.extend(summary_message(state));
        messages.extend(state.context.iter().cloned());
        messages
    }

    /// What the model is offered in this reply, as things stand.
    pub(super) fn tool_schemas(&self, state: &AgentState) -> Arc<[ToolSchema]> {
        let mut run = self.run_state();
        let groups = &state.tool_context.activated_groups;
        if groups.is_empty() && run.structured.is_none() {
            return self.definition.schemas.clone();
        }
        match &run.schemas {
            Some((of, schemas)) if of == groups => schemas.clone(),
            _ => {
                let own = run.structured.as_ref().map(|entry| &entry.schema);
                let schemas: Arc<[_]> = self.definition.toolkit.schemas(groups, own).cloned().collect();
                run.schemas = Some((groups.clone(), schemas.clone()));
                schemas
            }
        }
    }

    /// Adds blocks to the reply's message, and what was spent before there was one. Audio is for the ear, not for the
    /// context.
    pub(super) fn save(&self, mut blocks: Vec<ContentBlock>) -> Result<()> {
        blocks.retain(|block| !matches!(block, ContentBlock::Data(data) if data.is_audio()));
        let earlier = self.run_state().unplaced_usage.take();
        if blocks.is_empty() && earlier.is_none() {
            return Ok(());
        }
        let mut state = self.state()?;
        state.append_context(self.definition.name.clone(), blocks);
        if let Some(last) = state.context.last_mut() {
            earlier.into_iter().for_each(|usage| Arc::make_mut(last).add_usage(usage));
        }
        Ok(())
    }

    /// Closes calls that the model was not offered, or made although it was told not to call any. Such a round ends
    /// the reply when no call was wanted at all.
    async fn close_unwanted_calls(&self, events: &Events, answer: Option<Msg>) -> Result<Option<Msg>, Stop> {
        if self.run_state().end_requested {
            self.close_open_calls(events, Why::NotRun).await?;
            return Ok(answer);
        }
        let Some(offered) = self.run_state().offered.take() else { return Ok(answer) };
        if answer.is_some() || self.is_interrupted() {
            return Ok(answer);
        }
        let calls = context::open_calls(&*self.state()?, &self.definition.name).executable;
        let none_wanted = offered.choice.as_ref().is_some_and(|choice| choice.mode == ToolChoiceMode::None);
        for call in &calls {
            let text = if none_wanted {
                texts::ERROR_TOOLS_OFF
            } else if !offered.has(&call.name) && self.definition.toolkit.tool(&call.name).is_some() {
                texts::ERROR_NOT_OFFERED
            } else {
                continue;
            };
            let text = fill(text, &[("name", &call.name)]);
            self.close_call(events, call, &text, ToolResultState::Error).await?;
        }
        if calls.is_empty() || !none_wanted {
            return Ok(None);
        }
        let state = self.state()?;
        let over = state.reply_context.cur_iter >= self.max_iters();
        let text = if over { texts::MSG_MAX_ITERS_EXCEEDED } else { texts::MSG_ENDED_EARLY };
        Ok(Some(self.words_of_round(&state, text)))
    }

    /// The text that came with the round's calls; a fixed one if there is none.
    fn words_of_round(&self, state: &AgentState, otherwise: &str) -> Msg {
        let msg = context::reply_message(state, &self.definition.name);
        let round = msg.into_iter().flat_map(|msg| msg.content.iter().rev());
        let said = round
            .skip_while(|block| matches!(block, ContentBlock::ToolResult(_)))
            .skip_while(|block| matches!(block, ContentBlock::ToolCall(_)))
            .map_while(|block| match block {
                ContentBlock::Text(block) => Some(Some(block.text.as_str())),
                ContentBlock::Thinking(_) | ContentBlock::Data(_) => Some(None),
                _ => None,
            })
            .flatten()
            .find(|text| !text.is_empty());
        self.message(state, said.unwrap_or(otherwise), Some(ReplyFinishedReason::Completed))
    }
}

impl Offered {
    /// Whether a call of this tool was wanted.
    fn has(&self, name: &str) -> bool {
        let narrowed = self.choice.as_ref().and_then(|choice| choice.tools.as_ref());
        self.tools.iter().any(|tool| **tool.name() == *name)
            && narrowed.is_none_or(|names| names.iter().any(|wanted| *wanted == *name))
    }
}

/// The summary of what was compressed, as the message the model reads.
pub(super) fn summary_message(state: &AgentState) -> Option<Arc<Msg>> {
    if state.summary.is_empty() {
        return None;
    }
    let blocks: Vec<ContentBlock> = state.summary.clone().into_blocks().into_iter().map(Into::into).collect();
    Some(Arc::new(Msg::user(USER, blocks)))
}

impl Core<SystemPrompt> for ReplyScope {
    fn run(self: Arc<Self>, _cx: Cx<SystemPrompt>, prompt: String) -> BoxFuture<'static, Result<String>> {
        Box::pin(std::future::ready(Ok(prompt)))
    }
}

impl Core<Reasoning> for ReplyScope {
    fn run(
        self: Arc<Self>,
        cx: Cx<Reasoning>,
        input: ReasoningInput,
    ) -> BoxFuture<'static, Result<Option<Msg>>> {
        Box::pin(async move {
            let _writing = self.write(&self.reasoning, "on_reasoning")?;
            self.reason(&cx, input).await
        })
    }
}

impl ReplyScope {
    async fn reason(self: &Arc<Self>, cx: &Cx<Reasoning>, input: ReasoningInput) -> Result<Option<Msg>> {
        let model = input.model.unwrap_or_else(|| self.definition.model.clone());
        let events = Events::new(cx, self.state()?.reply_id().clone());
        let prompt = self.run_state().prompt.take();
        let prompt = match prompt {
            Some(prompt) => prompt,
            // A layer runs the round again: a request of its own, with a prompt of its own. Calls that the round has
            // brought before are not run any more, and the model must see them answered.
            None => {
                Box::pin(self.close_open_calls(&events, Why::NotRun)).await?;
                self.build_prompt().await?
            }
        };
        self.run_state().last_prompt = Some(prompt.clone());
        let mut request = {
            let state = self.state()?;
            let tools = self.tool_schemas(&state);
            ModelRequest::new(Self::messages(&state, &prompt))
                .with_tools(tools)
                .with_tool_choice(input.tool_choice)
        };
        request.options = self.definition.options.clone();
        let mut is_nudged = false;
        let answer = loop {
            let answer = self.ask(&events, &model, &request).await?;
            if !answer.is_empty() || answer.response.finished_reason != FinishedReason::Completed {
                break answer;
            }
            self.save(Vec::new())?;
            if is_nudged {
                let model = model.name().to_owned();
                return Err(ErrorKind::EmptyAnswer { model }.into());
            }
            // Nothing is not an answer: asked once more, with a nudge that is not kept.
            request.messages.push(Arc::new(Msg::user(USER, texts::HINT_EMPTY_ANSWER)));
            is_nudged = true;
        };
        drop(request);
        if answer.response.finished_reason == FinishedReason::Interrupted {
            self.run_state().cut_off = true;
        }
        let Answer { blocks, response } = answer;
        let is_last = response.finished_reason == FinishedReason::Completed
            && !blocks.iter().any(|block| matches!(block, ContentBlock::ToolCall(_)))
            && !blocks.iter().all(|block| matches!(block, ContentBlock::Thinking(_)));
        if !is_last {
            self.save(blocks)?;
            return Ok(None);
        }
        let mut message = Msg::new(self.definition.name.clone(), Role::Assistant, blocks.clone());
        self.save(blocks)?;
        let state = self.state()?;
        message.id = state.reply_id().clone();
        message.usage = context::reply_usage(&state, &self.definition.name);
        message.finished_reason = Some(ReplyFinishedReason::Completed);
        Ok(Some(message))
    }
}
