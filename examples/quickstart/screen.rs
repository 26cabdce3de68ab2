//! Printing a reply while it is made.

use std::{collections::HashMap, io::Write as _, sync::Arc};

use cepa::{AgentEvent, EventKind, Id};

/// How much of a tool's arguments and output is shown.
const SHOWN: usize = 160;

/// Prints events: the text as it streams, tool calls and results in short.
///
/// Calls and results may stream beside each other, so each is printed when it is complete.
#[derive(Default)]
pub(crate) struct Screen {
    /// The name of each call, and of its arguments or output what there is so far.
    calls: HashMap<Id, (Arc<str>, String)>,
}

impl Screen {
    pub(crate) fn show(&mut self, event: &AgentEvent) {
        match &event.kind {
            EventKind::TextBlockDelta { delta, .. } => {
                print!("{delta}");
                // A line that is not shown yet is no stream.
                let _ = std::io::stdout().flush();
            }
            EventKind::TextBlockEnd { .. } => println!(),
            EventKind::ToolCallStart { tool_call_id, tool_call_name, .. }
            | EventKind::ToolResultStart { tool_call_id, tool_call_name, .. } => {
                self.calls.insert(tool_call_id.clone(), (tool_call_name.clone(), String::new()));
            }
            EventKind::ToolCallDelta { tool_call_id, delta, .. }
            | EventKind::ToolResultTextDelta { tool_call_id, delta, .. } => {
                if let Some((_, gathered)) = self.calls.get_mut(tool_call_id) {
                    gathered.push_str(delta);
                }
            }
            EventKind::ToolCallEnd { tool_call_id, .. } => {
                if let Some((name, arguments)) = self.calls.remove(tool_call_id) {
                    println!("→ {name} {}", shortened(&arguments));
                }
            }
            EventKind::ToolResultEnd { tool_call_id, state, .. } => {
                if let Some((name, output)) = self.calls.remove(tool_call_id) {
                    println!("← {name} {state:?}: {}\n", shortened(&output));
                }
            }
            _ => {}
        }
    }
}

/// On one short line.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line,
    }
}
