//! Showing an agent's onion.

use std::fmt;

use super::scope::ReplyScope;
use crate::{
    chain::Listed,
    middleware::{HookSet, Middleware},
};

/// An agent's layers, outermost first, with their hooks. `Display` is a text; [`Onion::mermaid`] a diagram.
#[derive(Clone, Debug)]
pub struct Onion {
    agent: String,
    layers: Vec<Layer>,
}

/// One layer of an onion.
#[derive(Clone, Debug)]
struct Layer {
    name: String,
    key: Option<String>,
    hooks: HookSet,
    tools: Vec<String>,
}

impl ReplyScope {
    pub(crate) fn onion(&self) -> Onion {
        Onion::of(&self.definition.name, &self.definition.layers)
    }
}

impl Onion {
    pub(super) fn of(agent: &str, layers: &[Listed<dyn Middleware>]) -> Self {
        let layers = layers.iter().map(|listed| Layer {
            name: listed.name.to_string(),
            key: listed.key.as_ref().map(ToString::to_string),
            hooks: listed.layer.hooks(),
            tools: listed.layer.tools().iter().map(|tool| tool.name().to_owned()).collect(),
        });
        Self { agent: agent.to_owned(), layers: layers.collect() }
    }

    /// The onion as a Mermaid flowchart: for each hook, the layers from the outside to its middle.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for hook in HookSet::ALL.names() {
            let set = HookSet::named(hook);
            let layers: Vec<_> =
                self.layers.iter().enumerate().filter(|(_, layer)| layer.hooks.contains(set)).collect();
            if layers.is_empty() {
                continue;
            }
            text.push_str(&format!("  subgraph {hook}\n    direction LR\n"));
            let nodes = layers.iter().map(|(at, layer)| format!("{hook}_{at}[\"{}\"]", escape(&layer.name)));
            let core = std::iter::once(format!("{hook}_core((\"{}\"))", escape(&self.agent)));
            text.push_str(&format!("    {}\n  end\n", nodes.chain(core).collect::<Vec<_>>().join(" --> ")));
        }
        text
    }
}

/// Names are data: they must not end the quotes of a node.
fn escape(name: &str) -> String {
    name.replace('"', "#quot;").replace(['\n', '\r'], " ")
}

impl fmt::Display for Onion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, layer) in self.layers.iter().enumerate() {
            write!(f, "{:indent$}{}", "", layer.name, indent = depth * 2)?;
            if let Some(key) = layer.key.as_ref().filter(|key| **key != layer.name) {
                write!(f, " ({key})")?;
            }
            write!(f, ": {}", layer.hooks.names().collect::<Vec<_>>().join(", "))?;
            if !layer.tools.is_empty() {
                write!(f, "; tools: {}", layer.tools.join(", "))?;
            }
            writeln!(f)?;
        }
        write!(f, "{:indent$}{}", "", self.agent, indent = self.layers.len() * 2)
    }
}
