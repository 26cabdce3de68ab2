//! A reply on the page.

use std::time::SystemTime;

use jiff::Timestamp;
use maud::{Markup, html};

use super::{agent::layers, messages::question, span, text};
use crate::{
    names,
    view::{Kind, Node, Status, Tree, duration},
};

/// A reply as it stands on the page.
pub(super) struct Shown {
    number: usize,
    content: Markup,
}

impl Shown {
    /// The reply of this number in the process.
    pub(super) fn new(tree: &Tree, number: usize) -> Self {
        let content = html! {
            (head(tree))
            (waterfall(tree, number))
            (layers(tree, 0))
        };
        Self { number, content }
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.content.0.len()
    }

    pub(super) fn write(&self, open: bool, page: &mut String) {
        let reply = html! {
            details.reply id={ "r" (self.number) } open[open] { (self.content) }
        };
        page.push_str(&reply.0);
    }
}

fn head(tree: &Tree) -> Markup {
    let root = tree.spans.first();
    let agent = root.and_then(|root| root.fields.text(names::AGENT_NAME)).unwrap_or("agent");
    let spans_of = |kind| tree.spans.iter().filter(|node| node.kind() == kind).count();
    let errors = tree.spans.iter().filter(|node| failed(node)).count();
    html! {
        summary {
            span.title {
                h2 { bdi { (text(agent)) } }
                @if let Some(root) = root { (span::status(&root.status())) }
                @if errors > 0 && !root.is_some_and(failed) { span.status.error { (counted(errors, "error", "errors")) } }
            }
            @if let Some(question) = root.and_then(question) {
                span.question { bdi { (text(&question)) } }
            }
            span.meta {
                (time(tree.began))
                span { (duration(tree.duration())) }
                @if let Some((sent, written)) = root.and_then(|root| root.tokens()) {
                    span title="tokens sent → tokens written" { (sent) " → " (written) " tokens" }
                }
                span { (counted(spans_of(Kind::Chat), "model call", "model calls")) }
                span { (counted(spans_of(Kind::Tool), "tool call", "tool calls")) }
            }
        }
    }
}

fn failed(node: &Node) -> bool {
    matches!(node.status(), Status::Error { .. })
}

fn waterfall(tree: &Tree, number: usize) -> Markup {
    let whole = tree.duration();
    html! {
        div.waterfall {
            div.axis aria-hidden="true" {
                span.ticks {
                    span { "0" }
                    @for quarter in 1..=4 { span { (duration(whole * quarter / 4)) } }
                }
                span.time { "Time" }
                span.tokens { "Tokens" }
                span.ending { "Status" }
            }
            @for row in tree.rows() { (span::row(tree, row, whole, number)) }
            @if tree.spans_left_out > 0 {
                p.note { (counted(tree.spans_left_out, "more span was", "more spans were")) " left out." }
            }
            @if tree.events_left_out > 0 {
                p.note { (counted(tree.events_left_out, "more event was", "more events were")) " left out." }
            }
        }
    }
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// A moment: in UTC, until the page's script makes it the reader's.
fn time(time: SystemTime) -> Markup {
    let time = Timestamp::try_from(time).unwrap_or_default();
    html! { time datetime=(time) { (time.strftime("%F %T UTC")) } }
}
