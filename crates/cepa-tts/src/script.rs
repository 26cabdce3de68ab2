//! The text of one block, on its way from the reply to the speaker.

mod cut;
mod sentences;

use tokio::sync::mpsc::UnboundedSender;

use self::{cut::cut, sentences::Sentences};
use crate::{
    filter::TextFilter,
    settings::{Per, Settings},
};

/// Takes the text of a block as it is written and gives out what is to be said. Dropping it ends the block.
pub(crate) struct Script {
    filter: Option<Box<dyn TextFilter>>,
    delivery: Delivery,
    max_length: usize,
    out: UnboundedSender<String>,
}

/// How text is given out.
enum Delivery {
    /// At the end, with what was written so far.
    Whole(String),
    Sentences(Sentences),
    /// As it comes. Blank pieces wait for one that is not: a text of nothing else is not spoken.
    Pieces(Vec<String>),
    /// As it comes, for something to say was there.
    Begun,
}

impl Script {
    pub(crate) fn new(settings: &Settings, out: UnboundedSender<String>) -> Self {
        let delivery = match settings.per {
            _ if settings.model.is_realtime() => Delivery::Pieces(Vec::new()),
            Per::Block => Delivery::Whole(String::new()),
            Per::Sentence => Delivery::Sentences(Sentences::default()),
        };
        let filter = settings.filter.as_ref().map(|filter| filter.begin());
        Self { filter, delivery, max_length: settings.max_length, out }
    }

    /// Takes more text.
    pub(crate) fn push(&mut self, text: &str) {
        if let Delivery::Whole(whole) = &mut self.delivery {
            whole.push_str(text);
            return;
        }
        match &mut self.filter {
            Some(filter) => {
                let text = filter.push(text);
                self.give(text);
            }
            None => self.give(text.to_owned()),
        }
    }

    /// Ends the text; `instead` is the final one where it is not what was written. (What was said is said.)
    pub(crate) fn end(mut self, instead: Option<&str>) {
        if let Delivery::Whole(whole) = &mut self.delivery {
            let whole = instead.map_or_else(|| std::mem::take(whole), str::to_owned);
            self.delivery = Delivery::Sentences(Sentences::default());
            let whole = match &mut self.filter {
                Some(filter) => filter.push(&whole) + &filter.finish(),
                None => whole,
            };
            return self.say(&whole);
        }
        if let Some(filter) = &mut self.filter {
            let rest = filter.finish();
            self.give(rest);
        }
        if let Delivery::Sentences(sentences) = &mut self.delivery {
            for sentence in sentences.finish() {
                self.say(&sentence);
            }
        }
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
                let is_blank = text.trim().is_empty();
                if !text.is_empty() {
                    held.push(text);
                }
                if !is_blank {
                    for piece in held.drain(..) {
                        _ = self.out.send(piece);
                    }
                    self.delivery = Delivery::Begun;
                }
            }
            Delivery::Begun => {
                if !text.is_empty() {
                    _ = self.out.send(text);
                }
            }
        }
    }

    /// Says a text, in parts if it is too long.
    fn say(&self, text: &str) {
        for part in cut(text, self.max_length) {
            if !part.trim().is_empty() {
                // Nobody takes it after a failure: the block is over then.
                _ = self.out.send(part);
            }
        }
    }
}

#[cfg(test)]
mod tests;
