//! Layers made of closures, under other keys, and which hooks they are listed for.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
};

use super::harness::{Layers, Rig, ask, core, done, request, says};
use crate::{
    agent::{Agent, BuildError, ReplyScope},
    chain::{CheckPermission, Compress, Core, Cx, Reply, SystemPrompt},
    middleware::{
        CompressInput, HookSet, Middleware, MiddlewareExt, MiddlewareKey, ReplyInput, on_check_permission,
        on_compress_context, on_model_call, on_reply, on_system_prompt,
    },
    permission::{PermissionBehavior, PermissionDecision},
    state::AgentState,
};

/// Counts its calls in its place in the store.
fn counts() -> impl Middleware {
    on_model_call(|cx, request, next| async move {
        cx.my_state().update(|count: &mut u32| *count += 1)?;
        next.run(request).await
    })
}

#[tokio::test]
async fn a_closure_keeps_its_state_under_its_place() {
    let plain = on_model_call(|_cx, request, next| next.run(request));
    let rig = Rig::new(&[Arc::new(plain), Arc::new(counts())], says(["a"]));
    rig.unheard(request()).await.unwrap();
    rig.unheard(request()).await.unwrap();
    let state = rig.scope.state().unwrap();
    assert_eq!(serde_json::to_string(&state.middle_context).unwrap(), r#"{"on_model_call#2":2}"#);
}

#[tokio::test]
async fn a_closure_may_have_a_key() {
    let keyed = on_model_call(|cx, request, next| async move {
        cx.my_state().set("kept".to_owned())?;
        next.run(request).await
    })
    .key("Notes");
    let rig = Rig::new(&[Arc::new(keyed)], says(["a"]));
    rig.unheard(request()).await.unwrap();
    let state = rig.scope.state().unwrap();
    assert_eq!(serde_json::to_string(&state.middle_context).unwrap(), r#"{"Notes":"kept"}"#);
}

#[tokio::test]
async fn two_of_a_kind_under_keys_of_their_own() {
    let rig = Rig::new(&[Arc::new(counts().keyed("one")), Arc::new(counts().keyed("two"))], says(["a"]));
    rig.unheard(request()).await.unwrap();
    let state = rig.scope.state().unwrap();
    assert_eq!(serde_json::to_string(&state.middle_context).unwrap(), r#"{"one":1,"two":1}"#);
}

#[test]
fn two_of_a_kind_under_one_key_do_not_fit_in_one_agent() {
    struct Named;
    impl Middleware for Named {
        fn key(&self) -> Option<MiddlewareKey> {
            Some("Named".into())
        }
    }
    let builder = Agent::builder("tested").model(ScriptlessModel);
    let error = builder.middleware(Named).middleware(counts()).middleware(Named).define().unwrap_err();
    assert!(
        matches!(&error, BuildError::DuplicateKey { key, first: 1, second: 3 } if key.as_str() == "Named"),
        "{error}"
    );
}

#[derive(Debug)]
struct ScriptlessModel;

impl crate::ChatModel for ScriptlessModel {
    fn name(&self) -> &str {
        "scriptless"
    }
    fn call(
        &self,
        _request: crate::ModelRequest,
        _out: crate::ModelOutlet,
    ) -> crate::BoxFuture<'_, crate::Result<crate::ChatResponse>> {
        Box::pin(std::future::pending())
    }
}

/// `Keyed` is the layer itself in everything but its key.
#[tokio::test]
async fn a_keyed_layer_does_what_the_layer_does() {
    struct Everything;
    impl Middleware for Everything {
        fn hooks(&self) -> HookSet {
            HookSet::SYSTEM_PROMPT | HookSet::REPLY
        }
        fn name(&self) -> Cow<'static, str> {
            "Everything".into()
        }
        fn on_system_prompt(
            self: Arc<Self>,
            _cx: Cx<SystemPrompt>,
            prompt: String,
        ) -> crate::BoxFuture<'static, crate::Result<String>> {
            Box::pin(std::future::ready(Ok(prompt + "!")))
        }
    }
    let keyed = Everything.keyed("mine");
    assert_eq!(
        (keyed.hooks(), keyed.name().as_ref()),
        (HookSet::SYSTEM_PROMPT | HookSet::REPLY, "Everything")
    );
    assert_eq!(keyed.key(), Some("mine".into()));
    let prompt: Arc<dyn Core<SystemPrompt>> = core(|_: Cx<SystemPrompt>, prompt| async { Ok(prompt) });
    let layers: Layers = vec![Arc::new(keyed), Arc::new(Everything.keyed("yours"))];
    assert_eq!(Rig::new(&layers, prompt).unheard("Hi".to_owned()).await.unwrap(), "Hi!!");
}

#[test]
fn layers_are_listed_for_the_hooks_they_have() {
    assert_eq!(counts().hooks(), HookSet::MODEL_CALL);
    assert_eq!(counts().keyed("k").hooks(), HookSet::MODEL_CALL);
    let sets = [HookSet::named("on_reply"), HookSet::named("on_acting"), HookSet::named("on_replay")];
    let hooks: HookSet = sets.into_iter().collect();
    assert_eq!(hooks.names().collect::<Vec<_>>(), ["on_reply", "on_acting"]);
    assert!(HookSet::ALL.contains(hooks) && !hooks.contains(HookSet::ALL));
    assert!(HookSet::named("on_replay").is_empty());
}

/// Listed for every hook, implementing none: nothing changes.
#[tokio::test]
async fn a_layer_without_hooks_of_its_own_passes_everything_on() {
    struct Nothing;
    impl Middleware for Nothing {}
    let layers: Layers = vec![Arc::new(Nothing)];
    assert_eq!(ask(&layers, says(["a", "b"])).await.0, ["a", "b"]);
    let reply: Arc<dyn Core<Reply>> = core(|_: Cx<Reply>, _| async { Ok(done()) });
    let message = Rig::new(&layers, reply).unheard(ReplyInput::default()).await.unwrap();
    assert_eq!(message.text().as_deref(), Some("done"));
}

#[tokio::test]
async fn the_pipeline_goes_from_the_outermost_layer_inward() {
    let adds = |text: &'static str| -> Arc<dyn Middleware> {
        Arc::new(on_system_prompt(move |_cx, prompt| async move { Ok(prompt + text) }))
    };
    let core: Arc<dyn Core<SystemPrompt>> = core(|_: Cx<SystemPrompt>, prompt| async { Ok(prompt) });
    let prompt = Rig::new(&[adds(" A"), adds(" B")], core).unheard("p".to_owned()).await.unwrap();
    assert_eq!(prompt, "p A B");
}

#[tokio::test]
async fn hooks_without_items_are_wrapped_too() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = {
        let order = order.clone();
        move |what: &'static str| order.lock().unwrap().push(what)
    };
    let denies = on_check_permission(|_cx, request, next| async move {
        let decision = next.run(request).await?;
        assert_eq!(decision.behavior, PermissionBehavior::Allow);
        Ok(PermissionDecision::new(PermissionBehavior::Deny, "not on Sundays"))
    });
    let around = {
        let note = note.clone();
        on_compress_context(move |_cx, input, next| {
            let note = note.clone();
            async move {
                note("before");
                next.run(input).await?;
                note("after");
                Ok(())
            }
        })
    };
    let layers: Layers = vec![Arc::new(denies), Arc::new(around)];
    let allows: Arc<dyn Core<CheckPermission>> =
        core(|_: Cx<CheckPermission>, _| async { Ok(PermissionDecision::allow("by default")) });
    let scope = ReplyScope::for_tests(&layers, AgentState::new());
    let request = crate::PermissionRequest::new(
        crate::ToolCallBlock::new("c", "t", "{}"),
        Arc::new(crate::SchemaTool::new("t", "", serde_json::json!({"type": "object"}))),
        serde_json::Map::new(),
    );
    let next = crate::Next::root(scope.frame(allows), crate::Outlet::unheard(None));
    assert_eq!(next.run(request).await.unwrap().message, "not on Sundays");
    let compresses: Arc<dyn Core<Compress>> = core(move |_: Cx<Compress>, _| {
        note("core");
        async { Ok(()) }
    });
    Rig::new(&layers, compresses).unheard(CompressInput::default()).await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["before", "core", "after"]);
}

/// `next` says how many layers are left, and a context which hook it is of.
#[tokio::test]
async fn debug_output_names_hook_and_place() {
    let shown = Arc::new(Mutex::new(String::new()));
    let shows = {
        let shown = shown.clone();
        on_reply(move |cx, input, next| {
            *shown.lock().unwrap() = format!("{cx:?} {next:?}");
            next.run(input)
        })
    };
    let reply: Arc<dyn Core<Reply>> = core(|_: Cx<Reply>, _| async { Ok(done()) });
    let layers: Layers = vec![Arc::new(shows), super::stacks::runs()];
    Rig::new(&layers, reply).unheard(ReplyInput::default()).await.unwrap();
    let shown = shown.lock().unwrap();
    assert!(shown.contains(r#"Cx { hook: "on_reply", layer: 0"#), "{shown}");
    assert!(shown.contains(r#"Next { hook: "on_reply", layers_left: 1"#), "{shown}");
}
