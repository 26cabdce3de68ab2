//! Many replies at once.

use std::collections::HashMap;

use cepa_core::{
    AgentState,
    testing::{Answer, ScriptedModel},
    tool,
};
use cepa_tracing::TracingMiddleware;
use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_sdk::trace::SpanData;
use tracing::{Instrument as _, info_span, instrument::WithSubscriber as _};

use crate::support::{Collector, attribute, traced};

/// Works for some turns.
#[tool(read_only)]
async fn work(turns: u32) -> String {
    let working = async {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    };
    working.instrument(info_span!("work")).await;
    "done".to_owned()
}

/// Two rounds of two tools beside each other, and an answer.
fn model(turns: [u32; 4]) -> ScriptedModel {
    let call = |number: usize| (format!("c{number}"), format!(r#"{{"turns": {}}}"#, turns[number]));
    let round = |calls: [usize; 2]| {
        calls
            .into_iter()
            .map(call)
            .fold(Answer::new(), |answer, (id, input)| answer.raw_tool_call(id, "work", input))
    };
    ScriptedModel::new([round([0, 1]), round([2, 3]), Answer::new().text("Once").text(" upon a time")])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn r17_a_thousand_replies_on_four_workers_mix_no_traces_and_end_every_span() {
    const REPLIES: usize = 1000;
    let collector = Collector::new();
    let mut random = fastrand::Rng::with_seed(17);
    let replies: Vec<_> = (0..REPLIES)
        .map(|number| {
            let model = model([(); 4].map(|()| random.u32(0..6)));
            // Half of them are read to their end.
            let leaves_after = random.bool().then(|| random.usize(1..40));
            let state = AgentState::with_session_id(format!("session-{number}"));
            let agent = traced(model, TracingMiddleware::new()).tool(work).state(state).build().unwrap();
            let reading = async move {
                let mut stream = agent.into_stream("Go");
                let mut read = 0;
                while leaves_after != Some(read) && stream.next().await.is_some() {
                    read += 1;
                    tokio::task::yield_now().await;
                }
            };
            tokio::spawn(reading.with_subscriber(collector.dispatch.clone()))
        })
        .collect();
    for reply in replies {
        reply.await.unwrap();
    }

    let spans = collector.spans().0;
    let mut traces: HashMap<TraceId, Vec<&SpanData>> = HashMap::new();
    for span in &spans {
        traces.entry(span.span_context.trace_id()).or_default().push(span);
    }
    assert_eq!(traces.len(), REPLIES);
    let mut whole = 0;
    for trace in traces.values() {
        let root: Vec<_> = trace.iter().filter(|span| span.parent_span_id == SpanId::INVALID).collect();
        assert_eq!(root.len(), 1);
        let session = attribute(root[0], "gen_ai.conversation.id");
        for span in trace {
            let parent = trace.iter().find(|one| one.span_context.span_id() == span.parent_span_id);
            match (&*span.name, parent.map_or("", |parent| &*parent.name)) {
                ("invoke_agent Friday", "")
                | ("chat scripted" | "execute_tool work", "invoke_agent Friday") => {
                    assert_eq!(attribute(span, "gen_ai.conversation.id"), session);
                }
                ("work", "execute_tool work") => {}
                other => panic!("{other:?}"),
            }
        }
        whole += usize::from(trace.len() == 12);
    }
    // One reply, three answers, four tools and the work of each.
    assert!(whole >= REPLIES / 3, "{whole}");
}
