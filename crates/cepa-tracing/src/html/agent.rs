//! An agent's layers and the times of its hooks on the page.

use std::time::Duration;

use cepa_core::{
    HookSet,
    serde_json::{self, Map, Value},
};
use maud::{Markup, html};

use super::text;
use crate::view::{Event, Tree, duration};

/// Which layers there are, as text.
const ONION: &str = "cepa_tracing::onion";
/// Calls and seconds by hook, and by tool, as JSON.
const TIMING: &str = "cepa_tracing::timing";

/// The events that are shown here.
pub(super) const EVENTS: [&str; 2] = [ONION, TIMING];

/// So many layers are drawn inside of each other.
const MAX_RINGS: usize = 40;

/// The layers and hooks of the agent whose span this is.
pub(super) fn layers(tree: &Tree, agent: usize) -> Markup {
    let said = |target, field| {
        let own = tree.spans.iter().enumerate().filter(|(at, _)| tree.agent_of(*at) == agent);
        let mut events = own.flat_map(|(_, node)| &node.events);
        events.find(|event: &&Event| event.target == target).and_then(|event| event.fields.text(field))
    };
    let hooks =
        said(TIMING, "hooks").and_then(|hooks| serde_json::from_str::<Map<String, Value>>(hooks).ok());
    html! {
        section.layers {
            div {
                h3 { "Layers" }
                @match said(ONION, "onion") {
                    Some(onion) => { (rings(onion)) }
                    None => p.note {
                        "Not known: a filter keeps back the level "
                        code { "trace" } " of the target " code { "cepa_tracing" } "."
                    },
                }
            }
            @if let Some(hooks) = hooks { div { h3 { "Hooks" } (times(&hooks)) } }
        }
    }
}

/// The onion: a line for each layer, the outermost first, and for the agent in its middle.
fn rings(onion: &str) -> Markup {
    let mut lines: Vec<&str> = onion.lines().map(str::trim).collect();
    let agent = lines.pop().unwrap_or_default();
    let more = lines.len().saturating_sub(MAX_RINGS);
    lines.truncate(MAX_RINGS);
    let core = html! {
        @if more > 0 { p.note { (more) " more" } }
        div.core { bdi { (text(agent)) } }
    };
    let rings = lines.iter().rev().fold(core, |inside, line| {
        let (name, rest) = line.split_once(": ").unwrap_or((line, ""));
        let (hooks, tools) = rest.split_once("; tools: ").unwrap_or((rest, ""));
        html! {
            div.ring {
                p {
                    bdi.layer { (text(name)) }
                    @for hook in names(hooks) { " " span.chip { (text(hook)) } }
                    @for tool in names(tools) { " " span.chip.offers { (text(tool)) } }
                }
                (inside)
            }
        }
    });
    html! { div.onion { (rings) } }
}

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(", ").filter(|name| !name.is_empty())
}

fn times(hooks: &Map<String, Value>) -> Markup {
    let tools = hooks.get("tools").and_then(Value::as_object);
    // From the outside to the inside.
    let known = HookSet::ALL.names().filter_map(|hook| Some((hook, hooks.get(hook)?)));
    html! {
        table.hooks {
            tr { th scope="col" { "Hook" } th.number scope="col" { "Calls" } th.number scope="col" { "Time" } }
            @for (hook, spent) in known { (time(hook, spent)) }
            @if let Some(tools) = tools.filter(|tools| !tools.is_empty()) {
                tr { th scope="col" { "Tool" } th.number scope="col" { "Calls" } th.number scope="col" { "Time" } }
                @for (tool, spent) in tools { (time(tool, spent)) }
            }
        }
    }
}

fn time(name: &str, spent: &Value) -> Markup {
    let calls = spent.get("calls").and_then(Value::as_u64).unwrap_or_default();
    let seconds = spent.get("seconds").and_then(Value::as_f64).unwrap_or_default();
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    html! {
        tr { td { bdi { (text(name)) } } td.number { (calls) } td.number { (duration(time)) } }
    }
}
