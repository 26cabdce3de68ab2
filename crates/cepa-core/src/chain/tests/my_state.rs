//! A layer's own place in the store.

use std::sync::{Arc, Mutex};

use super::harness::{Rig, core, done, request, says};
use crate::{
    chain::{Core, Cx, Reply},
    error::{Error, ErrorKind},
    middleware::{Middleware, ReplyInput, on_model_call, on_reply},
    state::AgentState,
    store::StoreError,
};

fn state_with(json: &str) -> AgentState {
    let mut state = AgentState::new();
    state.middle_context = serde_json::from_str(json).unwrap();
    state
}

fn stored(rig: &Rig<crate::ModelCall>) -> String {
    serde_json::to_string(&rig.scope.state().unwrap().middle_context).unwrap()
}

/// A layer that only asks for its state as a number.
fn counts() -> Arc<dyn Middleware> {
    Arc::new(
        on_model_call(|cx, request, next| async move {
            cx.my_state().update(|count: &mut u32| *count += 1)?;
            next.run(request).await
        })
        .key("Counts"),
    )
}

#[tokio::test]
async fn a_saved_value_is_gone_on_with() {
    let rig = Rig::with_state(&[counts()], says([]), state_with(r#"{"Counts":41,"Other":{"z":[1,null]}}"#));
    rig.unheard(request()).await.unwrap();
    assert_eq!(stored(&rig), r#"{"Counts":42,"Other":{"z":[1,null]}}"#);
}

#[tokio::test]
async fn a_value_that_does_not_decode_is_named_and_kept() {
    let rig = Rig::with_state(&[counts()], says([]), state_with(r#"{"Counts":"many"}"#));
    for _ in 0..2 {
        let error = rig.unheard(request()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Store(StoreError::Decode { .. })), "{error}");
        let text = error.to_string();
        assert!(text.starts_with("on_model_call of `Counts` (layer 1 of 1): "), "{text}");
        assert!(text.contains("middleware `Counts` does not decode as `u32`"), "{text}");
    }
    assert_eq!(stored(&rig), r#"{"Counts":"many"}"#);
}

#[tokio::test]
async fn set_replaces_whatever_is_there() {
    let layer = on_model_call(|cx, request, next| async move {
        cx.my_state().set(7_u32)?;
        assert_eq!(cx.my_state().get::<u32>()?, 7);
        next.run(request).await
    })
    .key("Counts");
    let rig = Rig::with_state(&[Arc::new(layer)], says([]), state_with(r#"{"Counts":"many"}"#));
    rig.unheard(request()).await.unwrap();
    assert_eq!(stored(&rig), r#"{"Counts":7}"#);
}

#[tokio::test]
async fn one_key_has_one_type() {
    let layer = on_model_call(|cx, request, next| async move {
        cx.my_state().update(|count: &mut u32| *count += 1)?;
        let error = cx.my_state().update(|text: &mut String| text.clear()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Store(StoreError::Type { .. })), "{error}");
        assert!(error.to_string().contains("held as `u32`"), "{error}");
        next.run(request).await
    })
    .key("Counts");
    let rig = Rig::new(&[Arc::new(layer)], says([]));
    rig.unheard(request()).await.unwrap();
    assert_eq!(stored(&rig), r#"{"Counts":1}"#);
}

/// Nested access is an error, not a deadlock; afterwards everything is as before.
#[tokio::test]
async fn nested_access_is_refused() {
    let layer = on_model_call(|cx, request, next| async move {
        let reentrant = |error: Error| assert!(matches!(error.kind(), ErrorKind::Reentrant), "{error}");
        {
            let _state = cx.state()?;
            reentrant(cx.my_state().update(|count: &mut u32| *count += 1).unwrap_err());
            reentrant(cx.state().unwrap_err());
        }
        cx.my_state().update(|count: &mut u32| {
            reentrant(cx.my_state().get::<u32>().unwrap_err());
            *count += 1;
        })?;
        next.run(request).await
    })
    .key("Counts");
    let rig = Rig::new(&[Arc::new(layer)], says([]));
    rig.unheard(request()).await.unwrap();
    assert_eq!(stored(&rig), r#"{"Counts":1}"#);
}

#[tokio::test]
async fn a_layer_without_a_key_has_no_place() {
    struct Keyless(Mutex<Option<Error>>);
    impl Middleware for Keyless {
        fn on_reply(
            self: Arc<Self>,
            cx: Cx<Reply>,
            input: ReplyInput,
            next: crate::Next<Reply>,
        ) -> crate::BoxFuture<'static, crate::Result<crate::Msg>> {
            *self.0.lock().unwrap() = cx.my_state().get::<u32>().err();
            Box::pin(next.run(input))
        }
    }
    let layer = Arc::new(Keyless(Mutex::new(None)));
    let reply: Arc<dyn Core<Reply>> = core(|_: Cx<Reply>, _| async { Ok(done()) });
    let layers: [Arc<dyn Middleware>; 1] = [layer.clone()];
    Rig::new(&layers, reply).unheard(ReplyInput::default()).await.unwrap();
    let error = layer.0.lock().unwrap().take().unwrap();
    assert!(matches!(error.kind(), ErrorKind::NoMiddlewareKey), "{error}");
}

/// A context that outlives its reply gives no access and swallows what is emitted.
#[tokio::test]
async fn after_the_reply_is_over() {
    let kept = Arc::new(Mutex::new(None::<Cx<Reply>>));
    let keeps = {
        let kept = kept.clone();
        on_reply(move |cx, input, next| {
            *kept.lock().unwrap() = Some(cx);
            next.run(input)
        })
    };
    let reply: Arc<dyn Core<Reply>> = core(|_: Cx<Reply>, _| async { Ok(done()) });
    let rig = Rig::new(&[Arc::new(keeps)], reply);
    let scope = rig.scope.clone();
    let (items, _) = rig.into_stream(ReplyInput::default());
    items.finish().await.unwrap();
    scope.end_for_tests();
    let cx = kept.lock().unwrap().take().unwrap();
    for error in [cx.state().unwrap_err(), cx.my_state().set(1_u32).unwrap_err()] {
        assert!(matches!(error.kind(), ErrorKind::ReplyOver), "{error}");
    }
    assert!(!cx.emit(super::harness::Token::new().event()).await);
}
