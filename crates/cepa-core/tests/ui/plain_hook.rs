use cepa_core::{Cx, Middleware, Result, SystemPrompt, middleware};

struct Layer;

#[middleware]
impl Middleware for Layer {
    fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(prompt)
    }
}

fn main() {}
