//! `#[tool]`: what a function is to an agent.
#![cfg(feature = "macros")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail the test")]

use std::{fmt, sync::Arc, thread};

use cepa_core::{
    PermissionBehavior, PermissionContext, Tool, ToolChunk, ToolCx, ToolError, ToolResponse, ToolResultState,
    Toolkit,
    serde_json::{Map, Value, json},
    tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Repeats a text.
///
///   - as often as it is told
#[tool]
pub async fn repeat(
    /// What to repeat.
    mut text: String,
    /// How often.
    #[serde(default = "twice")]
    times: u32,
    #[allow(unused)] note: Option<Vec<f64>>,
) -> String {
    text = text.repeat(times as usize);
    text
}

fn twice() -> u32 {
    2
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// Degrees north.
    latitude: f64,
    zone: Option<Zone>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Zone {
    title: String,
    kind: ZoneKind,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum ZoneKind {
    Land,
    Sea,
}

/// Tells the weather.
#[tool]
async fn weather(place: Place) -> Value {
    json!({"warm": place.latitude.abs() < 40.0, "zone": place.zone.map(|zone| format!("{} ({:?})", zone.title, zone.kind))})
}

/// Tells the climate.
#[tool(read_only)]
async fn climate(Place { latitude, .. }: Place, _: ToolCx) -> &'static str {
    if latitude.abs() < 23.5 { "tropical" } else { "other" }
}

/// Describes a kind.
#[tool]
async fn describe(kind: ZoneKind) -> String {
    format!("{kind:?}")
}

/// Counts.
#[tool(name = "count-down", description = concat!("Counts", " down."), sequential, permission = "allow")]
async fn count_down(cx: ToolCx, from: u32) -> ToolResponse {
    for n in (0..from).rev() {
        cx.emit(ToolChunk::text(format!("{n} "))).await;
    }
    ToolResponse::streamed()
}

/// Does nothing.
#[tool(permission = "deny")]
async fn nothing() {}

/// Fails as it is told.
#[tool]
async fn fail(for_developer: bool) -> Result<(), ToolError> {
    if for_developer { Err(ToolError::developer("no disk")) } else { Err(ToolError::new("try another")) }
}

/// Reads a number.
#[tool]
fn number(text: String) -> Result<String, std::num::ParseIntError> {
    text.parse::<i32>().map(|number| number.to_string())
}

/// Panics.
#[tool]
fn panics(text: String) -> String {
    panic!("not with {text}")
}

/// Tells where it runs.
#[tool]
fn thread_name() -> String {
    format!("{:?}", thread::current().id())
}

/// Its name is that of a parameter and of a variable.
#[tool]
fn steps(steps: u64, so_far: Option<u64>) -> String {
    let so_far = so_far.unwrap_or(0);
    if steps == 1 {
        return so_far.to_string();
    }
    let steps = if steps.is_multiple_of(2) { steps / 2 } else { 3 * steps + 1 };
    recursive(steps, Some(so_far + 1))
}

fn recursive(n: u64, so_far: Option<u64>) -> String {
    steps::run(n, so_far)
}

/// Calls itself.
#[tool]
fn factorial(n: u64) -> Value {
    if n < 2 { json!(1) } else { json!(n * factorial(n - 1).as_u64().unwrap_or(0)) }
}

macro_rules! greeter {
    ($name:ident, $cx:ty, $who:ty) => {
        #[tool(description = "Greets.", read_only)]
        pub async fn $name(cx: $cx, who: $who) -> String {
            drop(cx);
            format!("Hello, {who}!")
        }
    };
}

greeter!(greet, ToolCx, String);

struct Degrees(f64);

impl From<Degrees> for ToolResponse {
    fn from(degrees: Degrees) -> Self {
        Self::text(format!("{}°", degrees.0))
    }
}

/// Measures.
#[tool]
async fn measure(r#type: String) -> Result<Degrees, fmt::Error> {
    if r#type == "air" { Ok(Degrees(21.5)) } else { Err(fmt::Error) }
}

async fn call(tool: impl Tool, input: Value) -> cepa_core::Result<ToolResponse> {
    let Value::Object(input) = input else { panic!("{input} is no object") };
    let name = tool.name().to_owned();
    Toolkit::new([tool]).unwrap().call(&name, input).await
}

async fn answer(tool: impl Tool, input: Value) -> String {
    let response = call(tool, input).await.unwrap();
    assert_eq!(response.state, ToolResultState::Success, "{}", response.output_text());
    response.output_text()
}

/// The error that the model is told.
async fn failure(tool: impl Tool, input: Value) -> String {
    let response = call(tool, input).await.unwrap();
    assert_eq!(response.state, ToolResultState::Error, "{}", response.output_text());
    response.output_text()
}

/// The behaviour of the tool's own word on a call.
async fn own_word(tool: impl Tool) -> PermissionBehavior {
    tool.check_permissions(&Map::new(), &PermissionContext::default()).await.behavior
}

#[test]
fn the_doc_comment_is_the_description() {
    assert_eq!(repeat.name(), "repeat");
    assert_eq!(repeat.description(), "Repeats a text.\n\n  - as often as it is told");
}

#[test]
fn the_schema_is_plain() {
    assert_eq!(
        *repeat.input_schema(),
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What to repeat."},
                "times": {"type": "integer", "minimum": 0, "description": "How often.", "default": 2},
                "note": {"type": ["array", "null"], "items": {"type": "number"}},
            },
            "required": ["text"],
        })
    );
    assert_eq!(*nothing.input_schema(), json!({"type": "object", "properties": {}}));
}

#[test]
fn the_fields_of_one_struct_are_the_arguments_and_types_are_inlined() {
    for schema in [weather.input_schema(), climate.input_schema()] {
        assert_eq!(schema["required"], json!(["latitude"]));
        let zone = &schema["properties"]["zone"]["properties"];
        assert_eq!(zone["kind"], json!({"type": "string", "enum": ["Land", "Sea"]}));
        assert_eq!(zone["title"], json!({"type": "string"}), "a field may be named as a keyword");
        let text = schema.to_string();
        assert!(!text.contains("$ref") && !text.contains("$schema") && !text.contains("Place"), "{text}");
    }
}

#[test]
fn one_argument_that_is_no_struct_has_its_own_name() {
    assert_eq!(describe.input_schema()["required"], json!(["kind"]));
    assert_eq!(measure.input_schema()["required"], json!(["type"]));
}

#[tokio::test]
async fn options_are_heeded() {
    assert_eq!(count_down.name(), "count-down");
    assert_eq!(count_down.description(), "Counts down.");
    assert!(!count_down.is_concurrency_safe() && repeat.is_concurrency_safe());
    assert!(climate.is_read_only() && !repeat.is_read_only());
    assert!(climate.is_idempotent() && !repeat.is_idempotent());
    assert_eq!(own_word(count_down).await, PermissionBehavior::Allow);
    assert_eq!(own_word(nothing).await, PermissionBehavior::Deny);
    assert_eq!(own_word(repeat).await, PermissionBehavior::Ask);
}

#[tokio::test]
async fn results_of_every_kind_are_told() {
    assert_eq!(answer(repeat, json!({"text": "ab"})).await, "abab");
    assert_eq!(answer(weather, json!({"latitude": 50})).await, r#"{"warm":false,"zone":null}"#);
    assert_eq!(answer(climate, json!({"latitude": 0})).await, "tropical");
    assert_eq!(answer(describe, json!({"kind": "Sea"})).await, "Sea");
    assert_eq!(answer(count_down, json!({"from": 3})).await, "2 1 0 ");
    assert_eq!(answer(measure, json!({"type": "air"})).await, "21.5°");
    assert!(!answer(nothing, json!({})).await.is_empty());
}

#[tokio::test]
async fn failures_are_told_to_the_model_but_for_those_of_the_developer() {
    assert_eq!(failure(fail, json!({"for_developer": false})).await, "try another");
    assert_eq!(failure(number, json!({"text": "x"})).await, "invalid digit found in string");
    let error = call(fail, json!({"for_developer": true})).await.unwrap_err();
    assert!(error.to_string().contains("no disk"), "{error}");
}

#[tokio::test]
async fn a_panic_in_a_plain_function_is_a_failure() {
    assert_eq!(failure(panics, json!({"text": "me"})).await, "the tool panicked: not with me");
}

#[tokio::test]
async fn a_plain_function_runs_where_it_may_block() {
    assert_ne!(answer(thread_name, json!({})).await, format!("{:?}", thread::current().id()));
}

#[test]
fn a_plain_function_runs_in_place_without_a_runtime() {
    let here = format!("{:?}", thread::current().id());
    assert_eq!(futures_util::FutureExt::now_or_never(answer(thread_name, json!({}))), Some(here));
}

#[tokio::test]
async fn what_does_not_fit_is_told_by_the_name_of_the_argument() {
    // Straight to the tool: the toolkit would have checked the schema before.
    let arguments = cepa_core::__private::Arguments::<Place>::fields();
    let read = |input: Value| match input {
        Value::Object(input) => arguments.read(input).err().map(|error| error.to_string()),
        other => panic!("{other} is no object"),
    };
    assert_eq!(read(json!({"latitude": 1})), None);
    assert_eq!(read(json!({})).unwrap(), "arguments: missing field `latitude`");
    assert_eq!(
        read(json!({"latitude": 1, "zone": {"title": "x", "kind": "Air"}})).unwrap(),
        "argument `zone.kind`: unknown variant `Air`, expected `Land` or `Sea`"
    );
}

#[tokio::test]
async fn the_function_stays_callable_and_may_call_itself() {
    assert_eq!(repeat::run("a".into(), 3, None).await, "aaa");
    assert_eq!(steps::run(6, None), "8");
    assert_eq!(answer(steps, json!({"steps": 6})).await, "8");
    assert_eq!(answer(factorial, json!({"n": 5})).await, "120");
}

#[tokio::test]
async fn tools_are_made_by_macros_and_inside_of_functions_too() {
    /// Says where it is.
    #[tool]
    async fn local(n: u8) -> String {
        format!("{n} inside")
    }
    assert_eq!(answer(local, json!({"n": 1})).await, "1 inside");
    assert_eq!(answer(greet, json!({"who": "you"})).await, "Hello, you!");
}

#[test]
fn tools_stand_in_one_toolkit() {
    let toolkit = Toolkit::new([Arc::new(repeat) as Arc<dyn Tool>, Arc::new(weather)]).unwrap();
    assert!(toolkit.tool("weather").is_some());
}
