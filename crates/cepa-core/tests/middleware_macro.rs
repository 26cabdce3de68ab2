//! `#[middleware]`: what a block becomes.
#![cfg(feature = "macros")]

use std::sync::Arc;

use cepa_core::{
    Acting, ActingInput, BoxFuture, ChatResponse, Cx, HookSet, Middleware, MiddlewareKey, ModelCall,
    ModelRequest, Msg, Next, Reply, ReplyInput, Result, SystemPrompt, Tool, ToolCallInput, ToolCalling,
    ToolGroup, ToolMiddleware, ToolResponse, Toolkit, middleware,
    serde_json::{Map, Value, json},
    tool,
};

struct Plain;

#[middleware]
impl Middleware for Plain {
    async fn on_reply(
        &self,
        _: Cx<Reply>,
        ReplyInput { inputs, .. }: ReplyInput,
        next: Next<Reply>,
    ) -> Result<Msg> {
        next.run(ReplyInput::new(inputs)).await
    }

    #[cfg(any())]
    async fn on_model_call(&self, nothing: Here) -> That<Compiles> {}

    #[cfg(not(any()))]
    async fn on_system_prompt(self: Arc<Self>, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(prompt)
    }
}

mod inner {
    pub(super) struct Generic<T>(pub(super) T);
}

#[middleware]
impl<T> Middleware for inner::Generic<T>
where
    T: Fn(&mut ModelRequest) + Clone + Send + Sync + 'static,
{
    async fn on_model_call(
        &self,
        _cx: Cx<ModelCall>,
        mut request: ModelRequest,
        next: Next<ModelCall>,
    ) -> Result<ChatResponse> {
        (self.0.clone())(&mut request);
        next.run(request).await
    }
}

struct ByHand;

#[middleware]
impl Middleware for ByHand {
    fn name(&self) -> std::borrow::Cow<'static, str> {
        "by hand".into()
    }

    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![Arc::new(echo)]
    }

    fn on_acting(
        self: Arc<Self>,
        _cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> BoxFuture<'static, Result<ToolResponse>> {
        Box::pin(next.run(input))
    }
}

struct OwnHooks;

#[middleware]
impl Middleware for OwnHooks {
    fn hooks(&self) -> HookSet {
        HookSet::NONE
    }

    async fn on_system_prompt(&self, _cx: Cx<SystemPrompt>, prompt: String) -> Result<String> {
        Ok(prompt)
    }
}

/// Says it again.
#[tool]
async fn echo(text: String) -> String {
    text
}

struct Loud;

#[middleware]
impl ToolMiddleware for Loud {
    async fn on_tool_call(
        &self,
        _cx: Cx<ToolCalling>,
        mut input: ToolCallInput,
        next: Next<ToolCalling>,
    ) -> Result<ToolResponse> {
        input.input.insert("text".into(), json!("HELLO"));
        next.run(input).await
    }
}

#[derive(Debug)]
struct LoudEcho;

impl Tool for LoudEcho {
    fn name(&self) -> &str {
        "loud_echo"
    }
    fn description(&self) -> &str {
        echo.description()
    }
    fn input_schema(&self) -> &Value {
        echo.input_schema()
    }
    fn middlewares(&self) -> Vec<Arc<dyn ToolMiddleware>> {
        vec![Arc::new(Loud)]
    }
    fn call(
        self: Arc<Self>,
        input: Map<String, Value>,
        cx: cepa_core::ToolCx,
    ) -> BoxFuture<'static, Result<ToolResponse, cepa_core::ToolError>> {
        Arc::new(echo).call(input, cx)
    }
}

#[test]
fn the_hooks_of_the_block_are_listed() {
    assert_eq!(Plain.hooks(), HookSet::REPLY | HookSet::SYSTEM_PROMPT);
    assert_eq!(inner::Generic(|_: &mut ModelRequest| {}).hooks(), HookSet::MODEL_CALL);
    assert_eq!(ByHand.hooks(), HookSet::ACTING);
}

#[test]
fn the_name_and_the_key_are_the_bare_name_of_the_type() {
    let generic = inner::Generic(|_: &mut ModelRequest| {});
    assert_eq!((&*generic.name(), generic.key()), ("Generic", Some(MiddlewareKey::new("Generic"))));
}

#[test]
fn what_is_written_by_hand_wins() {
    assert_eq!(ByHand.name(), "by hand");
    assert_eq!(ByHand.key(), None);
    assert_eq!(ByHand.tools().len(), 1);
    assert_eq!(OwnHooks.hooks(), HookSet::NONE);
}

#[test]
fn a_layer_is_an_object() {
    let layers: [Arc<dyn Middleware>; 2] = [Arc::new(Plain), Arc::new(ByHand)];
    assert_eq!(layers.map(|layer| layer.name().into_owned()), ["Plain", "by hand"]);
}

#[tokio::test]
async fn a_layer_around_a_tool_runs() {
    let toolkit = Toolkit::new([LoudEcho]).unwrap();
    let input = Map::from_iter([("text".to_owned(), json!("hello"))]);
    assert_eq!(toolkit.call("loud_echo", input).await.unwrap().output_text(), "HELLO");
}

#[test]
fn a_group_takes_it_too() {
    let group = ToolGroup::new("loud", "Speaks up.").tool(echo).middleware(Loud);
    assert_eq!(Loud.name(), "Loud");
    drop(group);
}
