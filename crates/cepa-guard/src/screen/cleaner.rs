//! [`Cleaner`]: the detectors of a guard over a whole text.

use std::{borrow::Cow, cmp::Reverse, ops::Range, sync::Arc};

use super::{Action, Detector, Hit, ScreenError, Writer};

/// All detectors, and what stands in place of what they find.
#[derive(Debug)]
pub(crate) struct Cleaner {
    pub(crate) detectors: Vec<Detector>,
    writer: Writer,
}

/// What was found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) values: usize,
    /// The detector that blocks.
    pub(crate) blocked: Option<Arc<str>>,
}

impl Cleaner {
    pub(crate) fn new(detectors: Vec<Detector>, writer: Writer) -> Result<Self, ScreenError> {
        if detectors.is_empty() {
            return Err(ScreenError::NoDetector);
        }
        let hashes = |detector: &&Detector| detector.action == Action::Hash && !writer.has_key();
        if let Some(detector) = detectors.iter().find(hashes) {
            return Err(ScreenError::NoKey(detector.name.to_string()));
        }
        Ok(Self { detectors, writer })
    }

    /// What was found in a text, in order.
    pub(crate) fn all_hits(&self, text: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (index, detector) in self.detectors.iter().enumerate() {
            detector.hits(text, 0, text.len(), |range| hits.push(Hit { range, detector: index }));
        }
        sort(&mut hits);
        hits
    }

    /// What was found, for people.
    pub(crate) fn found(&self, text: &str) -> Vec<(Arc<str>, Range<usize>)> {
        let named = self.all_hits(text).into_iter().filter_map(|hit| {
            let detector = self.detectors.get(hit.detector)?;
            Some((detector.name.clone(), hit.range))
        });
        named.collect()
    }

    /// The text without what was found in it.
    pub(crate) fn clean<'a>(&self, text: &'a str, found: &mut Found) -> Cow<'a, str> {
        let hits = self.all_hits(text);
        if hits.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
        for hit in hits {
            self.replace(&hit, text, &mut at, &mut clean, found);
        }
        clean.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(clean)
    }

    /// Cleans in place; `true` if something was found.
    pub(crate) fn clean_in_place(&self, text: &mut String, found: &mut Found) -> bool {
        match self.clean(text, found) {
            Cow::Borrowed(_) => false,
            Cow::Owned(clean) => {
                *text = clean;
                true
            }
        }
    }

    /// Whether there is nothing to find.
    pub(crate) fn is_clean(&self, text: &str) -> bool {
        self.all_hits(text).is_empty()
    }

    /// Writes the text from `at` up to a value and what stands in the value's place. `at` is behind it then. What lies
    /// in an earlier value is gone with that one.
    pub(crate) fn replace(
        &self,
        hit: &Hit,
        text: &str,
        at: &mut usize,
        clean: &mut String,
        found: &mut Found,
    ) {
        let Some(detector) = self.detectors.get(hit.detector) else { return };
        found.values += 1;
        if detector.action == Action::Block {
            found.blocked.get_or_insert_with(|| detector.name.clone());
        }
        if hit.range.end <= *at {
            return;
        }
        clean.push_str(text.get(*at..hit.range.start).unwrap_or_default());
        clean.push_str(&self.replacement(hit, text));
        *at = hit.range.end;
    }

    pub(crate) fn replacement(&self, hit: &Hit, text: &str) -> String {
        let value = text.get(hit.range.clone()).unwrap_or_default();
        self.detectors
            .get(hit.detector)
            .map(|detector| self.writer.replacement(detector, value))
            .unwrap_or_default()
    }
}

/// By their beginning; of two that begin together the longer one is first, then the one that is named first.
pub(crate) fn sort(hits: &mut [Hit]) {
    hits.sort_by_key(|hit| (hit.range.start, Reverse(hit.range.end), hit.detector));
}
