//! What a hook was given, in a few words.

use cepa_core::{
    ActingInput, CompressInput, Inputs, ModelRequest, Msg, PermissionRequest, ReasoningInput, ReplyInput,
    Role,
};
use serde_json::{Value, json};

use crate::models::json_of;

/// What a recorder writes of a hook's input.
pub(super) trait Saw {
    fn saw(&self) -> Value;
}

impl Saw for ReplyInput {
    fn saw(&self) -> Value {
        let inputs = match &self.inputs {
            Inputs::Messages(messages) => messages.iter().map(|message| in_words(message)).collect(),
            Inputs::UserConfirmResult(_) => "USER_CONFIRM_RESULT".into(),
            Inputs::ExternalExecutionResult(_) => "EXTERNAL_EXECUTION_RESULT".into(),
            Inputs::UserInterrupt(_) => "USER_INTERRUPT".into(),
            _ => Value::Null,
        };
        json!({"inputs": inputs, "has_schema": self.structured_schema.is_some()})
    }
}

/// `role:name:text`.
fn in_words(message: &Msg) -> String {
    format!("{}:{}:{}", role(message.role), message.name, message.text().unwrap_or_default())
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::System => "system",
        _ => "assistant",
    }
}

impl Saw for ReasoningInput {
    fn saw(&self) -> Value {
        json!({"tool_choice": json_of(&self.tool_choice)})
    }
}

impl Saw for ModelRequest {
    fn saw(&self) -> Value {
        json!({
            "model": self.model.as_ref().map(|model| model.name()),
            "roles": self.messages.iter().map(|message| role(message.role)).collect::<Vec<_>>(),
            "tools": self.tools.iter().map(|tool| &**tool.name()).collect::<Vec<_>>(),
            "tool_choice": json_of(&self.tool_choice),
        })
    }
}

impl Saw for PermissionRequest {
    fn saw(&self) -> Value {
        json!({
            "id": json_of(&self.tool_call.id),
            "tool": self.tool.name(),
            "tool_input": self.input,
            "state": json_of(&self.tool_call.state),
        })
    }
}

impl Saw for ActingInput {
    fn saw(&self) -> Value {
        let call = &self.tool_call;
        json!({"id": json_of(&call.id), "name": &*call.name, "input": call.input, "state": json_of(&call.state)})
    }
}

impl Saw for CompressInput {
    fn saw(&self) -> Value {
        json!({
            "trigger_ratio": self.config.as_ref().map(|config| config.trigger_ratio),
            "instructions": self.instructions.as_ref().map(|hint| hint.hint.text()),
        })
    }
}
