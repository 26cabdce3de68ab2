//! Where the spans go.

use cepa::tracing::{OtlpGuard, otlp};

use crate::Outcome;

const USAGE: &str = "usage: tracing [--otlp]";

/// The views that were asked for.
#[derive(Default)]
pub(crate) struct Views {
    otlp: bool,
}

/// The views at work.
pub(crate) struct Showing {
    otlp: Option<OtlpGuard>,
}

impl Views {
    pub(crate) fn of_command_line() -> Result<Self, Box<dyn std::error::Error>> {
        let mut views = Self::default();
        for argument in std::env::args().skip(1) {
            match argument.as_str() {
                "--otlp" => views.otlp = true,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(views)
    }

    pub(crate) fn show(self) -> Result<Showing, Box<dyn std::error::Error>> {
        let otlp = if self.otlp { Some(otlp().install()?) } else { None };
        Ok(Showing { otlp })
    }
}

impl Showing {
    /// Sends what is left. Dropping the guard would do so too, but would not say when it failed.
    pub(crate) fn end(self) -> Outcome {
        match self.otlp {
            Some(guard) => Ok(guard.shutdown()?),
            None => Ok(()),
        }
    }
}
