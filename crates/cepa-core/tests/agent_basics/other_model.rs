//! A round in which another model is asked than the agent's own.

use std::sync::Arc;

use cepa_core::{
    ErrorType, ModelError, ModelRequest, on_model_call, on_reasoning,
    testing::{Answer, EventLog, ScriptedModel},
};

use super::{builder, within};

#[tokio::test(start_paused = true)]
async fn it_is_named_by_events_seen_by_layers_outside_and_has_the_agents_retries_and_fallback() {
    let busy = || Answer::from(ModelError::new(ErrorType::RateLimit, "busy"));
    let own = ScriptedModel::new(["own"]).named("own");
    let other = ScriptedModel::new([busy(), "other".into(), busy(), busy()]).named("other");
    let asked = other.clone();
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sees = seen.clone();
    let looks = on_model_call(move |_cx, request: ModelRequest, next| {
        sees.lock().unwrap().push(request.model.as_ref().unwrap().name().to_owned());
        next.run(request)
    });
    let routes = on_reasoning(move |_cx, input, next| next.run(input.with_model(Arc::new(other.clone()))));
    let mut agent = builder(&own)
        .model_retries(1)
        .fallback_model(ScriptedModel::new(["spare"]).named("spare"))
        .middleware(looks)
        .middleware(routes)
        .build()
        .unwrap();
    let log = within(EventLog::of(agent.reply("Go"))).await;
    log.assert([
        "REPLY_START",
        "MODEL_CALL_START other",
        "...",
        "TEXT_BLOCK_DELTA other",
        "...",
        "REPLY_END completed",
    ]);
    let log = within(EventLog::of(agent.reply("Again"))).await;
    log.assert([
        "REPLY_START",
        "MODEL_CALL_START other",
        "...",
        "TEXT_BLOCK_DELTA spare",
        "...",
        "REPLY_END completed",
    ]);
    assert_eq!(*seen.lock().unwrap(), ["other", "other", "other", "other", "spare"]);
    assert_eq!((asked.remaining(), own.remaining()), (0, 1));
    assert_eq!(agent.definition().model().name(), "own");
}
