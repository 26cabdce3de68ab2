//! A span on the page: its row, and what is told of it on a click.

use std::time::Duration;

use cepa_core::serde_json::Value;
use maud::{Markup, html};

use super::{
    agent::{self, layers},
    messages::{self, json},
    text,
};
use crate::{
    names,
    view::{Event, Kind, Node, Row, Status, Tree, duration},
};

/// What has a place of its own, so that it is not among the attributes.
const SHOWN: [&str; 7] = [
    "otel.status_code",
    "otel.status_description",
    names::INPUT_MESSAGES,
    names::OUTPUT_MESSAGES,
    names::TOOL_DEFINITIONS,
    names::TOOL_CALL_ARGUMENTS,
    names::TOOL_CALL_RESULT,
];

pub(super) fn row(tree: &Tree, row: Row<'_>, whole: Duration, reply: usize) -> Markup {
    let node = row.node;
    let percent = |part: Duration, whole: Duration| match whole.is_zero() {
        true => "0".to_owned(),
        false => format!("{:.3}", part.as_secs_f64() / whole.as_secs_f64() * 100.0),
    };
    let kind = kind(node);
    let first = node.first_chunk().unwrap_or_default().min(row.duration());
    let place = format!(
        "--at:{}%;--for:{}%;--first:{}%",
        percent(node.start, whole),
        percent(row.duration(), whole),
        percent(first, row.duration())
    );
    html! {
        details.span.{ (kind) } id={ "r" (reply) "s" (row.at) } {
            summary style={ "--depth:" (row.depth.min(12)) } {
                span.name { bdi { (text(&node.name)) } }
                span.lane style=(place) {
                    span.bar { @if !first.is_zero() { span.first title={ "first piece after " (duration(first)) } {} } }
                }
                span.time { (duration(row.duration())) }
                span.tokens {
                    @if let Some((sent, written)) = node.tokens() { (sent) " → " (written) }
                }
                span.ending { (status(&node.status())) }
            }
            div.panel { (panel(tree, row)) }
        }
    }
}

/// How it ended, in a word.
pub(super) fn status(status: &Status<'_>) -> Markup {
    let class = match status {
        Status::Unset => return html! {},
        Status::Ok => "ok",
        Status::Error { .. } => "error",
        Status::Waiting(_) => "waiting",
        Status::Cancelled => "cancelled",
    };
    html! { span.status.{ (class) } { bdi { (text(&status.to_string())) } } }
}

fn kind(node: &Node) -> &'static str {
    match node.kind() {
        Kind::Agent => "agent",
        Kind::Chat => "chat",
        Kind::Tool => "tool",
        Kind::Other => "other",
    }
}

fn panel(tree: &Tree, row: Row<'_>) -> Markup {
    let node = row.node;
    html! {
        @if let Status::Error { description: Some(description), .. } = node.status() {
            p.failure role="note" { (text(description)) }
        }
        (facts(row))
        (content(node))
        (events(node))
        (attributes(node))
        // The reply's own are below its waterfall.
        @if node.kind() == Kind::Agent && row.at > 0 { (layers(tree, row.at)) }
    }
}

/// What not every row has room for.
fn facts(row: Row<'_>) -> Markup {
    let node = row.node;
    html! {
        p.facts {
            span { "began after " (duration(node.start)) }
            span { "took " (duration(row.duration())) }
            @if let Some(first) = node.first_chunk() { span { "first piece after " (duration(first)) } }
            @if let Some((sent, written)) = node.tokens() { span { (sent) " tokens sent, " (written) " written" } }
        }
    }
}

/// What went in and what came out.
fn content(node: &Node) -> Markup {
    let field = |name| node.fields.text(name);
    let (input, output) = (field(names::INPUT_MESSAGES), field(names::OUTPUT_MESSAGES));
    let (arguments, result) = (field(names::TOOL_CALL_ARGUMENTS), field(names::TOOL_CALL_RESULT));
    let nothing = [input, output, arguments, result].iter().all(Option::is_none);
    html! {
        @if let Some(input) = input { (messages::messages("Input", input)) }
        @if let Some(output) = output { (messages::messages("Output", output)) }
        @if let Some(arguments) = arguments { section { h3 { "Arguments" } (messages::any(arguments)) } }
        @if let Some(result) = result { section { h3 { "Result" } (messages::any(result)) } }
        @if let Some(tools) = field(names::TOOL_DEFINITIONS) {
            details.more { summary { "Tools on offer" } (json(tools)) }
        }
        @if nothing && node.kind() != Kind::Other {
            p.note {
                "What was said is not captured. "
                code { "TracingMiddleware::new().capture(Capture::full())" }
                " puts it here."
            }
        }
    }
}

fn events(node: &Node) -> Markup {
    let events: Vec<&Event> =
        node.events.iter().filter(|event| !agent::EVENTS.contains(&event.target)).collect();
    html! {
        @if !events.is_empty() {
            section {
                h3 { "Events" }
                table.events {
                    @for event in events {
                        tr {
                            td.time { (duration(event.at)) }
                            td { span.level.{ (event.level.as_str().to_ascii_lowercase()) } { (event.level) } }
                            td.value {
                                @if let Some(message) = event.fields.text("message") { (text(message)) " " }
                                @for (name, value) in event.fields.0.iter().filter(|(name, _)| *name != "message") {
                                    span.field { (text(name)) "=" (value_text(value)) } " "
                                }
                                span.target { (text(event.target)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn attributes(node: &Node) -> Markup {
    let attributes = node.fields.0.iter().filter(|(name, _)| !SHOWN.contains(name));
    html! {
        section {
            h3 { "Attributes" }
            table.attributes {
                @for (name, value) in attributes {
                    tr { th scope="row" { (text(name)) } td.value { (value_text(value)) } }
                }
                tr { th scope="row" { "target" } td.value { (text(node.target)) } }
            }
        }
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(value) => text(value),
        value => value.to_string(),
    }
}
