//! Printing a reply while it is made.

use std::io::Write as _;

use cepa::{AgentEvent, EventKind};

/// How much of a tool's arguments and output is shown.
const SHOWN: usize = 160;

/// Prints events: the text as it streams, tool calls and results in short.
#[derive(Default)]
pub(crate) struct Screen {
    /// The arguments or the output that are being gathered.
    gathered: String,
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
            EventKind::ToolCallStart { tool_call_name, .. } => print!("→ {tool_call_name} "),
            EventKind::ToolCallDelta { delta, .. } | EventKind::ToolResultTextDelta { delta, .. } => {
                self.gathered.push_str(delta);
            }
            EventKind::ToolCallEnd { .. } => println!("{}", self.take()),
            EventKind::ToolResultEnd { state, .. } => println!("← {state:?}: {}\n", self.take()),
            _ => {}
        }
    }

    /// What was gathered, on one short line.
    fn take(&mut self) -> String {
        let line = std::mem::take(&mut self.gathered).split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{} …", &line[..end]),
            None => line,
        }
    }
}
