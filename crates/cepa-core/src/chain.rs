//! The onion: one chain for every hook.
//!
//! A [`Hook`] is a named point of the agent's life with an input, items that stream outward while it runs, and
//! an output. [`Next`] is the rest of the chain as a layer sees it. **Items flow past a layer by themselves; a
//! layer pays only for what it looks at**:
//!
//! | to | call |
//! |---|---|
//! | wrap without looking at the items | `next.run(input).await` |
//! | observe, rewrite or drop items in place | `next.tap(input, \|item\| …).await` |
//! | the same for a hot layer, with a shared closure | `next.tap_shared(input, \|item\| …).await` |
//! | await between items, hold back, reorder, add | `next.stream(input)`, `cx.emit(item).await`, `items.finish().await` |
//! | see the whole response while items flow | `next.collect(input).await` |
//! | edit the whole response | `next.hold(input).await` |
//! | short circuit | return an output without calling `next` |
//! | count what is spent, also when it is cut off | `let (next, meter) = next.metered()` |
//! | retry, fall back, go on in a task | `next.clone()`: it is owned, `'static` and `Send` |
//!
//! The way of a call: the caller builds a [`Frame`] and calls [`Next`], which calls the first layer with the
//! next [`Next`], and so on; after the last layer comes the [`Core`], which does the work. The way out of an
//! item: the core emits it on its [`Outlet`], whose slot is read by the nearest layer that taps or streams, and
//! so on outward.

mod content;
mod cx;
mod hook;
mod items;
mod meter;
mod next;
mod outlet;
mod reader;
mod slot;
mod tap;
mod tapping;

#[cfg(test)]
mod tests;

use std::{future::Future, pin::Pin, sync::Arc};

pub use self::{
    content::Content,
    cx::{Cx, MyState, StateGuard},
    hook::{
        Acting, AgentHook, CheckPermission, Compress, Hook, ModelCall, Never, Reasoning, Reply, Streams,
        SystemPrompt, ToolCalling,
    },
    items::Items,
    meter::Meter,
    next::{Next, Running},
    outlet::{Emit, IntoItem, Outlet},
    tap::{Flow, TapResult},
    tapping::Tapping,
};
pub(crate) use self::{cx::Frame, hook::Listed, meter::Reported, reader::Reader, tap::Tap};
use crate::error::Result;

/// An owned future, as the methods of the `dyn` traits return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What stands in the middle of the onion: does the hook's own work.
pub(crate) trait Core<H: Hook>: Send + Sync + 'static {
    fn run(self: Arc<Self>, cx: Cx<H>, input: H::Input) -> BoxFuture<'static, Result<H::Output>>;
}
