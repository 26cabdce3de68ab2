//! Which spans and events are exported.

use tracing::{Metadata, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::{
    filter::{FilterExt as _, Targets, filter_fn},
    layer::Filter,
    registry::LookupSpan,
};

use super::error::OtlpError;

/// What the exporter's own HTTP client is made of, and the SDK, by the first part of targets. Exporting must not trace
/// itself; and the spans of connections, which are kept for later requests, would hold the span open in which they were
/// made. The spans of *reqwest-tracing* and *tower-http* are those of requests, and wanted.
const QUIET: [&str; 12] = [
    "h2",
    "hyper",
    "hyper_rustls",
    "hyper_tls",
    "hyper_util",
    "opentelemetry",
    "opentelemetry-http",
    "opentelemetry-otlp",
    "opentelemetry_sdk",
    "reqwest",
    "rustls",
    "tower",
];

/// Which spans and events are wanted.
pub(super) struct Wanted {
    all: Targets,
    /// What the user has named, without what goes for all.
    named: Targets,
}

impl Wanted {
    /// Spans from *info* on, but for what the directives say. Cepa's own are among them unless a directive is about
    /// these: whoever wants less of other crates still wants agents to be traced.
    pub(super) fn new(directives: Option<&str>) -> Result<Self, OtlpError> {
        let wanted = match directives {
            Some(directives) => directives.parse::<Targets>().map_err(|error| {
                OtlpError::setting(".filter(…)", format!("takes `info,my_crate=debug`: {error}"))
            })?,
            None => Targets::new(),
        };
        let level = wanted.default_level().unwrap_or(LevelFilter::INFO);
        let named = Targets::new().with_targets(wanted);
        let all = Targets::new()
            .with_default(level)
            .with_target("cepa_tracing", level.max(LevelFilter::INFO))
            .with_targets(named.clone());
        Ok(Self { all, named })
    }

    /// Of the events only warnings and errors, which say why something went as it did. The others are a log, and belong
    /// into one.
    pub(super) fn filter<S>(self) -> impl Filter<S> + Send + Sync + 'static
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let Self { all, named } = self;
        let only = move |metadata: &Metadata<'_>| {
            (metadata.is_span() || *metadata.level() <= LevelFilter::WARN)
                && (!is_quiet(metadata.target()) || named.would_enable(metadata.target(), metadata.level()))
        };
        all.and(filter_fn(only).with_max_level_hint(LevelFilter::TRACE))
    }
}

fn is_quiet(target: &str) -> bool {
    let first = target.split_once("::").map_or(target, |(first, _)| first);
    QUIET.contains(&first)
}

#[cfg(test)]
mod tests {
    use tracing::{Level, span_enabled};
    use tracing_subscriber::{Layer as _, Registry, layer::SubscriberExt as _};

    use super::*;

    /// Whether a span of this target and level is exported.
    macro_rules! exported {
        ($directives:expr, $target:literal, $level:ident) => {{
            let filter = Wanted::new($directives).unwrap().filter();
            let layer = tracing_subscriber::fmt::layer().with_writer(std::io::sink).with_filter(filter);
            let _guard = tracing::subscriber::set_default(Registry::default().with(layer));
            span_enabled!(target: $target, Level::$level)
        }};
    }

    #[test]
    fn the_exporters_own_client_is_not_traced() {
        for directives in [None, Some("debug"), Some("trace,my_crate=info")] {
            assert!(!exported!(directives, "h2::client", ERROR), "{directives:?}");
            assert!(!exported!(directives, "hyper_util::client", ERROR), "{directives:?}");
            assert!(!exported!(directives, "reqwest::connect", ERROR), "{directives:?}");
            assert!(!exported!(directives, "opentelemetry_sdk", ERROR), "{directives:?}");
            assert!(!exported!(directives, "opentelemetry-otlp", ERROR), "{directives:?}");
        }
    }

    #[test]
    fn crates_whose_names_begin_alike_are_traced() {
        assert!(exported!(None, "hyperion::api", INFO));
        assert!(exported!(None, "tower_sessions", INFO));
        assert!(exported!(None, "tower_http::trace", INFO));
        assert!(exported!(None, "reqwest_middleware::otel", INFO));
        assert!(exported!(None, "reqwest_tracing::reqwest_otel_span_builder", INFO));
    }

    #[test]
    fn directives_go_over_the_defaults() {
        let directives = Some("warn,my_crate=debug,h2=trace");
        assert!(!exported!(directives, "other", INFO));
        assert!(exported!(directives, "my_crate::part", DEBUG));
        assert!(exported!(directives, "h2::client", TRACE));
    }

    #[test]
    fn agents_are_traced_unless_it_is_them_that_a_directive_names() {
        for directives in [None, Some("warn,my_crate=debug"), Some("off"), Some("my_crate=debug")] {
            assert!(exported!(directives, "cepa_tracing", INFO), "{directives:?}");
        }
        assert!(!exported!(Some("info,cepa_tracing=off"), "cepa_tracing", INFO));
        assert!(!exported!(Some("cepa_tracing=warn"), "cepa_tracing", INFO));
    }

    #[test]
    fn directives_that_are_none_are_an_error() {
        let error = Wanted::new(Some("my_crate=loud")).map(drop).unwrap_err().to_string();
        assert!(error.starts_with("`.filter(…)` takes "), "{error}");
    }
}
