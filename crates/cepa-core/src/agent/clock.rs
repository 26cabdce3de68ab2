//! The clock as the model is told of it: the time in the agent's own time zone, and such a time read again.

use jiff::{
    Timestamp,
    fmt::strtime::{self, BrokenDownTime},
    tz::TimeZone,
};

use super::{builder::BuildError, config::InjectionConfig};

/// Stands in for a format that cannot be written.
const ISO: &str = "%Y-%m-%dT%H:%M:%S";

/// The time now and the name of its zone, as `config` wants them told. A zone that this machine does not know is
/// replaced by UTC, and so it is named.
pub(super) fn now_text(config: &InjectionConfig) -> (String, String) {
    text_at(config, Timestamp::now())
}

pub(super) fn text_at(config: &InjectionConfig, now: Timestamp) -> (String, String) {
    let (zone, name) = match TimeZone::get(&config.timezone) {
        Ok(zone) => (zone, config.timezone.as_str()),
        Err(error) => {
            tracing::warn!(timezone = config.timezone, %error, "unknown time zone, UTC is told instead");
            (TimeZone::UTC, "UTC")
        }
    };
    let now = now.to_zoned_datetime(zone);
    let time = strtime::format(&config.time_format, &now).unwrap_or_else(|error| {
        tracing::warn!(time_format = config.time_format, %error, "the time cannot be written so, ISO 8601 is");
        now.strftime(ISO).to_string()
    });
    (time, name.to_owned())
}

/// The moment that `time`, told earlier on the clock of `zone`, meant. `None` if it does not read so.
///
/// In the hour that is repeated when summer time ends, a time means two moments: the later one, unless that is still
/// to come. Otherwise the time would look an hour old throughout that hour, and be told again in each round.
pub(super) fn read(format: &str, time: &str, zone: &str, now: Timestamp) -> Option<Timestamp> {
    let time = BrokenDownTime::parse(format, time).ok()?;
    if time.offset().is_some() || time.timestamp().is_some() {
        return time.to_timestamp().ok();
    }
    let zone = TimeZone::get(zone).ok()?;
    let moments = zone.to_ambiguous_timestamp(time.to_datetime().ok()?);
    let later = moments.later().ok()?;
    if later <= now { Some(later) } else { moments.earlier().ok() }
}

/// Checks that zone and format can be used.
pub(super) fn check(config: &InjectionConfig) -> Result<(), BuildError> {
    let zone = TimeZone::get(&config.timezone).map_err(|error| BuildError::Invalid {
        field: "timezone",
        reason: format!(
            "{error}; give an IANA name such as `Europe/Berlin` (all but `UTC` need the system's time zone \
             database, the package `tzdata` on most systems)"
        ),
    })?;
    let now = Timestamp::now();
    let time = strtime::format(&config.time_format, &now.to_zoned_datetime(zone)).map_err(|error| {
        BuildError::Invalid {
            field: "time_format",
            reason: format!("{error}; it takes the directives of `strftime`, such as `{ISO}`"),
        }
    })?;
    if read(&config.time_format, &time, &config.timezone, now).is_none() {
        let format = &config.time_format;
        tracing::warn!(
            time_format = format,
            "a time of this format does not read back: it is told every round"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_told_reads_back() {
        let now = moment("2026-07-01T10:30:15Z");
        for (zone, format, told) in [
            ("UTC", ISO, "2026-07-01T10:30:15"),
            ("utc", "%d.%m.%Y %H:%M:%S", "01.07.2026 10:30:15"),
            ("Asia/Shanghai", ISO, "2026-07-01T18:30:15"),
            ("America/New_York", "%Y-%m-%d %I:%M:%S %p", "2026-07-01 06:30:15 AM"),
            ("Asia/Kolkata", "%Y-%m-%dT%H:%M:%S%z", "2026-07-01T16:00:15+0530"),
        ] {
            let mut config = InjectionConfig::default();
            (config.timezone, config.time_format) = (zone.to_owned(), format.to_owned());
            assert_eq!(text_at(&config, now), (told.to_owned(), zone.to_owned()));
            assert_eq!(read(format, told, zone, now), Some(now), "{told}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_told_otherwise() {
        let mut config = InjectionConfig::default();
        (config.timezone, config.time_format) = ("Moon/Tycho".to_owned(), "%!".to_owned());
        let told = text_at(&config, moment("2026-07-01T10:30:15Z"));
        assert_eq!(told, ("2026-07-01T10:30:15".to_owned(), "UTC".to_owned()));
    }

    #[test]
    fn what_is_no_time_does_not_read() {
        let now = Timestamp::now();
        for (format, time, zone) in [
            (ISO, "yesterday", "UTC"),
            (ISO, "2026-07-01T10:30:15", "Moon/Tycho"),
            (ISO, "2026-02-30T10:30:15", "UTC"),
            ("%H:%M", "10:30", "UTC"),
        ] {
            assert_eq!(read(format, time, zone, now), None, "{time}");
        }
    }

    #[test]
    fn the_repeated_hour_is_not_an_hour_old() {
        // 02:30 in Berlin was at 00:30 and again at 01:30 UTC.
        let read = |now| read(ISO, "2026-10-25T02:30:00", "Europe/Berlin", moment(now));
        assert_eq!(read("2026-10-25T00:40:00Z"), Some(moment("2026-10-25T00:30:00Z")));
        assert_eq!(read("2026-10-25T01:40:00Z"), Some(moment("2026-10-25T01:30:00Z")));
    }
}
