//! What these tests share.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use cepa_core::{
    Agent, AgentBuilder, ContentBlock, InjectionConfig, Middleware, ModelRequest, ToolResultState, Toolkit,
    serde_json::{Value, json, to_value},
    testing::{Answer, ScriptedModel},
};
use cepa_memory::{AgenticMemoryMiddleware, agentic::Builder};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// A folder of memories, in a folder of its own.
pub(crate) struct Memories(TempDir);

impl Memories {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let memories = Self::new();
        for (name, text) in files {
            memories.put(name, text);
        }
        memories
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("Memory")
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn builder(&self) -> Builder {
        AgenticMemoryMiddleware::builder(self.root())
    }

    /// What a tool says, and whether it is an error.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        Tools::of(&self.root()).call(tool, arguments)
    }
}

/// The tools of the memory in a folder.
pub(crate) struct Tools {
    toolkit: Toolkit,
    runtime: Runtime,
}

impl Tools {
    pub(crate) fn of(root: &Path) -> Self {
        let tools = AgenticMemoryMiddleware::new(root).unwrap().tools();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        Self { toolkit: Toolkit::new(tools).unwrap(), runtime }
    }

    /// What a tool says, and whether it is an error.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let Value::Object(arguments) = arguments else { panic!("no arguments") };
        let response = self.runtime.block_on(self.toolkit.call(tool, arguments)).unwrap();
        match response.state {
            ToolResultState::Success => Ok(response.output_text()),
            _ => Err(response.output_text()),
        }
    }

    /// What a tool says within this time; then it is dropped.
    pub(crate) fn call_for(&self, time: Duration, tool: &str, arguments: Value) -> Option<String> {
        let Value::Object(arguments) = arguments else { panic!("no arguments") };
        let call = async { tokio::time::timeout(time, self.toolkit.call(tool, arguments)).await };
        self.runtime.block_on(call).ok().map(|response| response.unwrap().output_text())
    }
}

/// A memory that is to be written.
pub(crate) fn note(file: &str, content: &str) -> Value {
    json!({"file": file, "name": "A note", "description": "When it is asked for", "type": "user", "content": content})
}

/// An agent that is told nothing of time and tasks.
pub(crate) fn builder(model: &ScriptedModel) -> AgentBuilder {
    let mut injection = InjectionConfig::default();
    injection.inject_runtime_state = false;
    Agent::builder("Friday").model(model.clone()).injection_config(injection)
}

/// The choice of these files.
pub(crate) fn choice(files: &[&str]) -> Answer {
    Answer::new().tool_call("generate_structured_output", json!({"selected_files": files}))
}

/// The system prompt of a request.
pub(crate) fn prompt(request: &ModelRequest) -> String {
    request.messages[0].text().unwrap()
}

/// The texts of the hints in a request.
pub(crate) fn hints(request: &ModelRequest) -> Vec<String> {
    let hint = |block: &ContentBlock| match block {
        ContentBlock::Hint(hint) => to_value(&hint.hint).unwrap().as_str().map(str::to_owned),
        _ => None,
    };
    request.messages.iter().flat_map(|msg| &msg.content).filter_map(hint).collect()
}
