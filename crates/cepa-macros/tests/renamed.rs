//! Both attributes in a package that calls the crate by another name.

use onion::{
    Cx, Middleware, Result, SystemPrompt, Toolkit, middleware,
    serde_json::{Map, json},
    tool,
};

struct Polite;

#[middleware]
impl Middleware for Polite {
    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(prompt + "\nBe polite.")
    }
}

/// Adds.
#[tool]
async fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

/// Doubles.
#[tool(crate = onion)]
fn double(n: i64) -> String {
    (2 * n).to_string()
}

#[test]
fn a_layer_works_renamed() {
    assert_eq!(Polite.hooks(), onion::HookSet::SYSTEM_PROMPT);
}

#[tokio::test]
async fn a_tool_works_renamed() {
    let toolkit = Toolkit::new([
        std::sync::Arc::new(add) as std::sync::Arc<dyn onion::Tool>,
        std::sync::Arc::new(double),
    ])
    .expect("two tools of two names");
    let input = Map::from_iter([("a".to_owned(), json!(1)), ("b".to_owned(), json!(2))]);
    assert_eq!(toolkit.call("add", input).await.expect("a response").output_text(), "3");
    let input = Map::from_iter([("n".to_owned(), json!(2))]);
    assert_eq!(toolkit.call("double", input).await.expect("a response").output_text(), "4");
}
