//! The body of a chat request.

use bytes::Bytes;
use cepa_core::{ErrorType, ModelError, ModelOptions, ModelRequest, ToolChoice, ToolChoiceMode, ToolSchema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{
    chat::OpenAiChat,
    messages::{WireMessage, wire_messages},
};

/// Parameters that only Cepa sets.
const OWN: [&str; 5] = ["model", "messages", "tools", "tool_choice", "stream"];

/// `response_format` for an answer that is JSON of this schema, to be put into [`ModelOptions::extra`]. Servers that
/// have no structured output of their own are better asked by a forced tool.
///
/// ```
/// use cepa_core::ModelOptions;
/// use cepa_models::json_schema_format;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
/// let mut options = ModelOptions::default();
/// options.extra.insert("response_format", json_schema_format("place", &schema));
/// assert_eq!(options.extra.get("response_format").unwrap()["type"], "json_schema");
/// ```
pub fn json_schema_format(name: &str, schema: &Value) -> Value {
    json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema}})
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    stream: bool,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

/// A tool, written without copying its schema.
struct WireTool<'a>(&'a ToolSchema);

impl Serialize for WireTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tool<'a> {
            r#type: &'static str,
            function: Function<'a>,
        }
        #[derive(Serialize)]
        struct Function<'a> {
            name: &'a str,
            description: &'a str,
            parameters: &'a Value,
        }
        let function = Function {
            name: self.0.name(),
            description: self.0.description(),
            parameters: self.0.parameters(),
        };
        Tool { r#type: "function", function }.serialize(serializer)
    }
}

impl OpenAiChat {
    /// The JSON of a request.
    pub(super) fn body(&self, request: &ModelRequest) -> Result<Bytes, ModelError> {
        let tools = offered(request);
        let tool_choice = match &request.tool_choice {
            Some(choice) => self.tool_choice(choice, &tools)?,
            None => None,
        };
        let body = Body {
            model: &self.model,
            messages: wire_messages(&request.messages, &self.style),
            tools: tools.into_iter().map(WireTool).collect(),
            tool_choice,
            stream: self.stream,
            parameters: self.parameters(request.options.clone().or(&self.options)),
        };
        let body = serde_json::to_vec(&body);
        body.map(Bytes::from).map_err(|error| self.endpoint.error(ErrorType::Internal, error))
    }

    fn tool_choice(&self, choice: &ToolChoice, tools: &[&ToolSchema]) -> Result<Option<Value>, ModelError> {
        let refuse = |what: String| Err(self.endpoint.error(ErrorType::InvalidRequest, what));
        match &choice.mode {
            ToolChoiceMode::Tool(name) if tools.iter().all(|tool| **tool.name() != **name) => {
                refuse(format!("tool `{name}` is to be called, but it is not among the offered tools"))
            }
            ToolChoiceMode::Required if tools.is_empty() => {
                refuse("a tool is to be called, but none is offered".to_owned())
            }
            ToolChoiceMode::Tool(name) => Ok(Some(json!({"type": "function", "function": {"name": name}}))),
            mode => Ok((!tools.is_empty()).then(|| mode.as_str().into())),
        }
    }

    fn parameters(&self, options: ModelOptions) -> Map<String, Value> {
        let mut parameters = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                parameters.insert(key.to_owned(), value);
            }
        };
        set("temperature", options.temperature.map(Into::into));
        set("top_p", options.top_p.map(Into::into));
        set("max_tokens", options.max_tokens.map(Into::into));
        set("seed", options.seed.map(Into::into));
        set("stop", (!options.stop.is_empty()).then(|| options.stop.into()));
        set("stream_options", (self.stream && self.include_usage).then(|| json!({"include_usage": true})));
        parameters.extend(options.extra.into_iter().filter(|(key, _)| !OWN.contains(&key.as_str())));
        parameters
    }
}

/// The tools that are offered: those that the choice names, where it names some.
fn offered(request: &ModelRequest) -> Vec<&ToolSchema> {
    let narrowed = request.tool_choice.as_ref().and_then(|choice| choice.tools.as_ref());
    let keep =
        |tool: &&ToolSchema| narrowed.is_none_or(|names| names.iter().any(|name| **name == **tool.name()));
    request.tools.iter().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use cepa_core::Msg;

    use super::*;

    fn chat() -> OpenAiChat {
        OpenAiChat::builder("m").base_url("http://127.0.0.1:9/v1").build().unwrap()
    }

    fn request() -> ModelRequest {
        let tool = |name: &str| ToolSchema::new(name, "does it", json!({"type": "object"}));
        ModelRequest::new([Msg::user("user", "hi")]).with_tools([tool("a"), tool("b")])
    }

    fn body(chat: &OpenAiChat, request: &ModelRequest) -> Value {
        serde_json::from_slice(&chat.body(request).unwrap()).unwrap()
    }

    #[test]
    fn the_plain_request_is_what_the_api_documents() {
        assert_eq!(
            body(&chat(), &request()),
            json!({
                "model": "m", "stream": true, "stream_options": {"include_usage": true},
                "messages": [{"role": "user", "content": "hi"}],
                "tools": [
                    {"type": "function", "function": {"name": "a", "description": "does it", "parameters": {"type": "object"}}},
                    {"type": "function", "function": {"name": "b", "description": "does it", "parameters": {"type": "object"}}},
                ],
            })
        );
    }

    #[test]
    fn tool_choice_in_all_modes() {
        let choose = |choice: ToolChoice| body(&chat(), &request().with_tool_choice(choice));
        for mode in ["auto", "none", "required"] {
            let mut choice = narrowed_to(&["b"]);
            choice.mode = ToolChoiceMode::from(mode.to_owned());
            let body = choose(choice);
            assert_eq!(body["tool_choice"], mode);
            assert_eq!(body["tools"].as_array().unwrap().len(), 1);
            assert_eq!(body["tools"][0]["function"]["name"], "b");
        }
        let body = choose(ToolChoice::tool("a"));
        assert_eq!(body["tool_choice"], json!({"type": "function", "function": {"name": "a"}}));
    }

    fn narrowed_to(names: &[&str]) -> ToolChoice {
        ToolChoice::auto().with_tools(names.iter().copied())
    }

    #[test]
    fn a_choice_that_cannot_be_made_is_refused_before_the_server_is_asked() {
        let refuse = |choice: ToolChoice| chat().body(&request().with_tool_choice(choice)).unwrap_err();
        let error = refuse(ToolChoice::tool("c"));
        assert_eq!(error.kind, ErrorType::InvalidRequest);
        assert!(error.message.contains("`c`"), "{error}");
        refuse(ToolChoice::required().with_tools(["c"]));
        let none_left = body(&chat(), &request().with_tool_choice(narrowed_to(&[])));
        assert_eq!((none_left.get("tools"), none_left.get("tool_choice")), (None, None));
    }

    #[test]
    fn options_of_the_request_go_before_those_of_the_model() {
        let mut defaults = ModelOptions::default();
        defaults.temperature = Some(0.1);
        defaults.seed = Some(7);
        defaults.extra.insert("enable_thinking", true);
        let chat = OpenAiChat::builder("m")
            .base_url("http://127.0.0.1:9/v1")
            .options(defaults)
            .stream(false)
            .build()
            .unwrap();
        let mut options = ModelOptions::default();
        options.temperature = Some(0.9);
        options.stop = vec!["END".into()];
        options.extra.insert("model", "other");
        options.extra.insert("max_completion_tokens", 5);
        let body = body(&chat, &ModelRequest::new([Msg::user("user", "hi")]).with_options(options));
        assert_eq!(
            body,
            json!({
                "model": "m", "stream": false, "messages": [{"role": "user", "content": "hi"}],
                "temperature": 0.9, "seed": 7, "stop": ["END"], "enable_thinking": true, "max_completion_tokens": 5,
            })
        );
    }
}
