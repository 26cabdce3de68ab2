//! What of a text is spoken.

mod markdown;

use std::{fmt, sync::Arc};

use self::markdown::Markdown;

/// What of a reply's text is spoken: all of it where no filter is set.
///
/// ```
/// use cepa_tts::SpeechFilter;
///
/// let markdown = SpeechFilter::markdown();
/// assert_eq!(markdown.apply("## *Two* [links](http://a.b): `x`"), "Two links: x");
///
/// let without_emoji = SpeechFilter::function(|text| text.replace('🙂', ""));
/// assert_eq!(without_emoji.apply("Hi 🙂"), "Hi ");
/// ```
#[derive(Clone)]
pub struct SpeechFilter(Arc<dyn Fn() -> Box<dyn TextFilter> + Send + Sync>);

/// Filters the text of one block while it is written.
///
/// The result must not depend on how the text is cut: what cannot be decided yet is held back.
///
/// ```
/// use cepa_tts::{SpeechFilter, TextFilter};
///
/// /// Leaves out what stands in brackets.
/// #[derive(Default)]
/// struct NoBrackets { depth: usize }
///
/// impl TextFilter for NoBrackets {
///     fn push(&mut self, text: &str) -> String {
///         let mut spoken = String::new();
///         for c in text.chars() {
///             match c {
///                 '(' => self.depth += 1,
///                 ')' => self.depth = self.depth.saturating_sub(1),
///                 c if self.depth == 0 => spoken.push(c),
///                 _ => {}
///             }
///         }
///         spoken
///     }
/// }
///
/// let filter = SpeechFilter::new(NoBrackets::default);
/// assert_eq!(filter.apply("Bees (Apis) hum."), "Bees  hum.");
/// ```
pub trait TextFilter: Send + 'static {
    /// Takes more text and gives out what of it, and of what was held back, is spoken.
    fn push(&mut self, text: &str) -> String;

    /// What was held back, at the end of the text. Nothing by default.
    fn finish(&mut self) -> String {
        String::new()
    }
}

impl SpeechFilter {
    /// A filter of which each text block gets one of its own.
    pub fn new<F: TextFilter>(begin: impl Fn() -> F + Send + Sync + 'static) -> Self {
        Self(Arc::new(move || Box::new(begin())))
    }

    /// A function of a whole line, with the line break at its end: text is spoken line by line, then.
    pub fn function(filter: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let filter = Arc::new(filter);
        Self::new(move || Lines { filter: filter.clone(), held: String::new() })
    }

    /// Leaves out code fences, tables (rows that begin with `|`), URLs and the marks of Markdown: of headings, emphasis,
    /// lists, quotes and rules. Of links, images and inline code the text stays. What takes more than a kilobyte to be
    /// known for a mark, and brackets more than three deep, are text.
    pub fn markdown() -> Self {
        Self::new(Markdown::default)
    }

    /// What of a text is spoken.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        let mut filter = self.begin();
        filter.push(text) + &filter.finish()
    }

    pub(crate) fn begin(&self) -> Box<dyn TextFilter> {
        (self.0)()
    }
}

impl fmt::Debug for SpeechFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpeechFilter")
    }
}

/// A function, line by line.
struct Lines<F> {
    filter: Arc<F>,
    held: String,
}

impl<F: Fn(&str) -> String + Send + Sync + 'static> TextFilter for Lines<F> {
    fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let complete = self.held.rfind('\n').map_or(0, |at| at + 1);
        self.held.drain(..complete).as_str().split_inclusive('\n').map(|line| (self.filter)(line)).collect()
    }

    fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        if rest.is_empty() { rest } else { (self.filter)(&rest) }
    }
}
