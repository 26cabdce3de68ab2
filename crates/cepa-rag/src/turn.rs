//! What a reply was asked, and what was found for it. It lives in the reply's scratch space, under the layer's own
//! number: there may be several, and each serves many replies.

use cepa_core::{ContentBlock, Inputs, Msg, OutputBlock, Scratch, TextBlock};

use crate::Hit;

/// How far the search for a reply has come.
pub(crate) enum Turn {
    /// This is to be searched for.
    Asked(Vec<OutputBlock>),
    /// This was found. Whether the caller was told of it.
    Found { hits: Vec<Hit>, is_told: bool },
}

/// The turns of a reply, by layer.
#[derive(Default)]
struct Turns(Vec<(usize, Turn)>);

impl Turn {
    /// Notes what a reply was asked. A reply that a layer runs again is searched for once.
    pub(crate) fn begin(scratch: &Scratch, layer: usize, inputs: &Inputs) {
        let queries: Vec<_> = inputs.messages().iter().flat_map(|msg| queries(msg)).collect();
        if !queries.is_empty() {
            scratch.update(|Turns(turns)| {
                if !turns.iter().any(|(of, _)| *of == layer) {
                    turns.push((layer, Self::Asked(queries)));
                }
            });
        }
    }

    /// Notes that the caller was told of what was found.
    pub(crate) fn told(scratch: &Scratch, layer: usize) {
        scratch.update(|Turns(turns)| {
            for (of, turn) in turns {
                if let Self::Found { is_told, .. } = turn
                    && *of == layer
                {
                    *is_told = true;
                }
            }
        });
    }
}

/// The turn of a layer, while it works on it. It is put back in the end, also when the work is dropped in the middle: a
/// layer outside may run the round again.
pub(crate) struct Taken<'a> {
    scratch: &'a Scratch,
    layer: usize,
    /// `None`: there is nothing to put back.
    pub(crate) turn: Option<Turn>,
}

impl<'a> Taken<'a> {
    pub(crate) fn take(scratch: &'a Scratch, layer: usize) -> Self {
        let turn = scratch.update(|Turns(turns)| {
            let place = turns.iter().position(|(of, _)| *of == layer)?;
            Some(turns.swap_remove(place).1)
        });
        Self { scratch, layer, turn }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.scratch.update(|Turns(turns)| turns.push((self.layer, turn)));
        }
    }
}

/// What a message is as a query: its texts and data. Who says it stands before the first text (AgentScope 2.0.11). A
/// blank text asks nothing: a message with nothing but an image is a query of an image alone.
fn queries(msg: &Msg) -> impl Iterator<Item = OutputBlock> {
    let mut speaker = Some(&msg.name);
    msg.content.iter().filter_map(move |block| match block {
        ContentBlock::Text(text) if text.text.trim().is_empty() => None,
        ContentBlock::Text(text) => Some(match speaker.take() {
            Some(name) => TextBlock::new(format!("{name}: {}", text.text)).into(),
            None => text.clone().into(),
        }),
        ContentBlock::Data(data) => Some(data.clone().into()),
        _ => None,
    })
}
