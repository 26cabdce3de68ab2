use cepa_core::{Cx, Result, SystemPrompt, middleware};

struct Layer;

#[middleware]
impl Layer {
    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(prompt)
    }
}

fn main() {}
