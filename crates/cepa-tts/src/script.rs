//! The text of one block, on its way from the reply to the speaker.

mod cut;
mod sentences;

use tokio::sync::mpsc::UnboundedSender;

use self::{cut::cut, sentences::Sentences};
use crate::{
    filter::TextFilter,
    panics::guarded,
    settings::{Per, Settings},
};

/// Takes the text of a block as it is written and gives out what is to be said. Dropping it ends the block.
pub(crate) struct Script {
    filter: Option<Box<dyn TextFilter>>,
    delivery: Delivery,
    max_length: usize,
    /// `None` after the filter has panicked: the block is over then.
    out: Option<UnboundedSender<String>>,
}

/// How text is given out.
enum Delivery {
    /// At the end, with what was written so far.
    Whole(String),
    Sentences(Sentences),
    /// As it comes. Pieces that say nothing wait for one that does: a text of nothing else is not spoken.
    Pieces(Vec<String>),
    /// As it comes, for something to say was there.
    Begun,
}

impl Script {
    pub(crate) fn new(settings: &Settings, out: UnboundedSender<String>) -> Self {
        let delivery = match settings.per {
            _ if settings.model.is_realtime() => Delivery::Pieces(Vec::new()),
            Per::Block => Delivery::Whole(String::new()),
            Per::Sentence => Delivery::Sentences(Sentences::new(settings.max_length)),
        };
        let mut script = Self { filter: None, delivery, max_length: settings.max_length, out: Some(out) };
        if let Some(filter) = &settings.filter {
            script.filter = script.unless_it_panics(|| filter.begin());
        }
        script
    }

    /// Takes more text.
    pub(crate) fn push(&mut self, text: &str) {
        if let Delivery::Whole(whole) = &mut self.delivery {
            whole.push_str(text);
            return;
        }
        let text = self.filtered(text, |filter| filter.push(text));
        self.give(text);
    }

    /// Ends the text; `instead` is the final one where it is not what was written. (What was said is said.)
    pub(crate) fn end(mut self, instead: Option<&str>) {
        if let Delivery::Whole(whole) = &mut self.delivery {
            let whole = instead.map_or_else(|| std::mem::take(whole), str::to_owned);
            let whole = self.filtered(&whole, |filter| filter.push(&whole) + &filter.finish());
            return self.say(&whole);
        }
        let rest = self.filtered("", |filter| filter.finish());
        self.give(rest);
        if let Delivery::Sentences(sentences) = &mut self.delivery {
            for sentence in sentences.finish() {
                self.say(&sentence);
            }
        }
    }

    /// What the filter makes of the text, which stays as it is without one.
    fn filtered(&mut self, text: &str, run: impl FnOnce(&mut dyn TextFilter) -> String) -> String {
        match self.filter.take() {
            Some(mut filter) => match self.unless_it_panics(|| run(&mut *filter)) {
                Some(text) => {
                    self.filter = Some(filter);
                    text
                }
                None => String::new(),
            },
            None => text.to_owned(),
        }
    }

    /// Runs what is not of this crate. A panic of it ends the block.
    fn unless_it_panics<T>(&mut self, run: impl FnOnce() -> T) -> Option<T> {
        guarded(run)
            .map_err(|error| {
                tracing::warn!(%error, "the filter fails: a text block is not spoken to its end; the reply goes on");
                self.out = None;
            })
            .ok()
    }

    fn give(&mut self, text: String) {
        match &mut self.delivery {
            Delivery::Whole(_) => {}
            Delivery::Sentences(sentences) => {
                for sentence in sentences.push(&text) {
                    self.say(&sentence);
                }
            }
            Delivery::Pieces(held) => {
                let begins = says_something(&text);
                if !text.is_empty() {
                    held.push(text);
                }
                if begins {
                    let held = std::mem::take(held);
                    self.delivery = Delivery::Begun;
                    held.into_iter().for_each(|piece| self.send(piece));
                }
            }
            Delivery::Begun => {
                if !text.is_empty() {
                    self.send(text);
                }
            }
        }
    }

    /// Says a text, in parts if it is too long.
    fn say(&self, text: &str) {
        cut(text, self.max_length)
            .into_iter()
            .filter(|part| says_something(part))
            .for_each(|part| self.send(part));
    }

    fn send(&self, text: String) {
        if let Some(out) = &self.out {
            // Nobody takes it after a failure: the block is over then.
            _ = out.send(text);
        }
    }
}

/// Whether there is a letter or a digit to speak. Marks that a filter has left over are none, and neither are emoji.
fn says_something(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;
