//! Which spans and events are exported.

use tracing::{Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    filter::{FilterExt as _, Targets, filter_fn},
    layer::Filter,
    registry::LookupSpan,
};

use super::error::OtlpError;

/// What the exporter's own HTTP client is made of. Exporting must not trace itself; and the spans of connections, which
/// are kept for later requests, would hold the span open in which they were made.
const QUIET: [&str; 6] = ["h2", "hyper", "opentelemetry", "reqwest", "rustls", "tower"];

/// The spans of *reqwest-tracing* and *tower-http* are those of requests, and wanted.
const LOUD: [&str; 2] = ["reqwest_tracing", "tower_http"];

/// Spans from *info* on, but for what the directives say.
pub(super) fn targets(directives: Option<&str>) -> Result<Targets, OtlpError> {
    let wanted = match directives {
        Some(directives) => directives.parse::<Targets>().map_err(|error| {
            OtlpError::setting(".filter(…)", format!("takes `info,my_crate=debug`: {error}"))
        })?,
        None => Targets::new(),
    };
    let level = wanted.default_level().unwrap_or(LevelFilter::INFO);
    let quiet = QUIET.map(|target| (target, LevelFilter::OFF));
    let loud = LOUD.map(|target| (target, level));
    // What is named by the user goes over what is named here.
    Ok(Targets::new().with_default(level).with_targets(quiet).with_targets(loud).with_targets(wanted))
}

/// Of the events only warnings and errors, which say why something went as it did. The others are a log, and belong
/// into one.
pub(super) fn filter<S>(targets: Targets) -> impl Filter<S> + Send + Sync + 'static
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let not_log = |metadata: &Metadata<'_>| metadata.is_span() || *metadata.level() <= LevelFilter::WARN;
    targets.and(filter_fn(not_log).with_max_level_hint(LevelFilter::TRACE))
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn the_exporters_own_client_is_not_traced() {
        for directives in [None, Some("debug"), Some("trace,my_crate=info")] {
            let targets = targets(directives).unwrap();
            assert!(targets.would_enable("cepa_tracing", &Level::INFO));
            for target in ["h2::client", "hyper_util::client", "reqwest::connect", "opentelemetry_sdk"] {
                assert!(!targets.would_enable(target, &Level::ERROR), "{target} with {directives:?}");
            }
            assert!(targets.would_enable("reqwest_tracing::reqwest_otel_span_builder", &Level::INFO));
        }
    }

    #[test]
    fn directives_go_over_the_defaults() {
        let targets = targets(Some("warn,my_crate=debug,h2=trace")).unwrap();
        assert!(!targets.would_enable("other", &Level::INFO));
        assert!(targets.would_enable("my_crate::part", &Level::DEBUG));
        assert!(targets.would_enable("h2::client", &Level::TRACE));
    }

    #[test]
    fn directives_that_are_none_are_an_error() {
        let error = targets(Some("my_crate=loud")).unwrap_err().to_string();
        assert!(error.starts_with("`.filter(…)` takes "), "{error}");
    }
}
