//! What model requests have spent is paid once, whatever becomes of them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cepa_core::{
    Meter, Usage, on_model_call,
    testing::{Answer, ScriptedModel},
};

use super::{builder, within};

/// What a layer has counted: of a call that has ended what is told and what was given up, of a dropped one everything.
type Counted = Arc<Mutex<Vec<Option<Usage>>>>;

struct Counts {
    meter: Meter,
    counted: Counted,
    ended: bool,
}

impl Counts {
    fn count(&self, usages: impl IntoIterator<Item = Option<Usage>>) {
        self.counted.lock().unwrap().extend(usages);
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        if !self.ended {
            self.count(self.meter.all());
        }
    }
}

/// A layer that counts.
macro_rules! counts {
    ($counted:expr) => {{
        let counted: Counted = $counted.clone();
        on_model_call(move |_cx, request, next| {
            let counted = counted.clone();
            async move {
                let (next, meter) = next.metered();
                let mut counts = Counts { meter, counted, ended: false };
                let result = next.run(request).await;
                counts.ended = true;
                let told = match &result {
                    Ok(response) => response.usage.as_ref(),
                    Err(error) => error.usage(),
                };
                counts.count([told.map(Usage::from)]);
                counts.count(counts.meter.given_up());
                result
            }
        })
    }};
}

fn sorted(counted: &Counted) -> Vec<Option<u64>> {
    let counted = counted.lock().unwrap();
    let mut tokens: Vec<_> =
        counted.iter().map(|usage| usage.as_ref().map(|usage| usage.input_tokens)).collect();
    tokens.sort();
    tokens
}

fn paid(agent: &cepa_core::Agent) -> Vec<Usage> {
    agent.state().unwrap().context.iter().filter_map(|msg| msg.usage.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn of_a_race_each_request_is_counted_once() {
    let model =
        ScriptedModel::new([Answer::new().reports_usage(70, 7).texts(["Well", "."]), Answer::new().hangs()]);
    let (inside, outside) = (Counted::default(), Counted::default());
    let mut agent = builder(&model)
        .middleware(counts!(outside))
        .middleware(on_model_call(|_cx, request, next| async move {
            let first = next.clone().run(request.clone());
            let second = next.run(request);
            tokio::select! {
                biased;
                result = first => result,
                result = second => result,
            }
        }))
        .middleware(counts!(inside))
        .build()
        .unwrap();
    within(agent.reply("Go")).await.unwrap();
    assert_eq!(model.requests().len(), 2);
    assert_eq!(sorted(&inside), [None, Some(70)]);
    assert_eq!(sorted(&outside), [None, Some(70)]);
    assert_eq!(paid(&agent), [Usage::new(70, 7)]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_a_layer_gives_up_is_paid_with_the_one_that_answers() {
    let model = ScriptedModel::new([
        Answer::new().reports_usage(70, 0).hangs(),
        Answer::new().text("Well.").usage(5, 1),
    ]);
    let outside = Counted::default();
    let mut agent = builder(&model)
        .middleware(counts!(outside))
        .middleware(on_model_call(|_cx, request, next| async move {
            let first = next.clone().run(request.clone());
            match tokio::time::timeout(Duration::from_secs(1), first).await {
                Ok(result) => result,
                Err(_) => next.run(request).await,
            }
        }))
        .build()
        .unwrap();
    within(agent.reply("Go")).await.unwrap();
    assert_eq!(sorted(&outside), [Some(5), Some(70)]);
    assert_eq!(paid(&agent), [Usage::new(75, 1)]);
}

#[tokio::test(start_paused = true)]
async fn what_failed_before_is_paid_when_the_reader_leaves_meanwhile() {
    let fails = cepa_core::ModelError::new(cepa_core::ErrorType::Upstream, "busy");
    let model = ScriptedModel::new([Answer::new().reports_usage(70, 0).fails(fails)]);
    let outside = Counted::default();
    let mut agent = builder(&model)
        .middleware(counts!(outside))
        // As one that tries again waits.
        .middleware(on_model_call(|_cx, request, next| async move {
            _ = next.run(request).await;
            std::future::pending().await
        }))
        .build()
        .unwrap();
    tokio::time::timeout(Duration::from_secs(1), agent.reply("Go")).await.unwrap_err();
    assert_eq!(sorted(&outside), [Some(70)]);
    assert_eq!(paid(&agent), [Usage::new(70, 0)]);
}

#[tokio::test(start_paused = true)]
async fn what_never_reached_a_model_is_not_counted() {
    let model = ScriptedModel::new([""; 0]);
    let outside = Counted::default();
    let mut agent = builder(&model)
        .middleware(counts!(outside))
        .middleware(on_model_call(|_cx, _request, next| async move {
            drop(next);
            std::future::pending().await
        }))
        .build()
        .unwrap();
    tokio::time::timeout(Duration::from_secs(1), agent.reply("Go")).await.unwrap_err();
    assert_eq!(sorted(&outside), []);
    assert_eq!(paid(&agent), []);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_paid_wherever_its_reader_leaves() {
    let mut left = 0;
    for events in 1.. {
        let model = ScriptedModel::new([Answer::new().text("Well.").usage(70, 7)]);
        let mut agent = builder(&model).build().unwrap();
        let mut stream = agent.reply("Go").stream();
        let mut last = String::new();
        for _ in 0..events {
            let Some(event) = within(stream.next()).await else { break };
            last = event.event_type().to_owned();
        }
        drop(stream);
        // The server tells with its last word.
        let is_told = ["TEXT_BLOCK_END", "MODEL_CALL_END", "REPLY_END"].contains(&&*last);
        assert_eq!(paid(&agent), if is_told { vec![Usage::new(70, 7)] } else { vec![] }, "{last}");
        left += usize::from(is_told);
        if last == "REPLY_END" {
            break;
        }
    }
    assert_eq!(left, 3);
}
