//! What a reply was asked, and what was found for it. It lives in the reply's scratch space, under the layer's own number:
//! there may be several, and each serves many replies.

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

    pub(crate) fn take(scratch: &Scratch, layer: usize) -> Option<Self> {
        scratch.update(|Turns(turns)| {
            let place = turns.iter().position(|(of, _)| *of == layer)?;
            Some(turns.swap_remove(place).1)
        })
    }

    pub(crate) fn put(self, scratch: &Scratch, layer: usize) {
        scratch.update(|Turns(turns)| turns.push((layer, self)));
    }
}

/// What a message is as a query: its texts and data. Who says it stands before the first text (AgentScope 2.0.11). A blank
/// text asks nothing: a message with nothing but an image is a query of an image alone.
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
