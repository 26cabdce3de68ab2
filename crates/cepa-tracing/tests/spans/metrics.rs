//! The metrics of the conventions.

use cepa_core::{
    ErrorType, ModelError,
    testing::{Answer, ScriptedModel, ScriptedTool, ToolAnswer},
};
use cepa_tracing::TracingMiddleware;
use opentelemetry::{KeyValue, metrics::MeterProvider as _};
use opentelemetry_sdk::metrics::{
    InMemoryMetricExporter, PeriodicReader, SdkMeterProvider,
    data::{AggregatedMetrics, HistogramDataPoint, Metric, MetricData},
};

use crate::support::{Collector, read_to, traced};

struct Meters {
    provider: SdkMeterProvider,
    exported: InMemoryMetricExporter,
}

/// A series of a metric: its attributes, how many values there are, and their sum.
type Series = (String, u64, f64);

impl Meters {
    fn new() -> Self {
        let exported = InMemoryMetricExporter::default();
        let reader = PeriodicReader::builder(exported.clone()).build();
        Self { provider: SdkMeterProvider::builder().with_reader(reader).build(), exported }
    }

    fn layer(&self) -> TracingMiddleware {
        TracingMiddleware::new().meter(self.provider.meter("test"))
    }

    /// The metric of this name: its unit, and its series.
    fn metric(&self, name: &str) -> (String, Vec<Series>) {
        self.exported.reset();
        self.provider.force_flush().unwrap();
        let exported = self.exported.get_finished_metrics().unwrap();
        let mut metrics =
            exported.iter().flat_map(|all| all.scope_metrics()).flat_map(|scope| scope.metrics());
        let metric = metrics.find(|metric| metric.name() == name).unwrap();
        let mut series = series(metric);
        series.sort_by(|a, b| a.0.cmp(&b.0));
        (metric.unit().to_owned(), series)
    }
}

fn series(metric: &Metric) -> Vec<Series> {
    match metric.data() {
        AggregatedMetrics::U64(MetricData::Histogram(data)) => {
            data.data_points().map(|point| (shown(point), point.count(), point.sum() as f64)).collect()
        }
        AggregatedMetrics::F64(MetricData::Histogram(data)) => {
            data.data_points().map(|point| (shown(point), point.count(), point.sum())).collect()
        }
        _ => panic!("{} is no histogram", metric.name()),
    }
}

/// The attributes, without what all names begin with.
fn shown<T>(point: &HistogramDataPoint<T>) -> String {
    let shown = |attribute: &KeyValue| {
        format!("{}={}", attribute.key.as_str().trim_start_matches("gen_ai."), attribute.value)
    };
    let mut attributes: Vec<_> = point.attributes().map(shown).collect();
    attributes.sort();
    attributes.join(" ")
}

#[tokio::test]
async fn tokens_and_durations_are_measured_by_operation_and_model() {
    let (_collector, _guard) = Collector::listening();
    let meters = Meters::new();
    let call = Answer::new().raw_tool_call("c1", "look", "{}").usage(10, 5);
    let model = ScriptedModel::new([call, Answer::new().text("Well.").usage(20, 7)]);
    let look = ScriptedTool::new("look", [ToolAnswer::new().fails("no light")]);
    traced(model, meters.layer()).tool(look).build().unwrap().reply("Go").await.unwrap();

    let chat = "operation.name=chat provider.name=unknown request.model=scripted response.model=scripted";
    let (unit, tokens) = meters.metric("gen_ai.client.token.usage");
    assert_eq!(unit, "{token}");
    let expected =
        [(format!("{chat} token.type=input"), 2, 30.0), (format!("{chat} token.type=output"), 2, 12.0)];
    assert_eq!(tokens, expected);

    let (unit, durations) = meters.metric("gen_ai.client.operation.duration");
    assert_eq!(unit, "s");
    let counts: Vec<_> = durations.iter().map(|(attributes, count, _)| (&**attributes, *count)).collect();
    let expected = [
        ("agent.name=Friday operation.name=invoke_agent", 1),
        ("error.type=tool_error operation.name=execute_tool tool.name=look", 1),
        (chat, 2),
    ];
    assert_eq!(counts, expected);
    let (reply, chats) = (durations[0].2, durations[2].2);
    assert!(0.0 < chats && chats < reply && reply < 60.0, "{durations:?}");

    let (unit, first) = meters.metric("gen_ai.client.operation.time_to_first_chunk");
    assert_eq!(unit, "s");
    assert_eq!((&*first[0].0, first[0].1), (chat, 2));
    assert!(first[0].2 <= chats, "{first:?}");
}

#[tokio::test]
async fn what_was_cut_off_is_measured_too() {
    let (_collector, _guard) = Collector::listening();
    let meters = Meters::new();
    let model = ScriptedModel::new([Answer::new().reports_usage(70, 7).text("Once").hangs()]);
    let mut agent = traced(model, meters.layer()).build().unwrap();
    let mut stream = agent.reply("Go").stream();
    read_to(&mut stream, "TEXT_BLOCK_DELTA").await;
    drop(stream);
    let (_, durations) = meters.metric("gen_ai.client.operation.duration");
    let attributes: Vec<_> = durations.iter().map(|(attributes, ..)| &**attributes).collect();
    let expected = [
        "agent.name=Friday cepa.cancelled=true operation.name=invoke_agent",
        "cepa.cancelled=true operation.name=chat provider.name=unknown request.model=scripted",
    ];
    assert_eq!(attributes, expected);
    let (_, tokens) = meters.metric("gen_ai.client.token.usage");
    assert_eq!(tokens.iter().map(|(_, _, sum)| *sum).collect::<Vec<_>>(), [70.0, 7.0]);
    let (_, first) = meters.metric("gen_ai.client.operation.time_to_first_chunk");
    assert_eq!(first[0].1, 1);
}

#[tokio::test]
async fn a_failure_is_measured_with_its_kind_and_what_it_has_cost() {
    let (_collector, _guard) = Collector::listening();
    let meters = Meters::new();
    let cut = ModelError::new(ErrorType::RateLimit, "slow down");
    let model = ScriptedModel::new([Answer::new().text("Once").reports_usage(10, 1).fails(cut)]);
    traced(model, meters.layer()).build().unwrap().reply("Go").await.unwrap_err();
    let (_, durations) = meters.metric("gen_ai.client.operation.duration");
    let attributes: Vec<_> = durations.iter().map(|(attributes, ..)| &**attributes).collect();
    let expected = [
        "agent.name=Friday error.type=rate_limit operation.name=invoke_agent",
        "error.type=rate_limit operation.name=chat provider.name=unknown request.model=scripted",
    ];
    assert_eq!(attributes, expected);
    let (_, tokens) = meters.metric("gen_ai.client.token.usage");
    assert_eq!(tokens.iter().map(|(_, _, sum)| *sum).collect::<Vec<_>>(), [10.0, 1.0]);
}
