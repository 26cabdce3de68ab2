//! Running tool calls: in batches, each with its permission, its onion and its result.

use std::{
    borrow::Cow,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::join_all;
use serde_json::{Map, Value};

use super::{
    context,
    emit::Events,
    reply::Stop,
    scope::{Patience, ReplyScope, Waited},
};
use crate::{
    chain::{Acting, BoxFuture, CheckPermission, Core, Cx, Outlet},
    error::{Error, ErrorKind, Result},
    event::EventKind,
    fields::Fields,
    message::{OutputBlock, TextBlock, ToolCallBlock, ToolCallState, ToolResultBlock, ToolResultState},
    middleware::PermissionRequest,
    permission::{PermissionBehavior, PermissionDecision, PermissionRule},
    texts::{self, fill},
    tool::{ActingInput, Entry, ToolChunk, ToolFold, ToolResponse, run_tool},
};

/// How the run of one call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    /// Somebody outside is waited for.
    Parked,
    Interrupted,
}

/// A call that an error has cut off, with what it had sent by then.
struct Aborted {
    error: Error,
    output: ToolFold,
}

impl From<Error> for Aborted {
    fn from(error: Error) -> Self {
        Self { error, output: ToolFold::default() }
    }
}

/// The rules that a batch has already offered to the person who is asked.
type Offered = Mutex<Vec<PermissionRule>>;

impl ReplyScope {
    /// Runs these calls: neighbours that may run side by side do, others one after the other. Stops after a batch of
    /// which somebody outside is waited for.
    pub(super) async fn step_act(
        self: &Arc<Self>,
        events: &Events,
        calls: Vec<ToolCallBlock>,
    ) -> Result<(), Stop> {
        let side_by_side = |call: &ToolCallBlock| {
            self.entry(&call.name).is_none_or(|entry| entry.tool.is_concurrency_safe())
        };
        for batch in calls.chunk_by(|a, b| side_by_side(a) == side_by_side(b)) {
            let outcomes = match batch {
                [one] => vec![self.run_call(events, one, None).await?],
                batch if side_by_side(&batch[0]) => self.run_side_by_side(events, batch).await?,
                batch => self.run_in_order(events, batch).await?,
            };
            if outcomes.contains(&Outcome::Interrupted) || self.is_interrupted() {
                return Err(Stop::Interrupted);
            }
            if outcomes.contains(&Outcome::Parked) {
                break;
            }
        }
        Ok(())
    }

    async fn run_in_order(
        self: &Arc<Self>,
        events: &Events,
        batch: &[ToolCallBlock],
    ) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::with_capacity(batch.len());
        for call in batch {
            let outcome = self.run_call(events, call, None).await?;
            outcomes.push(outcome);
            if outcome != Outcome::Done {
                break;
            }
        }
        Ok(outcomes)
    }

    /// All run to their end, also when one of them fails.
    async fn run_side_by_side(
        self: &Arc<Self>,
        events: &Events,
        batch: &[ToolCallBlock],
    ) -> Result<Vec<Outcome>> {
        let offered = Offered::default();
        let events = &events.side_by_side();
        let runs = batch.iter().map(|call| self.run_call(events, call, Some(&offered)));
        let (mut outcomes, mut errors) = (Vec::with_capacity(batch.len()), Vec::new());
        for result in join_all(runs).await {
            match result {
                Ok(outcome) => outcomes.push(outcome),
                Err(error) => errors.push(error),
            }
        }
        match errors.pop() {
            None => Ok(outcomes),
            Some(error) if errors.is_empty() => Err(error),
            Some(error) => {
                errors.push(error);
                Err(ErrorKind::Tools(errors).into())
            }
        }
    }

    /// One call, from its arguments to its result.
    async fn run_call(
        self: &Arc<Self>,
        events: &Events,
        call: &ToolCallBlock,
        offered: Option<&Offered>,
    ) -> Result<Outcome> {
        let (entry, input) = match self.resolve(call) {
            Ok(resolved) => resolved,
            Err(message) => {
                self.close_call(events, call, &message, ToolResultState::Error).await?;
                return Ok(Outcome::Done);
            }
        };
        let checked = match self.check_permission(call, &entry, &input).await {
            Ok(Some(decision)) => self.obey(events, call, &entry, input, decision, offered).await,
            Ok(None) => return Ok(Outcome::Interrupted),
            Err(error) => Err(error.into()),
        };
        match checked {
            Ok(outcome) => Ok(outcome),
            Err(Aborted { error, output }) => {
                // The call gets its result before the error goes on, whatever failed.
                let text = fill(texts::TOOL_ABORTED, &[("error", &error.to_string())]);
                self.close_call_after(events, call, output, &text, ToolResultState::Error).await?;
                Err(error)
            }
        }
    }

    /// Finds the tool and reads the arguments. An error is a text for the model.
    fn resolve(&self, call: &ToolCallBlock) -> Result<(Arc<Entry>, Map<String, Value>), String> {
        let entry = self.find(&call.name)?;
        let schema = entry.tool.input_schema();
        let input =
            entry.validator.read(&call.name, &call.input, schema).map_err(|error| error.into_message())?;
        Ok((entry, input))
    }

    async fn check_permission(
        self: &Arc<Self>,
        call: &ToolCallBlock,
        entry: &Entry,
        input: &Map<String, Value>,
    ) -> Result<Option<PermissionDecision>> {
        let request = PermissionRequest::new(call.clone(), entry.tool.clone(), input.clone());
        let chain = self.chain::<CheckPermission>(Outlet::unheard(None), request);
        chain.or_interrupt(self).await.transpose()
    }

    /// Does what was decided: asks, refuses or runs.
    async fn obey(
        self: &Arc<Self>,
        events: &Events,
        call: &ToolCallBlock,
        entry: &Arc<Entry>,
        mut input: Map<String, Value>,
        mut decision: PermissionDecision,
        offered: Option<&Offered>,
    ) -> Result<Outcome, Aborted> {
        let updated = decision.updated_input.take().filter(|updated| *updated != input);
        let mut call = Cow::Borrowed(call);
        if let Some(updated) = updated.filter(|_| decision.behavior != PermissionBehavior::Deny) {
            call.to_mut().input = Value::Object(updated).to_string();
            // The schema holds for what will really run.
            input = match self.resolve(&call) {
                Ok((_, input)) => input,
                Err(message) => {
                    self.close_call(events, &call, &message, ToolResultState::Error).await?;
                    return Ok(Outcome::Done);
                }
            };
            context::update_call(&mut *self.state()?, &call.id, |stored| {
                stored.input.clone_from(&call.input);
            });
        }
        match decision.behavior {
            PermissionBehavior::Allow => self.run_allowed(events, &call, entry, input).await,
            PermissionBehavior::Deny => {
                self.close_call(events, &call, &decision.message, ToolResultState::Denied).await?;
                Ok(Outcome::Done)
            }
            PermissionBehavior::Ask | PermissionBehavior::Passthrough => {
                Ok(self.ask_person(events, &call, entry, &input, decision, offered).await?)
            }
        }
    }

    /// Asks, unless an earlier question of the same batch offers a rule that covers this call: then it stays pending
    /// and is decided on again when that question is answered.
    async fn ask_person(
        &self,
        events: &Events,
        call: &ToolCallBlock,
        entry: &Entry,
        input: &Map<String, Value>,
        decision: PermissionDecision,
        offered: Option<&Offered>,
    ) -> Result<Outcome> {
        let rules = decision.suggested_rules.unwrap_or_default();
        if let Some(offered) = offered {
            let mut offered = offered.lock().unwrap_or_else(PoisonError::into_inner);
            // No rule can answer a question that is asked for safety.
            let for_safety = decision.behavior == PermissionBehavior::Ask && decision.bypass_immune;
            let covered = !for_safety
                && offered.iter().any(|rule| {
                    *rule.tool_name == *entry.tool.name()
                        && entry.tool.match_rule(rule.rule_content.as_deref(), input)
                });
            if covered {
                return Ok(Outcome::Parked);
            }
            offered.extend(rules.iter().cloned());
        }
        let mut asked = call.clone();
        asked.state = ToolCallState::Asking;
        asked.suggested_rules = rules;
        context::update_call(&mut *self.state()?, &call.id, |stored| {
            stored.state = asked.state;
            stored.suggested_rules.clone_from(&asked.suggested_rules);
        });
        events.emit(EventKind::RequireUserConfirm { reply_id: events.id(), tool_calls: vec![asked] }).await;
        Ok(Outcome::Parked)
    }

    async fn run_allowed(
        self: &Arc<Self>,
        events: &Events,
        call: &ToolCallBlock,
        entry: &Arc<Entry>,
        input: Map<String, Value>,
    ) -> Result<Outcome, Aborted> {
        let mut call = call.clone();
        call.state = ToolCallState::Allowed;
        context::set_call_state(&mut *self.state()?, &call.id, call.state);
        self.start_result(events, &call).await;
        if entry.tool.is_external() {
            call.state = ToolCallState::Submitted;
            context::set_call_state(&mut *self.state()?, &call.id, call.state);
            self.run_state().started.retain(|started| *started != call.id);
            events
                .emit(EventKind::RequireExternalExecution { reply_id: events.id(), tool_calls: vec![call] })
                .await;
            return Ok(Outcome::Parked);
        }
        let core = Arc::new(RunOne { scope: self.clone(), call: call.clone(), entry: entry.clone(), input });
        let (output, state, metadata) = self.act(events, &call, core).await?;
        let result = ToolResultBlock::new(call.id.clone(), call.name.clone(), output, state);
        let result = self.cut_to_limit(result.with_metadata(metadata.clone())).await?;
        context::store_result(&mut *self.state()?, &self.definition.name, result);
        self.end_result(events, &call.id, state, metadata).await;
        Ok(if state == ToolResultState::Interrupted { Outcome::Interrupted } else { Outcome::Done })
    }

    /// Goes through `on_acting` and turns what comes out into events and output.
    async fn act(
        self: &Arc<Self>,
        events: &Events,
        call: &ToolCallBlock,
        core: Arc<RunOne>,
    ) -> Result<(Vec<OutputBlock>, ToolResultState, Fields), Aborted> {
        let (frame, mut items) = self.chain_stream::<Acting>(core, ActingInput::new(call.clone()));
        let interrupted = pin!(self.interrupted());
        let mut patience = Patience::new(self, interrupted);
        let mut fold = ToolFold::default();
        let response = loop {
            match patience.next(&frame, &mut items).await {
                Waited::Item(chunk) => self.send_chunk(events, call, *chunk, &mut fold).await,
                Waited::End => match items.finish().await {
                    Ok(response) => break Some(response),
                    Err(error) => return Err(Aborted { error, output: fold }),
                },
                Waited::GivenUp => break None,
            }
        };
        let Some(response) = response else {
            // A layer waited outside of `next` when the reply was interrupted.
            events.tool_text(&call.id, texts::TOOL_INTERRUPTED).await;
            fold.add_block(OutputBlock::Text(TextBlock::new(texts::TOOL_INTERRUPTED)));
            return Ok((fold.into_blocks(), ToolResultState::Interrupted, Fields::new()));
        };
        let state = match response.state {
            ToolResultState::Running => ToolResultState::Success,
            state => state,
        };
        Ok((fold.into_blocks(), state, response.metadata))
    }

    async fn send_chunk(&self, events: &Events, call: &ToolCallBlock, chunk: ToolChunk, fold: &mut ToolFold) {
        if let Some(progress) = chunk.metadata.get(MCP_PROGRESS).and_then(Value::as_object) {
            let mut value = progress.clone();
            value.insert("reply_id".to_owned(), events.reply_id.to_string().into());
            value.insert("tool_call_id".to_owned(), call.id.to_string().into());
            events.emit(EventKind::Custom { name: MCP_PROGRESS.into(), value: value.into() }).await;
        }
        for block in chunk.content {
            events.tool_output(&call.id, &block).await;
            fold.add_block(block);
        }
    }

    /// The tool of this name: the agent's, or the one that takes the structured output.
    fn entry(&self, name: &str) -> Option<Arc<Entry>> {
        if let Some(own) = self.run_state().structured.as_ref().filter(|own| own.tool.name() == name) {
            return Some(own.clone());
        }
        self.definition.toolkit.entry(name).cloned()
    }

    fn find(&self, name: &str) -> Result<Arc<Entry>, String> {
        let not_found = || fill(texts::ERROR_NOT_FOUND, &[("name", name)]);
        let entry = self.entry(name).ok_or_else(not_found)?;
        let state = self.state().map_err(|error| error.to_string())?;
        if let Some(group) =
            entry.group.as_ref().filter(|_| !entry.is_on(&state.tool_context.activated_groups))
        {
            return Err(fill(texts::ERROR_GROUP_INACTIVE, &[("name", name), ("group", group)]));
        }
        Ok(entry)
    }
}

/// The entry of chunk metadata that goes to the user.
const MCP_PROGRESS: &str = "mcp_progress";

/// The middle of `on_acting` for one permitted call.
struct RunOne {
    scope: Arc<ReplyScope>,
    /// The call that was permitted, with its tool and its arguments.
    call: ToolCallBlock,
    entry: Arc<Entry>,
    input: Map<String, Value>,
}

impl Core<Acting> for RunOne {
    fn run(self: Arc<Self>, cx: Cx<Acting>, input: ActingInput) -> BoxFuture<'static, Result<ToolResponse>> {
        Box::pin(async move {
            let call = input.tool_call;
            let scope = &self.scope;
            if call.name == self.call.name && call.input == self.call.input {
                let out = cx.outlet().clone();
                return run_tool(&self.entry, self.input.clone(), Some(cx.frame().clone()), out).await;
            }
            // A layer has changed what will run: it is checked like any call, but nobody is asked any more.
            let (entry, input) = match scope.resolve(&call) {
                Ok(resolved) => resolved,
                Err(message) => return Ok(ToolResponse::error(message)),
            };
            if let Some(denied) = scope.denial(&*entry.tool, &input, call.name != self.call.name).await? {
                return Ok(ToolResponse::text(denied.message).with_state(ToolResultState::Denied));
            }
            run_tool(&entry, input, Some(cx.frame().clone()), cx.outlet().clone()).await
        })
    }
}
