//! Runs the calls of a case and records what comes out.

mod input;
mod reply;

use std::time::Duration;

use cepa_core::{AgentState, CompressInput, Error, Inputs, Msg};
use serde_json::{Map, Value, json};

use crate::{
    case::{CallSpec, Case, LayerSpec, MessageSpec, OneOrMany, ReplyOptions},
    error::{RunError, recorded},
    layers::instructions,
    models::json_of,
    world::{Staffed, World, message},
};

/// Runs a case.
///
/// Returns one recording per call, as it came: ids and times are real, texts are the library's own.
///
/// # Errors
/// The case cannot be run.
pub(crate) async fn run(mut case: Case) -> Result<Vec<Value>, RunError> {
    let world = World::new(&mut case);
    let staffed = world.agent(&case, &case.middlewares, None, World::first_state(&case)?)?;
    let mut stage = Stage { case: &case, world, staffed, rebuilt: None };
    let mut recordings = Vec::with_capacity(case.calls.len());
    for call in &case.calls {
        recordings.push(stage.call(call).await?);
    }
    Ok(recordings)
}

/// An agent on which the calls of a case are made.
struct Stage<'a> {
    case: &'a Case,
    world: World,
    staffed: Staffed,
    /// The reply's message as a client builds it from the events, over all calls of the reply.
    rebuilt: Option<Msg>,
}

/// What the caller of one call got.
#[derive(Default)]
struct Got {
    events: Vec<Value>,
    final_messages: Vec<Value>,
    error: Option<Value>,
}

impl Got {
    fn of(result: Result<(), Error>) -> Self {
        Self { error: result.err().map(|error| recorded(&error)), ..Self::default() }
    }
}

impl Stage<'_> {
    async fn call(&mut self, call: &CallSpec) -> Result<Value, RunError> {
        let got = match call {
            CallSpec::Reply { input, options } => {
                let inputs = match input {
                    Some(input) => messages(input)?.into(),
                    None => Inputs::Nothing,
                };
                self.reply(inputs, options).await?
            }
            CallSpec::Confirm { results, reply_id, options } => {
                let answer = input::confirm(&*self.staffed.agent.state()?, results, reply_id.as_deref())?;
                self.reply(answer.into(), options).await?
            }
            CallSpec::ExternalResult { results, reply_id, options } => {
                let answer =
                    input::external_result(&*self.staffed.agent.state()?, results, reply_id.as_deref())?;
                self.reply(answer.into(), options).await?
            }
            CallSpec::Interrupt { reply_id, options } => {
                let answer = input::interrupt(&*self.staffed.agent.state()?, reply_id.as_deref());
                self.reply(answer.into(), options).await?
            }
            CallSpec::Observe { input } => {
                let messages = input.as_ref().map(messages).transpose()?.unwrap_or_default();
                Got::of(self.staffed.agent.observe(messages).await)
            }
            CallSpec::Compress { instructions: text } => {
                let mut input = CompressInput::default();
                input.instructions = text.as_deref().map(instructions);
                Got::of(self.staffed.agent.compress(input).await)
            }
            CallSpec::Reload { middlewares, react_config } => {
                self.reload(middlewares.as_deref(), react_config.as_ref())?;
                Got::default()
            }
        };
        if let Some(options) = call.options() {
            self.settle(options).await;
        }
        self.recording(got)
    }

    /// Lets the background do its work.
    async fn settle(&self, options: &ReplyOptions) {
        if options.settle_ms > 0 {
            tokio::time::sleep(Duration::from_millis(options.settle_ms)).await;
        }
        for layer in &self.staffed.layers {
            layer.flush().await;
        }
    }

    /// The state goes to JSON and into a new agent.
    fn reload(
        &mut self,
        layers: Option<&[LayerSpec]>,
        react_config: Option<&Map<String, Value>>,
    ) -> Result<(), RunError> {
        let state = serde_json::to_string(&*self.staffed.agent.state()?).map_err(RunError::State)?;
        let state: AgentState = serde_json::from_str(&state).map_err(RunError::State)?;
        let layers = layers.unwrap_or(&self.case.middlewares);
        self.staffed = self.world.agent(self.case, layers, react_config, state)?;
        Ok(())
    }

    fn recording(&self, got: Got) -> Result<Value, RunError> {
        let entries = self.world.log.take();
        let rebuilt = self.rebuilt.as_ref().filter(|_| !got.events.is_empty());
        let tools: Vec<String> = self
            .staffed
            .layers
            .iter()
            .flat_map(|layer| layer.middleware().tools())
            .map(|tool| tool.name().to_owned())
            .collect();
        let mut recording = json!({
            "events": got.events,
            "final_messages": got.final_messages,
            "error": got.error,
            "trace": entries.trace,
            "model_requests": entries.requests,
            "backend": entries.backend,
            "spans": self.world.spans.take(),
            "state": json_of(&*self.staffed.agent.state()?),
            "rebuilt_from_events": rebuilt.map(json_of),
            "middleware_tools": tools,
        });
        self.world.workdir.hide(&mut recording);
        Ok(recording)
    }
}

impl CallSpec {
    fn options(&self) -> Option<&ReplyOptions> {
        match self {
            Self::Reply { options, .. }
            | Self::Confirm { options, .. }
            | Self::ExternalResult { options, .. }
            | Self::Interrupt { options, .. } => Some(options),
            Self::Observe { .. } | Self::Compress { .. } | Self::Reload { .. } => None,
        }
    }
}

fn messages(input: &OneOrMany<MessageSpec>) -> Result<Vec<Msg>, RunError> {
    input.as_slice().iter().map(message).collect()
}
