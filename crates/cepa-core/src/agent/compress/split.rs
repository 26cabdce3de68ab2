//! Cutting a context in two: an older part, and a newest part that stays below a limit.

use std::{collections::HashMap, ops::Range, sync::Arc};

use crate::{
    id::Id,
    message::{ContentBlock, Msg},
    model::{ChatModel, ToolSchema},
};

/// Where a list of messages is cut: before this block of this message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) message: usize,
    /// 0 for a cut between two messages.
    pub(super) block: usize,
}

impl Cut {
    const fn between(message: usize) -> Self {
        Self { message, block: 0 }
    }

    /// This cut, or the one before that message where this is after it.
    pub(super) fn no_later_than(self, message: usize) -> Self {
        if self.message < message { self } else { Self::between(message) }
    }

    /// The part before the cut.
    pub(super) fn before(self, messages: &[Arc<Msg>]) -> Vec<Arc<Msg>> {
        let mut part = messages[..self.message].to_vec();
        if self.block > 0 {
            part.push(piece(&messages[self.message], 0..self.block));
        }
        part
    }

    /// The part after the cut.
    pub(super) fn after(self, messages: &[Arc<Msg>]) -> Vec<Arc<Msg>> {
        let mut part = messages[self.message..].to_vec();
        if self.block > 0 {
            part[0] = piece(&messages[self.message], self.block..messages[self.message].content.len());
        }
        part
    }
}

/// A message with some of its blocks.
fn piece(msg: &Msg, blocks: Range<usize>) -> Arc<Msg> {
    Arc::new(Msg {
        name: msg.name.clone(),
        content: msg.content[blocks].to_vec(),
        role: msg.role,
        id: msg.id.clone(),
        metadata: msg.metadata.clone(),
        created_at: msg.created_at.clone(),
        usage: msg.usage.clone(),
        finished_at: msg.finished_at.clone(),
        finished_reason: msg.finished_reason,
        structured_output: msg.structured_output.clone(),
        error: msg.error.clone(),
        extra: msg.extra.clone(),
    })
}

/// Counts the tokens of requests that differ only in how much of the conversation they hold.
#[derive(Clone, Copy)]
pub(super) struct Measure<'a> {
    pub(super) model: &'a dyn ChatModel,
    pub(super) tools: &'a [ToolSchema],
    /// What stands before the conversation in each of them.
    pub(super) head: &'a [Arc<Msg>],
    /// What stands after it.
    pub(super) tail: &'a [Arc<Msg>],
}

impl Measure<'_> {
    /// The cut after which as much of the conversation stays as is below `limit` tokens. It goes through a message
    /// where that is long, but never between a call and its result, and never past a call without one: those stay,
    /// whatever they take.
    pub(super) fn cut(&self, messages: &[Arc<Msg>], limit: f64) -> Cut {
        let wanted = self.longest_end(messages, limit);
        Joints::of(messages).nearest(wanted)
    }

    /// The longest end of the conversation below the limit. Counts grow with what is counted, so they are searched by
    /// halving: a model with a tokenizer of its own is asked a few times, not once per message.
    fn longest_end(&self, messages: &[Arc<Msg>], limit: f64) -> Cut {
        let mut probe = Probe::new(self, messages);
        let kept = first(messages.len(), |from| probe.tokens_from(from) < limit);
        let Some(border) = kept.checked_sub(1) else { return Cut::between(0) };
        let msg = &messages[border];
        let len = msg.content.len();
        let block = first(len, |from| {
            probe.put(border, piece(msg, from..len));
            probe.tokens_from(border) <= limit
        });
        if block == len { Cut::between(kept) } else { Cut { message: border, block } }
    }
}

/// The first index below `len` for which this holds, or `len`, found by halving: for all after it, it must hold as
/// well.
pub(super) fn first(len: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// One list for all requests that are counted: the head is moved to right before the part that is looked at.
struct Probe<'a> {
    measure: &'a Measure<'a>,
    messages: &'a [Arc<Msg>],
    list: Vec<Arc<Msg>>,
}

impl<'a> Probe<'a> {
    fn new(measure: &'a Measure<'a>, messages: &'a [Arc<Msg>]) -> Self {
        let list = [measure.head, messages, measure.tail].concat();
        Self { measure, messages, list }
    }

    /// Puts another message in the place of this one.
    fn put(&mut self, at: usize, msg: Arc<Msg>) {
        self.list[self.measure.head.len() + at] = msg;
    }

    /// The tokens of the request that holds the messages from this one on.
    fn tokens_from(&mut self, from: usize) -> f64 {
        let head = self.measure.head;
        let place = from..from + head.len();
        self.list[place.clone()].clone_from_slice(head);
        let tokens = self.measure.model.count_tokens(&self.list[from..], self.measure.tools);
        for at in place {
            let was = if at < head.len() { &head[at] } else { &self.messages[at - head.len()] };
            self.list[at] = was.clone();
        }
        tokens as f64
    }
}

/// The places where a conversation may be cut, its blocks numbered from the first to the last.
struct Joints {
    /// The number of each message's first block; at the end, the number of blocks.
    starts: Vec<usize>,
    /// For each block, whether the conversation may be cut before it.
    open: Vec<bool>,
}

impl Joints {
    fn of(messages: &[Arc<Msg>]) -> Self {
        let mut starts = Vec::with_capacity(messages.len() + 1);
        // Where a pair begins (+1) and where it ends (-1), to be added up.
        let mut depths = vec![0_i64];
        // Each call with whether its result was met.
        let mut calls: HashMap<&Id, (usize, bool)> = HashMap::new();
        let mut unfinished = usize::MAX;
        for msg in messages {
            starts.push(depths.len() - 1);
            for block in &msg.content {
                let at = depths.len() - 1;
                depths.push(0);
                match block {
                    ContentBlock::ToolCall(call) => {
                        if let Some((earlier, false)) = calls.insert(&call.id, (at, false)) {
                            unfinished = unfinished.min(earlier);
                        }
                    }
                    ContentBlock::ToolResult(result) => {
                        if let Some((call, has_result)) = calls.get_mut(&result.id) {
                            *has_result = true;
                            depths[*call + 1] += 1;
                            depths[at + 1] -= 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        starts.push(depths.len() - 1);
        let pending = calls.values().filter(|(_, has_result)| !has_result).map(|(at, _)| *at).min();
        let unfinished = unfinished.min(pending.unwrap_or(usize::MAX));
        let mut depth = 0;
        let open = depths.iter().enumerate().map(|(at, change)| {
            depth += change;
            depth == 0 && at <= unfinished
        });
        Self { open: open.collect(), starts }
    }

    /// The cut that is wanted, or the next later one that may be, or the next earlier one.
    fn nearest(&self, wanted: Cut) -> Cut {
        let at = self.starts[wanted.message] + wanted.block;
        if self.open[at] {
            return wanted;
        }
        let later = (at..self.open.len()).find(|at| self.open[*at]);
        let earlier = || (0..at).rev().find(|at| self.open[*at]);
        let at = later.or_else(earlier).unwrap_or_default();
        let message = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        Cut { message, block: at - self.starts[message] }
    }
}

#[cfg(test)]
mod tests;
