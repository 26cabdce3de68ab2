//! Replies as one self-contained page.

mod agent;
mod messages;
mod page;
mod reply;
mod span;
#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    fmt,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use tempfile::NamedTempFile;

use self::{page::page, reply::Shown};
use crate::view::{Collector, Limits, Tree, view};

const LIMITS: Limits = Limits { spans: 1000, events: 1000, value_bytes: 256 << 10, bytes: 4 << 20 };

/// How many replies are on the page where nobody says.
const KEEP: usize = 20;

/// Writes replies as one self-contained page, whenever one ends.
///
/// The page shows the last replies of the process, the newest first: each as a waterfall of its spans; what a span is
/// about (messages, arguments, results, events, attributes) on a click; the agent's layers, and times by hook where there
/// are any. It loads nothing from anywhere, and content on it is text and nothing else.
///
/// It needs [`TracingMiddleware`](crate::TracingMiddleware) in the agent, with a [`Capture`](crate::Capture) for content to
/// be there. Of a reply up to 1000 spans, 1000 events and 4 MiB of content are kept, and 256 KiB of one value; the page says
/// what was left out. Events of Cepa's own crates are shown without texts of errors, which no capture has redacted.
///
/// It is written in place of the one before at once, also while somebody reads it, and on Unix only its owner may read it.
/// It is written by who ends the reply, so this is for developers and not for busy servers. When it cannot be written,
/// there is a warning.
///
/// ```
/// use cepa_tracing::{Capture, TracingMiddleware, html};
///
/// # fn main() -> Result<(), cepa_tracing::SetupError> {
/// let path = std::env::temp_dir().join("replies.html");
/// html(path).keep(50).install()?;
/// let tracing = TracingMiddleware::new().capture(Capture::full());
/// // Agent::builder("Friday").middleware(tracing)…
/// # let _ = tracing;
/// # Ok(()) }
/// ```
///
/// Or beside other layers. The agent's layers are told on the level *trace* of the target `cepa_tracing`, so a filter
/// should let that through.
///
/// ```
/// use tracing::Level;
/// use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _};
///
/// let filter = Targets::new().with_default(Level::INFO).with_target("cepa_tracing", Level::TRACE);
/// let subscriber = tracing_subscriber::registry().with(filter).with(cepa_tracing::html("replies.html"));
/// # let _ = subscriber;
/// ```
pub struct Html {
    collector: Collector,
    path: PathBuf,
    keep: usize,
    pages: Mutex<Pages>,
}

/// What is on the page.
#[derive(Default)]
struct Pages {
    replies: VecDeque<Shown>,
    /// Replies so far.
    count: usize,
    /// Whether the last page could not be written.
    failing: bool,
}

/// A layer that writes replies to a page at this path, whose folder must exist.
pub fn html(path: impl Into<PathBuf>) -> Html {
    Html { collector: Collector::new(LIMITS), path: path.into(), keep: KEEP, pages: Mutex::default() }
}

impl Html {
    /// How many replies are on the page: at least one, 20 by default.
    #[must_use]
    pub fn keep(mut self, replies: usize) -> Self {
        self.keep = replies.max(1);
        self
    }

    fn show(&self, tree: &Tree) {
        let failed = {
            let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
            pages.count += 1;
            let shown = Shown::new(tree, pages.count);
            pages.replies.push_front(shown);
            pages.replies.truncate(self.keep);
            // Within the lock, so that no older page comes after it.
            let written = write(&self.path, &page(&pages.replies, pages.count));
            let failing = std::mem::replace(&mut pages.failing, written.is_err());
            written.err().filter(|_| !failing)
        };
        // Once, until it works again. Without the lock: whoever takes the warning may do anything.
        if let Some(error) = failed {
            tracing::warn!(
                target: "cepa_tracing",
                path = %self.path.display(),
                %error,
                "the page of replies cannot be written: its folder must exist and be writable"
            );
        }
    }
}

view!(Html);

/// Writes a file in place of another one at once.
fn write(path: &Path, page: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(page.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// A text as it may stand on the page: with its lines, and without anything else that acts.
fn text(text: &str) -> String {
    let lines = text.replace("\r\n", "\n");
    lines.chars().map(|c| if matches!(c, '\n' | '\t') { c } else { crate::view::visible(c) }).collect()
}

impl fmt::Debug for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Html").field("path", &self.path).field("keep", &self.keep).finish_non_exhaustive()
    }
}
