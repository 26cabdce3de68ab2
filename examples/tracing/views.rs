//! Where the spans go: to a collector, onto the terminal, onto a page.

use std::path::PathBuf;

use cepa::tracing::{OtlpGuard, html, otlp, terminal};
use tracing::{Level, level_filters::LevelFilter};
use tracing_subscriber::{Layer as _, filter::Targets, fmt, layer::SubscriberExt as _, registry};

use crate::Outcome;

const USAGE: &str = "usage: tracing [--otlp] [--terminal] [--html PATH]";

/// The views that were asked for.
#[derive(Default)]
pub(crate) struct Views {
    otlp: bool,
    terminal: bool,
    html: Option<PathBuf>,
}

/// The views at work.
pub(crate) struct Showing {
    otlp: Option<OtlpGuard>,
    html: Option<PathBuf>,
}

impl Views {
    pub(crate) fn of_command_line() -> Result<Self, Box<dyn std::error::Error>> {
        let mut arguments = std::env::args().skip(1);
        let mut views = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--otlp" => views.otlp = true,
                "--terminal" => views.terminal = true,
                "--html" => views.html = Some(arguments.next().ok_or(USAGE)?.into()),
                _ => return Err(USAGE.into()),
            }
        }
        let default = Self { otlp: false, terminal: true, html: Some("reply.html".into()) };
        let is_asked = views.otlp || views.terminal || views.html.is_some();
        Ok(if is_asked { views } else { default })
    }

    /// For one of them alone `install()` does. Here there may be several, and a log beside them.
    pub(crate) fn show(self) -> Result<Showing, Box<dyn std::error::Error>> {
        let filter = Targets::new().with_default(Level::INFO).with_target("cepa_tracing", Level::TRACE);
        let log = fmt::layer().without_time().with_writer(std::io::stderr).with_filter(LevelFilter::WARN);
        let exporting = if self.otlp { Some(otlp().layer()?) } else { None };
        let (to_collector, guard) = exporting.unzip();
        let subscriber = registry()
            .with(filter)
            .with(log)
            .with(to_collector)
            .with(self.terminal.then(terminal))
            .with(self.html.clone().map(html));
        tracing::subscriber::set_global_default(subscriber)?;
        if let Some(guard) = &guard {
            guard.set_global();
        }
        Ok(Showing { otlp: guard, html: self.html })
    }
}

impl Showing {
    /// Sends what is left. Dropping the guard would do so too, but would not say when it failed.
    pub(crate) fn end(self) -> Outcome {
        if let Some(path) = &self.html {
            println!("The page is {}", path.display());
        }
        match self.otlp {
            Some(guard) => Ok(guard.shutdown()?),
            None => Ok(()),
        }
    }
}
