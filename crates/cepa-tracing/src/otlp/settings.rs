//! What is exported, and where to.

use std::{fmt, time::Duration};

use reqwest::Url;

use super::{
    collector::plain,
    env::{Env, Propagators},
    error::OtlpError,
    tls::Tls,
};

/// Where a collector of one's own listens.
const BASE: &str = "http://localhost:4318";

/// How long one request may take, in milliseconds.
const TIMEOUT: u32 = 10_000;

/// How many spans wait to be sent, as the specification says.
const QUEUE_SIZE: u32 = 2_048;

/// What is exported and where to; `None` where it is not.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) traces: Option<Target>,
    pub(super) metrics: Option<Target>,
    pub(super) propagators: Propagators,
    /// How many spans may wait to be sent.
    pub(super) queue_size: usize,
}

/// Where one kind of data goes.
#[derive(Clone)]
pub(super) struct Target {
    /// Its query may hold a key.
    pub(super) url: Url,
    pub(super) timeout: Duration,
    pub(super) tls: Tls,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("url", &plain(&self.url)).finish_non_exhaustive()
    }
}

/// A kind of data: how variables call it, and where it is taken.
struct Signal {
    name: &'static str,
    path: &'static str,
}

impl Settings {
    /// Of the environment, and of the base URL that the program has set.
    pub(super) fn read(env: &Env<'_>, base: Option<&str>) -> Result<Self, OtlpError> {
        let disabled = env.choice("OTEL_SDK_DISABLED", &["true", "false"])?;
        if disabled.as_deref() == Some("true") {
            return Ok(Self::default());
        }
        env.check()?;
        let traces = Signal { name: "TRACES", path: "v1/traces" };
        let metrics = Signal { name: "METRICS", path: "v1/metrics" };
        let queue_size = env.number("OTEL_BSP_MAX_QUEUE_SIZE", 1)?.unwrap_or(QUEUE_SIZE);
        Ok(Self {
            traces: traces.target(env, base)?,
            metrics: metrics.target(env, base)?,
            propagators: env.propagators()?,
            queue_size: queue_size as usize,
        })
    }
}

impl Signal {
    fn target(&self, env: &Env<'_>, base: Option<&str>) -> Result<Option<Target>, OtlpError> {
        let exporter = env.choice(&format!("OTEL_{}_EXPORTER", self.name), &["otlp", "none"])?;
        if exporter.as_deref() == Some("none") {
            return Ok(None);
        }
        for name in self.variables("HEADERS") {
            env.check_headers(&name)?;
        }
        for name in self.variables("COMPRESSION") {
            env.choice(&name, &["gzip", "none"])?;
        }
        for name in self.variables("PROTOCOL") {
            if env.choice(&name, &["http/protobuf"]).is_err() {
                let reason = "takes http/protobuf only; collectors listen for it on port 4318";
                return Err(OtlpError::setting(name, reason));
            }
        }
        let mut timeout = None;
        for name in self.variables("TIMEOUT") {
            timeout = timeout.or(env.number(&name, 1)?);
        }
        let timeout = Duration::from_millis(timeout.unwrap_or(TIMEOUT).into());
        let url = self.url(env, base)?;
        let tls = match url.scheme() {
            "https" => Tls::read(env, |what| self.variables(what))?,
            _ => Tls::default(),
        };
        Ok(Some(Target { url, timeout, tls }))
    }

    /// The variables for something, the more special one first.
    fn variables(&self, what: &str) -> [String; 2] {
        [format!("OTEL_EXPORTER_OTLP_{}_{what}", self.name), format!("OTEL_EXPORTER_OTLP_{what}")]
    }

    fn url(&self, env: &Env<'_>, base: Option<&str>) -> Result<Url, OtlpError> {
        let [own, general] = self.variables("ENDPOINT");
        if let Some(base) = base {
            return self.below(".endpoint(…)", base);
        }
        if let Some(url) = env.get(&own)? {
            return parse(&own, &url);
        }
        match env.get(&general)? {
            Some(base) => self.below(&general, &base),
            None => self.below(&general, BASE),
        }
    }

    /// The place for this kind of data below a collector's URL.
    fn below(&self, name: &str, base: &str) -> Result<Url, OtlpError> {
        let mut url = parse(name, base)?;
        let path = format!("{}/{}", url.path().trim_end_matches('/'), self.path);
        url.set_path(&path);
        Ok(url)
    }
}

/// The URL. It is not repeated in errors, as it may hold a password.
fn parse(name: &str, url: &str) -> Result<Url, OtlpError> {
    let wrong = |reason: &str| {
        Err(OtlpError::setting(name, format!("{reason}; a collector's URL looks like `{BASE}`")))
    };
    match Url::parse(url.trim()) {
        Err(error) => wrong(&format!("is no URL: {error}")),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => wrong("begins with neither http: nor https:"),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            wrong("holds a user name or a password, which belong into OTEL_EXPORTER_OTLP_HEADERS")
        }
        Ok(url) => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings, OtlpError> {
        read_with(variables, None)
    }

    fn read_with(variables: &[(&str, &str)], base: Option<&str>) -> Result<Settings, OtlpError> {
        let get = |name: &str| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
        };
        Settings::read(&Env(&get), base)
    }

    fn urls(settings: &Settings) -> (String, String) {
        let url = |target: &Option<Target>| target.as_ref().unwrap().url.to_string();
        (url(&settings.traces), url(&settings.metrics))
    }

    #[test]
    fn without_variables_the_collector_is_on_this_machine() {
        let settings = read(&[]).unwrap();
        let expected = ("http://localhost:4318/v1/traces", "http://localhost:4318/v1/metrics");
        assert_eq!(urls(&settings), (expected.0.to_owned(), expected.1.to_owned()));
        assert_eq!(settings.traces.unwrap().timeout, Duration::from_secs(10));
    }

    #[test]
    fn an_endpoint_of_one_signal_is_taken_as_it_is() {
        let settings = read(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector/otel/"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://jaeger:4318/api/spans"),
        ]);
        let expected = ("http://jaeger:4318/api/spans", "https://collector/otel/v1/metrics");
        assert_eq!(urls(&settings.unwrap()), (expected.0.to_owned(), expected.1.to_owned()));
    }

    #[test]
    fn what_the_program_sets_goes_over_the_environment() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b:2"),
        ];
        let settings = read_with(&variables, Some("http://c:3")).unwrap();
        assert_eq!(urls(&settings), ("http://c:3/v1/traces".to_owned(), "http://c:3/v1/metrics".to_owned()));
    }

    #[test]
    fn a_timeout_of_one_signal_goes_over_the_general_one() {
        let variables =
            [("OTEL_EXPORTER_OTLP_TIMEOUT", "200"), ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "300")];
        let settings = read(&variables).unwrap();
        assert_eq!(settings.traces.unwrap().timeout, Duration::from_millis(200));
        assert_eq!(settings.metrics.unwrap().timeout, Duration::from_millis(300));
    }

    #[test]
    fn signals_are_turned_off_alone_or_together() {
        let settings = read(&[("OTEL_METRICS_EXPORTER", "none")]).unwrap();
        assert!(settings.traces.is_some() && settings.metrics.is_none());
        let settings = read(&[("OTEL_TRACES_EXPORTER", "None"), ("OTEL_METRICS_EXPORTER", "otlp")]).unwrap();
        assert!(settings.traces.is_none() && settings.metrics.is_some());
        // Nothing else is looked at.
        let settings = read(&[("OTEL_SDK_DISABLED", "TRUE"), ("OTEL_TRACES_SAMPLER", "dice")]).unwrap();
        assert!(settings.traces.is_none() && settings.metrics.is_none());
    }

    #[test]
    fn trace_ids_go_on_as_the_environment_says() {
        for (value, trace_context, baggage) in [
            ("", true, false),
            ("tracecontext", true, false),
            ("tracecontext, baggage", true, true),
            ("baggage", false, true),
            ("none", false, false),
        ] {
            let propagators = read(&[("OTEL_PROPAGATORS", value)]).unwrap().propagators;
            assert_eq!(propagators, Propagators { trace_context, baggage }, "{value}");
        }
    }

    #[test]
    fn as_many_spans_wait_as_the_environment_says() {
        assert_eq!(read(&[]).unwrap().queue_size, 2048);
        assert_eq!(read(&[("OTEL_BSP_MAX_QUEUE_SIZE", "10000")]).unwrap().queue_size, 10_000);
    }

    #[test]
    fn an_empty_variable_is_none() {
        let settings = read(&[
            ("OTEL_SDK_DISABLED", ""),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", " "),
        ]);
        assert_eq!(urls(&settings.unwrap()).0, "http://localhost:4318/v1/traces");
    }

    #[test]
    fn what_the_specification_allows_is_allowed() {
        let good = [
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20k,x-tenant = a,"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.namespace="),
            ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
            ("OTEL_TRACES_SAMPLER_ARG", "0.25"),
            ("OTEL_BSP_SCHEDULE_DELAY", "100"),
            ("OTEL_SPAN_LINK_COUNT_LIMIT", "0"),
            ("OTEL_PROPAGATORS", "tracecontext,baggage"),
        ];
        assert!(read(&good).unwrap().traces.is_some());
    }

    #[test]
    fn a_wrong_value_is_an_error_that_names_its_variable() {
        for (name, value) in [
            ("OTEL_SDK_DISABLED", "yes"),
            ("OTEL_TRACES_EXPORTER", "zipkin"),
            ("OTEL_METRICS_EXPORTER", "prometheus"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "ftp://collector"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "zstd"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
            ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "0"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization"),
            ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "a key=1"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment"),
            ("OTEL_TRACES_SAMPLER", "dice"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "many"),
            ("OTEL_BSP_SCHEDULE_DELAY", "0"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "-1"),
            ("OTEL_PROPAGATORS", "tracecontext,b3"),
            // The SDK does not know them, and would pass them over.
            ("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100"),
            ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "100"),
            ("OTEL_ATTRIBUTE_COUNT_LIMIT", "100"),
            ("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "100"),
            ("OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", "100"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{name}` ")), "{name}={value}: {error}");
        }
        let ratio = [("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "25 %")];
        let error = read(&ratio).unwrap_err().to_string();
        assert_eq!(error, "`OTEL_TRACES_SAMPLER_ARG` takes a number from 0 to 1, not `25 %`");
    }

    #[test]
    fn errors_do_not_say_keys() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_HEADERS", "sesame open"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=sesame\u{7}open"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:sesame@collector"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:sesame@"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(!error.contains("sesame"), "{error}");
        }
        let settings = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector?key=sesame")]).unwrap();
        assert_eq!(urls(&settings).0, "https://collector/v1/traces?key=sesame");
        assert!(!format!("{settings:?}").contains("sesame"), "{settings:?}");
    }
}
