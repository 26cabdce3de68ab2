//! An agent behind a guard, and everything that has left it.

use cepa_core::{
    Agent, AgentBuilder,
    serde_json::{self, Value},
    testing::{EventLog, Logged, ScriptedModel},
};

/// What is to be kept inside.
pub(crate) const PLANTED: &[&str] = &[
    "bob@example.com",
    "4111 1111 1111 1111",
    "5500000000000004",
    "192.168.17.4",
    "2001:db8:85a3::8a2e:370:7334",
    "00:1A:2B:3C:4D:5E",
    "https://intern.example.com/a?b=c",
    "+49 30 1234567",
    "(555) 234-5678",
];

/// Everything that has left one conversation.
#[derive(Debug, Default)]
pub(crate) struct Left {
    pub(crate) places: Vec<(&'static str, String)>,
    pub(crate) events: Vec<EventLog>,
}

impl Left {
    /// The places in which a value is.
    pub(crate) fn of(&self, value: &str) -> Vec<&(&'static str, String)> {
        self.places.iter().filter(|(_, text)| text.contains(value)).collect()
    }

    #[track_caller]
    pub(crate) fn holds_none_of(&self, values: &[&str]) {
        for value in values {
            assert!(self.of(value).is_empty(), "{value:?} is in {:?}", self.of(value));
        }
    }

    pub(crate) fn add_events(&mut self, log: EventLog) {
        // As a reader sees them: the pieces of a block put together.
        let mut whole = String::new();
        for event in log.events() {
            let json = serde_json::to_value(event).unwrap();
            match json.get("delta").and_then(Value::as_str) {
                Some(delta) => whole.push_str(delta),
                None => {
                    self.places.push(("an event", whole.clone()));
                    whole.clear();
                    self.places.push(("an event", plain(&json)));
                }
            }
        }
        self.places.push(("an event", whole));
        self.events.push(log);
    }
}

/// All strings of a value, with nothing escaped.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => format!("{text}\n{}", plain(&inner)),
            _ => text.clone(),
        },
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        Value::Object(map) => {
            map.iter().map(|(key, value)| format!("{key}\n{}", plain(value))).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// Replies to each input, in turn, and gathers what leaves.
pub(crate) async fn talk(builder: AgentBuilder, model: &ScriptedModel, inputs: &[&str]) -> (Left, Agent) {
    let logged = Logged::of("cepa");
    let mut agent = builder.model(model.clone()).build().unwrap();
    let mut left = Left::default();
    for input in inputs {
        let log = EventLog::of(agent.reply(*input)).await;
        left.add_events(log);
        if let Some(Err(error)) = left.events.last().unwrap().outcome() {
            let error = format!("{error} {error:?}");
            left.places.push(("an error", error));
        }
    }
    for request in model.requests() {
        let messages = serde_json::to_value(&request.messages).unwrap();
        left.places.push(("a request", plain(&messages)));
    }
    left.places.push(("the state", plain(&serde_json::to_value(&*agent.state().unwrap()).unwrap())));
    left.places.push(("a log", logged.lines().join("\n")));
    drop(logged);
    (left, agent)
}
