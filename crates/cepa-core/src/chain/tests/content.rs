//! Items are the content, the output is its envelope: who sees what, and what may be changed where.

use std::sync::{Arc, Mutex};

use super::harness::{Layers, Rig, ask, core, request, says};
use crate::{
    chain::{Acting, Core, Cx, Flow, ModelCall},
    error::ErrorKind,
    message::{ContentBlock, TextBlock, ToolCallBlock},
    middleware::{Middleware, on_acting, on_model_call},
    model::{ChatChunk, ChatResponse},
    tool::{ActingInput, ToolChunk, ToolResponse},
};

/// What a layer has seen pass.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn watches(seen: &Seen) -> Arc<dyn Middleware> {
    let seen = seen.clone();
    Arc::new(on_model_call(move |_cx, request, next| {
        let seen = seen.clone();
        async move { next.tap(request, |chunk| seen.note(chunk.texts().collect::<String>())).await }
    }))
}

/// Answers from memory from the second call on.
fn caches() -> Arc<dyn Middleware> {
    let kept = Arc::new(Mutex::new(None::<ChatResponse>));
    Arc::new(on_model_call(move |_cx, request, next| {
        let kept = kept.clone();
        async move {
            let known = kept.lock().unwrap().clone();
            if let Some(known) = known {
                return Ok(known);
            }
            let response = next.collect(request).await?;
            *kept.lock().unwrap() = Some(response.clone());
            Ok(response)
        }
    }))
}

fn redacts() -> Arc<dyn Middleware> {
    Arc::new(on_model_call(|_cx, request, next| async move {
        let hide = |chunk: &mut ChatChunk| {
            chunk.texts_mut().for_each(|text| *text = text.replace("4111", "****"));
        };
        next.tap(request, hide).await
    }))
}

#[tokio::test]
async fn what_a_layer_answers_itself_is_seen_outside() {
    let seen = Seen::default();
    let answers = on_model_call(|_cx, _request, next| async move {
        drop(next);
        Ok(ChatResponse::own_text("from memory"))
    });
    let (texts, response) = ask(&[watches(&seen), Arc::new(answers)], says(["never"])).await;
    assert_eq!(texts, ["from memory"]);
    assert_eq!(seen.take(), ["from memory"]);
    assert!(response.unwrap().content.is_streamed(), "the content went out as an item");
}

#[tokio::test]
async fn what_a_core_does_not_stream_is_seen_by_every_layer() {
    let seen = Seen::default();
    let whole = core(|_: Cx<ModelCall>, _| async { Ok(ChatResponse::own_text("whole")) });
    let (texts, _) = ask(&[watches(&seen), watches(&seen)], whole).await;
    assert_eq!(texts, ["whole"]);
    assert_eq!(seen.take(), ["whole", "whole"]);
}

#[tokio::test]
async fn a_core_may_send_part_as_items_only() {
    let mixed = core(|cx: Cx<ModelCall>, _| async move {
        cx.emit(ChatChunk::text("a")).await;
        Ok(ChatResponse::own_text("b"))
    });
    let error = ask(&[], mixed).await.1.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::ContentChanged), "{error}");
}

#[tokio::test]
async fn a_cached_answer_passes_the_guards_outside() {
    let (seen, cache) = (Seen::default(), caches());
    let layers = [watches(&seen), redacts(), cache];
    let (first, _) = ask(&layers, says(["card ", "4111"])).await;
    assert_eq!(first, ["card ", "****"]);
    seen.take();
    // Now the core is not asked, and the whole answer comes as one item.
    let (second, response) = ask(&layers, says(["something else"])).await;
    assert_eq!(second, ["card ****"]);
    assert_eq!(seen.take(), ["card ****"]);
    response.unwrap();
}

#[tokio::test]
async fn what_was_collected_may_be_returned_as_it_is() {
    let looks = on_model_call(|_cx, request, next| async move {
        let response = next.collect(request).await?;
        assert_eq!(response.text(), "ab");
        Ok(response)
    });
    let (texts, response) = ask(&[Arc::new(looks)], says(["a", "b"])).await;
    assert_eq!(texts, ["a", "b"]);
    assert!(response.unwrap().content.is_streamed(), "not sent a second time");
}

#[tokio::test]
async fn what_was_collected_may_not_be_changed() {
    let changes = on_model_call(|_cx, request, next| async move {
        let mut response = next.collect(request).await?;
        response.content.blocks_mut().push(TextBlock::new("more").into());
        Ok(response)
    })
    .key("Changes");
    let layers: Layers = vec![redacts(), Arc::new(changes)];
    let (texts, response) = ask(&layers, says(["a", "b"])).await;
    let error = response.unwrap_err();
    assert_eq!(texts, ["a", "b"]);
    assert_eq!(error.layer(), Some(("on_model_call", "Changes")));
    assert_eq!(
        error.to_string(),
        "on_model_call of `Changes` (layer 2 of 2): the returned content is not what was sent as items: change \
         items in `next.tap`, or the whole response with `next.hold`"
    );
}

#[tokio::test]
async fn what_is_held_may_be_changed_and_is_sent_instead() {
    let seen = Seen::default();
    let edits = on_model_call(|_cx, request, next| async move {
        let mut response = next.hold(request).await?;
        let blocks = response.content.blocks_mut();
        assert_eq!(blocks.len(), 2, "{blocks:?}");
        blocks.retain(|block| matches!(block, ContentBlock::Text(_)));
        blocks.push(ToolCallBlock::new("c2", "safe", "{}").into());
        Ok(response)
    });
    let calls = core(|cx: Cx<ModelCall>, _| async move {
        cx.emit(ChatChunk::text("I ")).await;
        cx.emit(ChatChunk::text("call")).await;
        cx.emit(ChatChunk::tool_call("c1", "rm", "{}")).await;
        Ok(ChatResponse::streamed())
    });
    let outside = {
        let seen = seen.clone();
        on_model_call(move |_cx, request, next| {
            let seen = seen.clone();
            async move {
                let response = next.collect(request).await?;
                for block in response.content.blocks() {
                    seen.note(match block {
                        ContentBlock::ToolCall(call) => call.name.to_string(),
                        block => block.as_text().unwrap_or("?").to_owned(),
                    });
                }
                Ok(response)
            }
        })
    };
    ask(&[Arc::new(outside), Arc::new(edits)], calls).await.1.unwrap();
    assert_eq!(seen.take(), ["I call", "safe"]);
}

#[tokio::test]
async fn what_is_held_may_be_emptied() {
    let empties = on_model_call(|_cx, request, next| async move {
        let mut response = next.hold(request).await?;
        response.content.blocks_mut().clear();
        Ok(response)
    });
    let (texts, response) = ask(&[Arc::new(empties)], says(["a", "b"])).await;
    assert!(texts.is_empty(), "{texts:?}");
    response.unwrap();
}

/// A redaction by `tap` changes what the layers outside add up.
#[tokio::test]
async fn a_tap_changes_what_is_collected_outside() {
    let seen = Seen::default();
    let logs = {
        let seen = seen.clone();
        on_model_call(move |_cx, request, next| {
            let seen = seen.clone();
            async move {
                let response = next.collect(request).await?;
                seen.note(response.text());
                Ok(response)
            }
        })
    };
    ask(&[Arc::new(logs), redacts()], says(["is 4111", " yours?"])).await.1.unwrap();
    assert_eq!(seen.take(), ["is **** yours?"]);
}

/// A dropped item was sent all the same: what the layer returns is not taken for an answer of its own.
#[tokio::test]
async fn dropped_items_are_not_sent_again_from_the_response() {
    let drops = on_model_call(|_cx, request, next| async move {
        let mut texts = String::new();
        let mut response = next
            .tap(request, |chunk| {
                texts.extend(chunk.texts());
                Flow::Drop
            })
            .await?;
        response.content = vec![TextBlock::new(texts).into()].into();
        Ok(response)
    });
    let (texts, response) = ask(&[Arc::new(drops)], says(["a"])).await;
    assert!(texts.is_empty());
    assert!(matches!(response.unwrap_err().kind(), ErrorKind::ContentChanged));
}

#[tokio::test]
async fn items_that_nobody_hears_count_as_sent() {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let counts = {
        let sent = sent.clone();
        on_model_call(move |cx, request, next| {
            let sent = sent.clone();
            async move {
                sent.lock().unwrap().push(cx.sent());
                let response = next.run(request).await;
                sent.lock().unwrap().push(cx.sent());
                response
            }
        })
    };
    Rig::new(&[Arc::new(counts)], says(["a", "b"])).unheard(request()).await.unwrap();
    assert_eq!(*sent.lock().unwrap(), [0, 2]);
}

#[tokio::test]
async fn a_tools_output_keeps_the_same_rules() {
    let shouts = on_acting(|_cx, input, next| async move {
        let mut response = next.hold(input).await?;
        let loud = response.output_text().to_uppercase();
        response.content = ToolResponse::text(loud).content;
        Ok(response)
    });
    let tool: Arc<dyn Core<Acting>> = core(|cx: Cx<Acting>, _| async move {
        cx.emit(ToolChunk::text("sun")).await;
        cx.emit(ToolChunk::text("ny")).await;
        Ok(ToolResponse::streamed())
    });
    let input = ActingInput::new(ToolCallBlock::new("c1", "weather", "{}"));
    let (mut items, _) = Rig::new(&[Arc::new(shouts)], tool).into_stream(input);
    let chunk = items.next().await.unwrap();
    assert_eq!(ToolResponse::own(chunk.content).output_text(), "SUNNY");
    assert!(items.next().await.is_none());
}
