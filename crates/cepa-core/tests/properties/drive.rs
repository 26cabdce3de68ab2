//! Running a script from its first turn to its last, and what must hold on the way.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use cepa_core::{
    Agent, AgentDefinition, AgentEvent, CancelToken, ConfirmResult, ContextConfig, Error,
    ExternalExecutionResultEvent, InjectionConfig, Inputs, Msg, PermissionRule, ReactConfig, Result,
    ToolCallBlock, ToolResultBlock, ToolResultState, UserConfirmResultEvent, UserInterruptEvent, Waiting,
};

use super::{
    context::{check_pairs, check_state},
    events::Seen,
    layers::Generated,
    model::{Fallback, Scripted},
    script::{Answer, HookKind, LayerDoes, Script, Turn},
    tools::{Acts, KINDS, SCHEMA},
    world::World,
};

/// So long nothing takes that is not meant to hang. The clock is not a real one.
const PATIENCE: Duration = Duration::from_secs(60);
/// After this it hangs although it was interrupted.
const DEADLOCK: Duration = Duration::from_secs(3_600);
/// More polls than this in one turn are a busy loop.
const POLLS: usize = 20_000;
/// A conversation is over after so many turns.
const MAX_TURNS: usize = 8;

/// What must not be.
pub(crate) type Violation = String;

/// An agent's definition that follows a script, as often as one wants.
pub(crate) struct Case {
    pub(crate) world: Arc<World>,
    definition: AgentDefinition,
    /// How many hold the world while nothing runs.
    idle: usize,
}

/// Where a reply is cut off, counted in events from the beginning, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(crate) at: usize,
    pub(crate) how: How,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum How {
    Drop,
    Interrupt,
    StopReading,
}

/// How a conversation is led.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way {
    pub(crate) cut: Option<Cut>,
    /// Nobody listens.
    pub(crate) unheard: bool,
    /// The state is saved and loaded between the turns.
    pub(crate) reloads: bool,
}

/// What came of it.
pub(crate) struct Conversation {
    pub(crate) agent: Agent,
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) results: Vec<std::result::Result<Msg, String>>,
    /// Whether the cut was reached.
    pub(crate) was_cut: bool,
}

impl Case {
    pub(crate) fn new(script: Script) -> Self {
        let world = World::new(script.clone());
        let settings = &script.settings;
        let mut react = ReactConfig::default();
        react.max_iters = settings.max_iters;
        react.structured_output_grace_iters = 1;
        react.stop_on_reject = settings.stop_on_reject;
        react.interruption_raise_cancelled_error = settings.interrupt_is_error;
        let mut injection = InjectionConfig::default();
        injection.inject_runtime_state = settings.injects;
        // Two runs are not to differ by the second in which they ran.
        injection.time_format = "%Y-%m-%d".to_owned();
        let mut context = ContextConfig::default();
        context.compression_tool_enabled = settings.compression.is_some();
        context.compression_prompt = "Sum up.".to_owned();
        context.summary_template = "SUMMARY {task_overview}".to_owned();
        let tools = KINDS.map(|kind| Acts { kind, world: world.clone() });
        let mut builder = Agent::builder("a")
            .system_prompt("Be nice.")
            .model(Scripted(world.clone()))
            .model_retries(settings.model_retries)
            .react_config(react)
            .injection_config(injection)
            .context_config(context)
            .tools(tools);
        if settings.has_fallback {
            builder = builder.fallback_model(Fallback(world.clone()));
        }
        for (place, layer) in script.layers.iter().enumerate() {
            builder = builder.middleware(Generated { layer: *layer, place, world: world.clone() });
        }
        let definition = builder.define().unwrap();
        let idle = Arc::strong_count(&world);
        Self { world, definition, idle }
    }

    fn script(&self) -> &Script {
        &self.world.script
    }

    /// Leads the whole conversation.
    pub(crate) async fn talk(&self, way: Way) -> std::result::Result<Conversation, Violation> {
        self.world.reset();
        let script = self.script();
        let mut talk = Conversation {
            agent: self.definition.agent(),
            events: Vec::new(),
            results: Vec::new(),
            was_cut: false,
        };
        let mut seen = Seen::default();
        let (mut turns, mut answers) = (script.turns.iter(), script.answers.iter().cycle());
        for _ in 0..MAX_TURNS {
            if way.reloads {
                let json = serde_json::to_string(&*talk.agent.state().unwrap()).unwrap();
                talk.agent = self.definition.agent_with(serde_json::from_str(&json).unwrap());
            }
            let waiting = talk.agent.waiting_for();
            let (inputs, has_schema) = match &waiting {
                Some(waiting) => {
                    let answer = *answers.next().unwrap();
                    if answer == Answer::ObserveFirst {
                        observe(&mut talk.agent, true).await?;
                    }
                    (answer_to(waiting, answer), false)
                }
                None => match turns.next() {
                    None => break,
                    Some(Turn::Say) => (Inputs::from("hello"), false),
                    Some(Turn::SayWithSchema) => (Inputs::from("hello"), true),
                    Some(Turn::Nothing) => (Inputs::Nothing, false),
                    Some(Turn::Observe) => {
                        observe(&mut talk.agent, false).await?;
                        continue;
                    }
                },
            };
            let first = talk.events.len();
            let result = self.turn(&mut talk, inputs, has_schema, way).await?;
            self.check_rest(&talk.agent)?;
            let is_refused =
                waiting.is_some() && !way.unheard && talk.events.len() == first && result.is_err();
            if is_refused && talk.agent.waiting_for() != waiting {
                return Err(format!("a refused answer changed what is waited for: {waiting:?}"));
            }
            if !way.unheard && !talk.was_cut {
                let parked = talk.agent.waiting_for();
                seen.turn(&talk.events[first..], parked.as_ref(), result.as_ref(), script)?;
                self.check_rebuilt(&talk, &seen)?;
            }
            talk.results.push(result.map_err(|error| error.to_string()));
            if talk.was_cut {
                break;
            }
        }
        Ok(talk)
    }

    /// One reply.
    async fn turn(
        &self,
        talk: &mut Conversation,
        inputs: Inputs,
        has_schema: bool,
        way: Way,
    ) -> std::result::Result<Result<Msg>, Violation> {
        let token = CancelToken::new();
        let Conversation { agent, events, was_cut, .. } = talk;
        let mut call = agent.reply(inputs).cancel_on(token.clone());
        if has_schema {
            call = call.schema(SCHEMA.clone());
        }
        if way.unheard {
            return limited(&token, call.into_future()).await;
        }
        let work = async {
            let mut stream = call.stream();
            loop {
                if let Some(cut) = way.cut
                    && !*was_cut
                    && events.len() == cut.at
                {
                    *was_cut = true;
                    match cut.how {
                        How::Drop => return Err(Error::other("dropped")),
                        How::Interrupt => token.cancel(),
                        How::StopReading => return stream.finish().await,
                    }
                }
                match stream.next().await {
                    Some(event) => events.push(event),
                    None => return stream.finish().await,
                }
            }
        };
        limited(&token, work).await
    }

    /// What must hold whenever nothing runs.
    fn check_rest(&self, agent: &Agent) -> std::result::Result<(), Violation> {
        let held = Arc::strong_count(&self.world);
        if held != self.idle {
            return Err(format!("{} futures live on", held - self.idle));
        }
        if agent.waiting_for().is_none() {
            check_pairs(agent.state().unwrap().context.iter().map(|msg| &**msg))?;
        }
        match self.world.take_violations().pop() {
            Some(violation) => Err(violation),
            None => Ok(()),
        }
    }

    /// Whether a client's copy of the reply is what the context holds, where nobody changes events.
    fn check_rebuilt(&self, talk: &Conversation, seen: &Seen) -> std::result::Result<(), Violation> {
        use LayerDoes::*;
        let script = self.script();
        let changed = [DropSome, DropAllInTap, RaiseInTap, RaiseAfter, Retry, Short, HangAfter, RaiseBefore];
        let is_changed = script.has(HookKind::Reply, &changed) || script.has(HookKind::Reasoning, &changed);
        if is_changed || script.settings.compression.is_some() {
            return Ok(());
        }
        seen.check_rebuilt(&talk.agent.state().unwrap())
    }

    /// Whatever happened before: a message that everybody answers well is answered.
    pub(crate) async fn check_calm_turn(
        &self,
        talk: &mut Conversation,
    ) -> std::result::Result<(), Violation> {
        self.world.calm.store(true, Relaxed);
        let way = Way::default();
        let cut = std::mem::replace(&mut talk.was_cut, false);
        check_state(&talk.agent.state().unwrap())?;
        if let Some(waiting) = talk.agent.waiting_for() {
            let interrupt = UserInterruptEvent::new(waiting.reply_id);
            // It is a message or an error, as the agent is set up.
            let _result = self.turn(talk, interrupt.into(), false, way).await?;
        }
        let result = self.turn(talk, "and now?".into(), false, way).await?;
        talk.was_cut = cut;
        self.check_rest(&talk.agent)?;
        check_state(&talk.agent.state().unwrap())?;
        match result {
            Ok(message) if message.text().as_deref() == Some("done") => Ok(()),
            other => Err(format!("an ordinary message is not answered any more: {other:?}")),
        }
    }
}

async fn observe(agent: &mut Agent, parked: bool) -> std::result::Result<(), Violation> {
    agent.observe("by the way").await.map_err(|error| error.to_string())?;
    if parked && agent.waiting_for().is_none() {
        return Err("a parked reply is lost by `observe`".to_owned());
    }
    Ok(())
}

/// Interrupts what takes too long, and finds out what never ends and what never rests.
async fn limited<T>(token: &CancelToken, work: impl Future<Output = T>) -> std::result::Result<T, Violation> {
    let mut work = std::pin::pin!(work);
    let mut polls = 0_usize;
    let counted = std::future::poll_fn(|cx| {
        polls += 1;
        match work.as_mut().poll(cx) {
            std::task::Poll::Ready(output) => std::task::Poll::Ready(Ok(output)),
            std::task::Poll::Pending if polls > POLLS => {
                std::task::Poll::Ready(Err("a busy loop".to_owned()))
            }
            std::task::Poll::Pending => std::task::Poll::Pending,
        }
    });
    let mut counted = std::pin::pin!(counted);
    if let Ok(result) = tokio::time::timeout(PATIENCE, Pin::new(&mut counted)).await {
        return result;
    }
    token.cancel();
    match tokio::time::timeout(DEADLOCK, counted).await {
        Ok(result) => result,
        Err(_) => Err("a deadlock: it goes on for ever although it was interrupted".to_owned()),
    }
}

fn answer_to(waiting: &Waiting, answer: Answer) -> Inputs {
    let reply = match answer {
        Answer::Stale => "another".into(),
        _ => waiting.reply_id.clone(),
    };
    match answer {
        Answer::Interrupt => return UserInterruptEvent::new(reply).into(),
        Answer::SayInstead => return "hello?".into(),
        _ => {}
    }
    let count = if answer == Answer::Partial { 1 } else { usize::MAX };
    if waiting.confirmations.is_empty() {
        let results = waiting.external.iter().take(count).map(|call| result_of(call, answer));
        return ExternalExecutionResultEvent::new(reply, results).into();
    }
    let results = waiting.confirmations.iter().take(count).map(|call| confirmed(call.clone(), answer));
    UserConfirmResultEvent::new(reply, results).into()
}

fn result_of(call: &ToolCallBlock, answer: Answer) -> ToolResultBlock {
    let (id, state) = match answer {
        Answer::Unknown => ("nobody's".into(), ToolResultState::Success),
        Answer::Refuse => (call.id.clone(), ToolResultState::Error),
        Answer::Edit => (call.id.clone(), ToolResultState::Running),
        _ => (call.id.clone(), ToolResultState::Success),
    };
    ToolResultBlock::new(id, call.name.clone(), "from outside", state)
}

fn confirmed(mut call: ToolCallBlock, answer: Answer) -> ConfirmResult {
    let rules: Vec<PermissionRule> = call.suggested_rules.clone();
    match answer {
        Answer::Refuse => return ConfirmResult::reject(call).with_reason("rather not"),
        Answer::Edit => call.input = r#"{"do": "slow"}"#.to_owned(),
        Answer::Rename => call.name = "serial".into(),
        Answer::Unknown => call.id = "nobody's".into(),
        Answer::ConfirmWithRules => return ConfirmResult::confirm(call).with_rules(rules),
        _ => {}
    }
    ConfirmResult::confirm(call)
}
