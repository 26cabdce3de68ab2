//! What traces cost: per span, per reply, and while nobody wants them.

use cepa_core::{
    Acting, ActingInput, Agent, ChatResponse, Cx, Middleware, MiddlewareKey, ModelCall, ModelRequest, Msg,
    Next, Reply, ReplyInput, Result as HookResult, ToolResponse, middleware,
};
use cepa_tracing::{Capture, TracingMiddleware};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use tracing_subscriber::{Layer as _, filter::LevelFilter, layer::SubscriberExt as _};

use crate::{
    Error, Figure, Report,
    onion::{Calls, Work, agent, by_turns, figure, instant},
    samples::{By, Samples},
};

const TURNS: usize = 120;
/// Enough replies for one sample that a difference of nanoseconds shows.
const REPLIES: usize = 20;
/// A reply, two model calls, and a tool.
const SPANS: usize = 4;

/// Takes all the measurements. Some seconds.
///
/// # Errors
/// An agent that cannot be built or whose reply fails, and spans that are not there.
pub fn run() -> Result<Report, Error> {
    let mut figures = vec![off()?];
    figures.extend(on()?);
    Ok(Report { name: "tracing", figures })
}

/// What the layer adds to one that only calls `next` while there is no subscriber.
fn off() -> Result<Figure, Error> {
    let works = [work(|| PassThrough)?, work(TracingMiddleware::new)?];
    let samples = by_turns(&works, TURNS, REPLIES)?;
    Ok(figure("off_ns", Some(20.0), |by| difference(&samples[1], &samples[0], by)))
}

/// What spans cost that are made and exported.
fn on() -> Result<Vec<Figure>, Error> {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("cepa"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(LevelFilter::INFO);
    let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));

    let full = || TracingMiddleware::new().capture(Capture::full());
    let none = Work::new(agent(builder(), 0, || PassThrough)?)?;
    let works = [none, work(|| PassThrough)?, work(TracingMiddleware::new)?, work(full)?];
    works[2].read(&mut works[2].definition().agent())?;
    let spans = exporter.get_finished_spans()?.len();
    if spans != SPANS {
        return Err(format!("{spans} spans instead of {SPANS}").into());
    }
    let mut all: Vec<Samples> = works.iter().map(|_| Samples::default()).collect();
    for _ in 0..TURNS {
        for (samples, sample) in all.iter_mut().zip(by_turns(&works, 1, REPLIES)?) {
            samples.add(sample.by(By::Minimum));
        }
        // What was exported is not to grow for ever.
        exporter.reset();
    }
    Ok(vec![
        figure("span_ns", Some(700.0), |by| difference(&all[2], &all[1], by) / SPANS as f64),
        figure("span_full_ns", None, |by| difference(&all[3], &all[1], by) / SPANS as f64),
        figure("overhead_us", None, |by| difference(&all[3], &all[0], by) / 1_000.0),
    ])
}

fn difference(more: &Samples, less: &Samples, by: By) -> f64 {
    more.by(by) - less.by(by)
}

/// A round of one tool call, then twenty pieces of text.
fn builder() -> cepa_core::AgentBuilder {
    Agent::builder("a").model(Calls::new(1, 20)).tool(instant)
}

fn work<L: Middleware>(layer: impl Fn() -> L) -> Result<Work, Error> {
    Work::new(agent(builder(), 1, layer)?)
}

/// On the hooks of the traces, and does nothing.
struct PassThrough;

#[middleware]
impl Middleware for PassThrough {
    fn key(&self) -> Option<MiddlewareKey> {
        None
    }

    async fn on_reply(&self, _cx: Cx<Reply>, input: ReplyInput, next: Next<Reply>) -> HookResult<Msg> {
        next.run(input).await
    }

    async fn on_model_call(
        &self,
        _cx: Cx<ModelCall>,
        request: ModelRequest,
        next: Next<ModelCall>,
    ) -> HookResult<ChatResponse> {
        next.run(request).await
    }

    async fn on_acting(
        &self,
        _cx: Cx<Acting>,
        input: ActingInput,
        next: Next<Acting>,
    ) -> HookResult<ToolResponse> {
        next.run(input).await
    }
}
