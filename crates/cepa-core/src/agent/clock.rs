//! The clock as the model is told of it: the time in the agent's own time zone.

use jiff::{Timestamp, fmt::strtime, tz::TimeZone};

use super::config::InjectionConfig;

/// Stands in for a format that cannot be written.
const ISO: &str = "%Y-%m-%dT%H:%M:%S";

/// The time now and the name of its zone, as `config` wants them told. A zone that this machine does not know is
/// replaced by UTC, and so it is named.
pub(super) fn now_text(config: &InjectionConfig) -> (String, String) {
    let (zone, name) = match TimeZone::get(&config.timezone) {
        Ok(zone) => (zone, config.timezone.as_str()),
        Err(error) => {
            tracing::warn!(timezone = config.timezone, %error, "unknown time zone, UTC is told instead");
            (TimeZone::UTC, "UTC")
        }
    };
    let now = Timestamp::now().to_zoned_datetime(zone);
    let time = strtime::format(&config.time_format, &now).unwrap_or_else(|error| {
        tracing::warn!(time_format = config.time_format, %error, "the time cannot be written so, ISO 8601 is");
        now.strftime(ISO).to_string()
    });
    (time, name.to_owned())
}
