//! Compression and the layers around it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use cepa_core::{
    CompressInput, HintBlock, Purpose, ReplyInput, on_compress_context, on_model_call, on_reply,
    on_system_prompt, serde_json::json,
};

use crate::script::{Say, Scripted, agent, context_config, history, short, shown_context, summary};

#[tokio::test]
async fn layers_lie_around_it_in_their_order() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let layer = |name: &'static str| {
        let log = log.clone();
        on_compress_context(move |_cx, input: CompressInput, next| {
            let log = log.clone();
            async move {
                log.lock()
                    .unwrap()
                    .push(format!("{name} in {}", input.config.is_some() || input.instructions.is_some()));
                next.run(input).await?;
                log.lock().unwrap().push(format!("{name} out"));
                Ok(())
            }
        })
    };
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let mut agent = agent(&model, history()).middleware(layer("a")).middleware(layer("b")).build().unwrap();
    agent.reply("hi").await.unwrap();
    assert_eq!(*log.lock().unwrap(), ["a in false", "b in false", "b out", "a out"]);
}

#[tokio::test]
async fn a_layer_gives_instructions() {
    let layer = on_compress_context(|_cx, mut input: CompressInput, next| async move {
        input.instructions = Some(HintBlock::new("keep names"));
        next.run(input).await
    });
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let mut agent = agent(&model, history()).middleware(layer).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(model.asked()[0][4..], ["assistant: hint keep names", "user: COMPRESS"]);
}

#[tokio::test]
async fn a_layer_that_answers_itself_leaves_the_context_as_it_is() {
    let layer = on_compress_context(|_cx, _input, _next| async { Ok(()) });
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], []));
    let mut agent = agent(&model, history()).middleware(layer).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(shown_context(&agent).len(), 4);
}

#[tokio::test]
async fn the_prompt_is_built_once_per_request() {
    let built = Arc::new(AtomicUsize::new(0));
    let layer = || {
        let built = built.clone();
        on_system_prompt(move |_cx, prompt: String| {
            built.fetch_add(1, Relaxed);
            async move { Ok(prompt) }
        })
    };
    // A direct call, and one before a step of the reply.
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short(), short()]));
    let mut direct = agent(&model, history()).middleware(layer()).build().unwrap();
    direct.compress(CompressInput::default()).await.unwrap();
    assert_eq!((built.swap(0, Relaxed), model.asked().len()), (1, 1));
    direct.state().unwrap().context = history().into_iter().map(Arc::new).collect();
    direct.reply("now").await.unwrap();
    assert_eq!((built.swap(0, Relaxed), model.asked().len()), (2, 3));
    // And one by the tool.
    let chat = [Say::Call("t1", "CompressContext"), Say::Text("ok")];
    let model = Arc::new(Scripted::new(500, chat, [short()]));
    let mut config = context_config();
    (config.trigger_ratio, config.context_buffer_ratio) = (0.9, 0.6);
    config.compression_tool_enabled = true;
    let mut by_tool = agent(&model, history()).context_config(config).middleware(layer()).build().unwrap();
    by_tool.reply("now").await.unwrap();
    assert_eq!((built.swap(0, Relaxed), model.asked().len()), (3, 3));
}

#[tokio::test]
async fn what_a_layer_adds_meanwhile_stays() {
    let layer = on_model_call(|cx, request: cepa_core::ModelRequest, next| async move {
        if request.purpose == Purpose::Summary {
            let note = HintBlock::new("meanwhile").into();
            cx.state()?.append_context("Friday", [note]);
        }
        next.run(request).await
    });
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let mut agent = agent(&model, history()).middleware(layer).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(shown_context(&agent), ["user: now", "assistant: hint meanwhile|ok"]);
}

#[tokio::test]
async fn a_context_that_a_layer_replaces_meanwhile_is_not_touched() {
    let layer = on_model_call(|cx, request: cepa_core::ModelRequest, next| async move {
        if request.purpose == Purpose::Summary {
            cx.state()?.context.remove(0);
        }
        next.run(request).await
    });
    let model = Arc::new(Scripted::new(200, [Say::Text("ok")], [short()]));
    let mut agent = agent(&model, history()).middleware(layer).build().unwrap();
    agent.reply("now").await.unwrap();
    assert_eq!(summary(&agent), "");
    assert_eq!(shown_context(&agent), ["assistant: long long lo", "user: now", "assistant: ok"]);
}

#[tokio::test]
async fn a_layer_asks_for_an_object_on_its_own_account() {
    let seen = Arc::new(Mutex::new(None));
    let slot = seen.clone();
    let layer = on_reply(move |cx, input: ReplyInput, next| {
        let slot = slot.clone();
        async move {
            let schema =
                json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
            let request = cepa_core::ModelRequest::new([cepa_core::Msg::user("user", "How many?")]);
            let answer = cx.call_structured(Purpose::Routing, request, &schema).await?;
            *slot.lock().unwrap() = Some(answer["n"].clone());
            next.run(input).await
        }
    });
    let model = Arc::new(Scripted::new(2_000, [Say::Text("ok")], [Say::Object(json!({"n": "3"}))]));
    let mut agent = agent(&model, Vec::new()).middleware(layer).build().unwrap();
    let message = agent.reply("now").await.unwrap();
    assert_eq!(*seen.lock().unwrap(), Some(json!(3)));
    assert_eq!(model.asked()[0], ["routing", "user: How many?"]);
    assert_eq!(shown_context(&agent), ["user: now", "assistant: ok"]);
    assert_eq!(message.usage, Some(cepa_core::Usage::new(40, 12)));
}
