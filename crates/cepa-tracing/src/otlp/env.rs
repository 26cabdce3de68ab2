//! The variables of the environment that speak of OpenTelemetry.
//!
//! Many of them the SDK and the exporter read by themselves, and pass over in silence where they cannot be read. Here
//! they are checked, so that a mistyped one is an error that names it.

use std::{ffi::OsString, str::FromStr as _};

use reqwest::header::{HeaderName, HeaderValue};

use super::error::OtlpError;

/// How trace ids go on to servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Propagators {
    /// The W3C recommendation *Trace Context*.
    pub(super) trace_context: bool,
    /// The W3C recommendation *Baggage*.
    pub(super) baggage: bool,
}

/// Where variables are read from.
pub(super) struct Env<'a>(pub(super) &'a dyn Fn(&str) -> Option<OsString>);

/// Whole numbers, and the least that each may be.
const NUMBERS: [(&str, u32); 8] = [
    ("OTEL_BSP_SCHEDULE_DELAY", 1),
    ("OTEL_BSP_EXPORT_TIMEOUT", 1),
    ("OTEL_BSP_MAX_QUEUE_SIZE", 1),
    ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1),
    ("OTEL_METRIC_EXPORT_INTERVAL", 1),
    ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", 0),
    ("OTEL_SPAN_EVENT_COUNT_LIMIT", 0),
    ("OTEL_SPAN_LINK_COUNT_LIMIT", 0),
];

/// What the SDK does not know: better no export than one that does not do what it was told.
const REFUSED: [&str; 5] = [
    "OTEL_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
];

const SAMPLERS: [&str; 6] = [
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

impl Env<'_> {
    /// A variable's value. An empty one is none, as the specification says.
    pub(super) fn get(&self, name: &str) -> Result<Option<String>, OtlpError> {
        match (self.0)(name).map(OsString::into_string) {
            Some(Ok(value)) => Ok(Some(value).filter(|value| !value.trim().is_empty())),
            Some(Err(_)) => Err(OtlpError::setting(name, "is no Unicode text")),
            None => Ok(None),
        }
    }

    /// A value of few.
    pub(super) fn choice(&self, name: &str, among: &[&str]) -> Result<Option<String>, OtlpError> {
        let value = self.get(name)?.map(|value| value.to_ascii_lowercase());
        match value {
            Some(value) if !among.contains(&value.as_str()) => {
                Err(OtlpError::setting(name, format!("takes {}, not `{value}`", among.join(" or "))))
            }
            value => Ok(value),
        }
    }

    /// A whole number.
    pub(super) fn number(&self, name: &str, least: u32) -> Result<Option<u32>, OtlpError> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        match value.parse() {
            Ok(number) if number >= least => Ok(Some(number)),
            _ => {
                Err(OtlpError::setting(name, format!("takes a whole number from {least} on, not `{value}`")))
            }
        }
    }

    /// Checks what the SDK reads.
    pub(super) fn check(&self) -> Result<(), OtlpError> {
        for (name, least) in NUMBERS {
            self.number(name, least)?;
        }
        for name in REFUSED {
            if self.get(name)?.is_some() {
                return Err(OtlpError::setting(
                    name,
                    "is not followed: unset it; `Capture::full().max_bytes(…)` limits how long contents are",
                ));
            }
        }
        let sampler = self.choice("OTEL_TRACES_SAMPLER", &SAMPLERS)?;
        if sampler.is_some_and(|sampler| sampler.ends_with("ratio")) {
            self.check_ratio("OTEL_TRACES_SAMPLER_ARG")?;
        }
        let attributes = self.get("OTEL_RESOURCE_ATTRIBUTES")?.unwrap_or_default();
        if attributes.split_terminator(',').any(|entry| !entry.contains('=')) {
            return Err(OtlpError::setting("OTEL_RESOURCE_ATTRIBUTES", "takes `key=value,key=value`"));
        }
        let temporality = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
        self.choice(temporality, &["cumulative", "delta", "lowmemory"])?;
        Ok(())
    }

    /// How trace ids go on. Baggage is the program's own data: it goes to servers only where somebody says so.
    pub(super) fn propagators(&self) -> Result<Propagators, OtlpError> {
        let name = "OTEL_PROPAGATORS";
        let Some(value) = self.get(name)? else {
            return Ok(Propagators { trace_context: true, baggage: false });
        };
        let mut propagators = Propagators::default();
        for entry in value.split(',').map(str::trim) {
            match entry {
                "tracecontext" => propagators.trace_context = true,
                "baggage" => propagators.baggage = true,
                "none" => {}
                other => {
                    let reason = format!("takes tracecontext, baggage or none, not `{other}`");
                    return Err(OtlpError::setting(name, reason));
                }
            }
        }
        Ok(propagators)
    }

    fn check_ratio(&self, name: &str) -> Result<(), OtlpError> {
        let Some(value) = self.get(name)? else { return Ok(()) };
        match value.parse::<f64>() {
            Ok(ratio) if (0.0..=1.0).contains(&ratio) => Ok(()),
            _ => Err(OtlpError::setting(name, format!("takes a number from 0 to 1, not `{value}`"))),
        }
    }

    /// Checks a variable of headers. They may hold keys: nothing of them is repeated.
    pub(super) fn check_headers(&self, name: &str) -> Result<(), OtlpError> {
        let headers = self.get(name)?.unwrap_or_default();
        let is_header = |entry: &str| {
            entry.split_once('=').is_some_and(|(name, value)| {
                let value = value.trim();
                HeaderName::from_str(name.trim()).is_ok()
                    && !value.is_empty()
                    && HeaderValue::from_str(value).is_ok()
            })
        };
        match headers.split_terminator(',').all(is_header) {
            true => Ok(()),
            false => {
                Err(OtlpError::setting(name, "takes `name=value,name=value` with names of HTTP headers"))
            }
        }
    }
}
