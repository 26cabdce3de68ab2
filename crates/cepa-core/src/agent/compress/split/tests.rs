//! Cutting, tried on generated conversations.

use std::{collections::HashSet, sync::Arc};

use proptest::prelude::*;

use super::{Cut, Measure};
use crate::{
    chain::BoxFuture,
    error::Result,
    id::Id,
    message::{ContentBlock, Msg, TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState},
    model::{ChatModel, ChatResponse, ModelOutlet, ModelRequest, estimate_tokens},
};

#[derive(Debug)]
struct Counts;

impl ChatModel for Counts {
    fn name(&self) -> &str {
        "counts"
    }
    fn call(&self, _request: ModelRequest, _out: ModelOutlet) -> BoxFuture<'_, Result<ChatResponse>> {
        Box::pin(std::future::pending())
    }
}

/// A conversation: each message is a list of texts (a length) and calls, whose results may follow any number of blocks
/// later, or never.
fn conversation() -> impl Strategy<Value = Vec<Arc<Msg>>> {
    let block = prop_oneof![
        (0_usize..200).prop_map(|len| (len, None)),
        (0_usize..200, prop::option::weighted(0.9, 0_usize..6)).prop_map(|(len, after)| (len, Some(after))),
    ];
    let messages = prop::collection::vec(prop::collection::vec(block, 0..8), 0..12);
    messages.prop_map(|messages| {
        let mut due: Vec<(usize, Id, usize)> = Vec::new();
        let mut calls = 0;
        let mut context: Vec<Arc<Msg>> = Vec::new();
        for blocks in messages {
            let mut content: Vec<ContentBlock> = Vec::new();
            for (len, call) in blocks {
                match call {
                    None => content.push(TextBlock::new("x".repeat(len)).into()),
                    Some(after) => {
                        let id = Id::from(format!("t{calls}"));
                        calls += 1;
                        content.push(ToolCallBlock::new(id.clone(), "f", "{}").into());
                        due.extend(after.map(|after| (after, id, len)));
                    }
                }
                due.retain_mut(|(after, id, len)| {
                    if let Some(later) = after.checked_sub(1) {
                        *after = later;
                        return true;
                    }
                    let output = "y".repeat(*len);
                    content
                        .push(ToolResultBlock::new(id.clone(), "f", output, ToolResultState::Success).into());
                    false
                });
            }
            context.push(Arc::new(Msg::assistant("Friday", content)));
        }
        context
    })
}

fn blocks(messages: &[Arc<Msg>]) -> impl Iterator<Item = &ContentBlock> {
    messages.iter().flat_map(|msg| &msg.content)
}

fn ids(messages: &[Arc<Msg>]) -> (HashSet<Id>, HashSet<Id>) {
    let calls = messages.iter().flat_map(|msg| msg.tool_calls()).map(|call| call.id.clone()).collect();
    let results =
        messages.iter().flat_map(|msg| msg.tool_results()).map(|result| result.id.clone()).collect();
    (calls, results)
}

proptest! {
    #[test]
    fn nothing_is_lost_and_no_pair_is_split(context in conversation(), limit in 0_u32..600) {
        let head = [Arc::new(Msg::system("system", "a system prompt"))];
        let measure = Measure { model: &Counts, tools: &[], head: &head, tail: &[] };
        let cut = measure.cut(&context, f64::from(limit));
        let (older, kept) = (cut.before(&context), cut.after(&context));

        let all: Vec<_> = blocks(&older).chain(blocks(&kept)).collect();
        prop_assert_eq!(all, blocks(&context).collect::<Vec<_>>());

        let (older_calls, older_results) = ids(&older);
        prop_assert_eq!(&older_calls, &older_results, "in the older part every call has its result");
        let (kept_calls, kept_results) = ids(&kept);
        prop_assert!(kept_results.is_subset(&kept_calls));
    }

    #[test]
    fn as_much_is_kept_as_may_be(context in conversation(), limit in 0_u32..600) {
        let head = [Arc::new(Msg::system("system", "a system prompt"))];
        let measure = Measure { model: &Counts, tools: &[], head: &head, tail: &[] };
        let tokens = |kept: &[Arc<Msg>]| estimate_tokens(&[&head, kept].concat(), &[]);
        let cut = measure.cut(&context, f64::from(limit));
        let must_stay = ids(&context).0 != ids(&context).1;
        if !must_stay && cut != Cut::between(0) {
            // Over the limit only where a pair allows no cut: never, as a later one always may be.
            prop_assert!(cut.message == context.len() || tokens(&cut.after(&context)) <= u64::from(limit));
        }
        // With one block more it would be over, or a pair be split.
        let Some((message, block)) = previous(&context, cut) else { return Ok(()) };
        let more = Cut { message, block };
        let (calls, results) = ids(&more.after(&context));
        prop_assert!(
            tokens(&more.after(&context)) >= u64::from(limit) || !results.is_subset(&calls)
        );
    }
}

/// The cut one block earlier.
fn previous(context: &[Arc<Msg>], cut: Cut) -> Option<(usize, usize)> {
    if cut.block > 0 {
        return Some((cut.message, cut.block - 1));
    }
    let message = (0..cut.message).rev().find(|at| !context[*at].content.is_empty())?;
    Some((message, context[message].content.len() - 1))
}

#[test]
fn the_next_earlier_cut_is_taken_where_an_open_call_must_stay() {
    let call = |id: &str| ContentBlock::from(ToolCallBlock::new(id, "f", "{}"));
    let result = |id: &str| ContentBlock::from(ToolResultBlock::new(id, "f", "", ToolResultState::Success));
    let text = ContentBlock::from(TextBlock::new("x".repeat(400)));
    let blocks = [text, call("a"), call("b"), result("a"), call("open"), result("b")];
    let context = [Arc::new(Msg::assistant("Friday", blocks))];
    let measure = Measure { model: &Counts, tools: &[], head: &[], tail: &[] };
    assert_eq!(measure.cut(&context, 0.0), Cut { message: 0, block: 1 });
}
