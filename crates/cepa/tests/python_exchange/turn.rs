//! One turn of a session, on either side.

use std::{
    env,
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use cepa::{
    AgentState, ConfirmResult, EventKind, ExternalExecutionResultEvent, Inputs, ModelRequest, Msg,
    PermissionRule, ToolCallBlock, ToolCallState, ToolChoiceMode, ToolOutput, ToolResultBlock,
    ToolResultState, UserConfirmResultEvent,
    serde_json::{self, Value, json},
};
use serde::{Deserialize, Serialize};

use crate::friday::{Ran, Scripted, Verdict, friday};

/// Who has the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Python,
    Rust,
}

/// What is done in a turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) input: Input,
    /// Whether a [`Verdict`] is asked for.
    pub(crate) structured: bool,
    pub(crate) rounds: Vec<Round>,
}

#[derive(Clone, Debug)]
pub(crate) enum Input {
    Say(&'static str),
    /// A person allows every call that waits, and what these rules say from now on.
    Allow(Vec<PermissionRule>),
    /// Somebody outside has run the calls that wait.
    Result(&'static str),
}

/// What the model says in one round, and what it costs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Round {
    #[serde(flatten)]
    pub(crate) said: Said,
    pub(crate) usage: (u64, u64),
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Said {
    Text {
        text: String,
    },
    Call {
        id: String,
        tool: String,
        /// `$task` in it is the id of the session's first task.
        input: String,
    },
}

impl Turn {
    pub(crate) fn new(input: Input, rounds: impl IntoIterator<Item = Round>) -> Self {
        Self { input, structured: false, rounds: rounds.into_iter().collect() }
    }

    pub(crate) fn structured(mut self) -> Self {
        self.structured = true;
        self
    }
}

/// A round of one text.
pub(crate) fn says(text: &str) -> Round {
    Round { said: Said::Text { text: text.to_owned() }, usage: (6, 1) }
}

/// A round of one call.
pub(crate) fn calls(id: &str, tool: &str, input: Value) -> Round {
    let (id, tool, input) = (id.to_owned(), tool.to_owned(), input.to_string());
    Round { said: Said::Call { id, tool, input }, usage: (6, 1) }
}

impl Round {
    pub(crate) fn costing(mut self, input: u64, output: u64) -> Self {
        self.usage = (input, output);
        self
    }
}

/// What came of a turn.
#[derive(Debug, Deserialize)]
pub(crate) struct Outcome {
    /// The session, saved.
    pub(crate) state: String,
    pub(crate) requests: Vec<Request>,
    /// The tools that ran.
    pub(crate) ran: Vec<String>,
    pub(crate) message: Msg,
    /// How many rounds the model was not asked for.
    pub(crate) unsaid: usize,
}

/// A model request.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub(crate) messages: Vec<Msg>,
    pub(crate) tools: Vec<String>,
    pub(crate) tool_choice: Option<String>,
}

impl Request {
    pub(crate) fn of(request: &ModelRequest) -> Self {
        let choice = request.tool_choice.as_ref().map(|choice| match &choice.mode {
            ToolChoiceMode::None => "none".to_owned(),
            ToolChoiceMode::Auto => "auto".to_owned(),
            other => format!("{other:?}"),
        });
        Self {
            messages: request.messages.iter().map(|msg| (**msg).clone()).collect(),
            tools: request.tools.iter().map(|tool| (**tool.name()).to_owned()).collect(),
            tool_choice: choice,
        }
    }
}

/// The two sides, with AgentScope in a process of its own.
pub(crate) struct Sides {
    python: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Sides {
    /// `None` when no interpreter is named.
    pub(crate) fn start() -> Option<Self> {
        let Some(python): Option<OsString> = env::var_os("CEPA_PYTHON") else {
            println!("skipped: CEPA_PYTHON is not set (cargo xtask python sets it up)");
            return None;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python_exchange/session.py");
        let mut python = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("CEPA_PYTHON is an interpreter");
        let (to, from) = (python.stdin.take().unwrap(), python.stdout.take().unwrap());
        Some(Self { python, to, from: BufReader::new(from) })
    }

    pub(crate) async fn play(&mut self, side: Side, turn: Turn, saved: Option<&str>) -> Outcome {
        let state = saved.map(|saved| serde_json::from_str::<AgentState>(saved).unwrap());
        let turn = with_task_id(turn, state.as_ref());
        let input = event(&turn.input, state.as_ref());
        match side {
            Side::Rust => in_rust(turn, input, saved).await,
            Side::Python => self.in_python(turn, input, saved),
        }
    }

    fn in_python(&mut self, turn: Turn, input: Option<EventKind>, saved: Option<&str>) -> Outcome {
        let input = match (&turn.input, input) {
            (Input::Say(text), _) => json!(text),
            (_, event) => serde_json::to_value(event.map(cepa::AgentEvent::new)).unwrap(),
        };
        let turn = json!({"state": saved, "input": input, "schema": turn.structured, "rounds": turn.rounds});
        writeln!(self.to, "{turn}").unwrap();
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("AgentScope: {error}\n{answer}"))
    }
}

impl Drop for Sides {
    fn drop(&mut self) {
        // It ends by itself when nothing more can come; after a failed test it is not waited for.
        self.python.kill().and_then(|()| self.python.wait()).ok();
    }
}

async fn in_rust(turn: Turn, input: Option<EventKind>, saved: Option<&str>) -> Outcome {
    let model = Scripted::new(turn.rounds);
    let definition = friday(model.clone());
    let mut agent = saved.map_or_else(|| definition.agent(), |saved| definition.load(saved).unwrap());
    let inputs = match (turn.input, input) {
        (Input::Say(text), _) => text.into(),
        (_, Some(EventKind::UserConfirmResult(event))) => Inputs::from(event),
        (_, Some(EventKind::ExternalExecutionResult(event))) => Inputs::from(event),
        _ => unreachable!("answers are events"),
    };
    let ran = Ran::default();
    let message = if turn.structured {
        // It is parked meanwhile: `reply_as(…).await` would say that.
        let mut events = agent.reply_as::<Verdict>(inputs).with(ran.clone()).stream();
        while events.next().await.is_some() {}
        events.finish().await.unwrap()
    } else {
        agent.reply(inputs).with(ran.clone()).await.unwrap()
    };
    let state = agent.save().unwrap().to_owned();
    let requests = std::mem::take(&mut *model.requests.lock().unwrap());
    let unsaid = model.rounds.lock().unwrap().len();
    let ran = std::mem::take(&mut *ran.lock().unwrap());
    Outcome { state, requests, ran, message, unsaid }
}

fn with_task_id(mut turn: Turn, state: Option<&AgentState>) -> Turn {
    let task = state.and_then(|state| state.tasks_context.tasks.first());
    for round in &mut turn.rounds {
        if let (Said::Call { input, .. }, Some(task)) = (&mut round.said, task) {
            *input = input.replace("$task", &task.id.to_string());
        }
    }
    turn
}

/// The event that an input is, as an answer to what the session waits for.
fn event(input: &Input, state: Option<&AgentState>) -> Option<EventKind> {
    let state = state?;
    let waiting = |wanted| {
        let calls = state.awaiting_tool_calls("Friday").into_iter();
        calls.filter(move |call: &&ToolCallBlock| call.state == wanted).cloned()
    };
    let reply_id = state.reply_id().clone();
    Some(match input {
        Input::Say(_) => return None,
        Input::Allow(rules) => {
            let allow = |call| match rules.as_slice() {
                [] => ConfirmResult::confirm(call),
                rules => ConfirmResult::confirm(call).with_rules(rules.to_vec()),
            };
            UserConfirmResultEvent::new(reply_id, waiting(ToolCallState::Asking).map(allow)).into()
        }
        Input::Result(text) => {
            let result = |call: ToolCallBlock| {
                ToolResultBlock::new(call.id, call.name, ToolOutput::from(*text), ToolResultState::Success)
            };
            ExternalExecutionResultEvent::new(reply_id, waiting(ToolCallState::Submitted).map(result)).into()
        }
    })
}
