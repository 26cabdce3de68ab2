//! The rest of the chain.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use super::{
    BoxFuture, Content, Cx, Flow, Frame, Hook, Items, Outlet, Streams, Tap, TapResult, Tapping,
    cx::CoreGuard, hook::Listed, reader::Reader, slot::Sending,
};
use crate::error::{Error, Result};

/// The rest of the chain, as a layer sees it: the layers inside of it and the core.
///
/// It is owned (`'static`), `Clone` and `Send`: call a clone to try again, or move it into a task. Once items of
/// an `on_model_call` or `on_acting` have gone out, calling a clone again is an error, as they would be shown twice.
#[must_use = "a layer that does not call `next` short-circuits: everything inside it is skipped. Write `drop(next)` if that is meant"]
pub struct Next<H: Hook> {
    cx: Cx<H>,
    /// Shared by clones only: whether one of them let items through.
    attempts: OnceLock<Arc<AtomicBool>>,
}

impl<H: Hook> Clone for Next<H> {
    fn clone(&self) -> Self {
        let attempts = self.attempts.get_or_init(Arc::default).clone();
        Self { cx: self.cx.clone(), attempts: OnceLock::from(attempts) }
    }
}

impl<H: Hook> std::fmt::Debug for Next<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next").field("hook", &H::NAME).field("layers_left", &self.cx.layers_inside()).finish()
    }
}

impl<H: Hook> Next<H> {
    /// The whole chain, to be called from outside.
    pub(crate) fn root(frame: Arc<Frame<H>>, out: Outlet<H::Item>) -> Self {
        Self { cx: Cx::outermost(frame, out), attempts: OnceLock::new() }
    }

    pub(super) fn cx_mut(&mut self) -> &mut Cx<H> {
        &mut self.cx
    }

    /// Runs the rest of the chain. Items go straight on to the caller.
    pub fn run(mut self, input: H::Input) -> Running<H> {
        let attempt = match self.attempt() {
            Ok(attempt) => attempt,
            Err(error) => return Running::failed(error),
        };
        Running { attempt, ..self.start(input) }
    }

    /// Begins one of several attempts, if there are clones that may make others.
    fn attempt(&mut self) -> Result<Option<Attempt<H>>> {
        match self.attempts.take() {
            Some(let_through) if H::CONTENT => Attempt::begin(let_through, self.cx.outlet()).map(Some),
            _ => Ok(None),
        }
    }

    fn start(self, input: H::Input) -> Running<H> {
        let cx = self.cx;
        let watch = H::CONTENT.then(|| {
            let out = cx.outlet().clone();
            Watch { sent_before: out.sent(), out }
        });
        let inner = cx.inner();
        match inner.listed() {
            None => {
                let core = inner.frame().enter_core();
                let fut = inner.frame().core.clone().run(inner, input);
                Running {
                    fut: Some(fut),
                    owner: Owner::Core { _core: core },
                    watch,
                    attempt: None,
                    ending: None,
                }
            }
            Some(listed) => {
                let layer = listed.layer.clone();
                let owner = Owner::Layer { layers: inner.frame().layers.clone(), at: inner.layer() };
                let fut = H::call(layer, inner.clone(), input, Self { cx: inner, attempts: OnceLock::new() });
                Running { fut: Some(fut), owner, watch, attempt: None, ending: None }
            }
        }
    }
}

// The bound is on the methods, so that the compiler says in `Streams`' own words why a hook has none of them.
impl<H: Hook> Next<H> {
    /// Runs the rest of the chain and shows each item to `look`, which may change or drop it.
    ///
    /// The closure may borrow what is around it and keep state. It cannot await; see [`Next::stream`] for that.
    pub fn tap<F, R>(mut self, input: H::Input, look: F) -> Tapping<H, F>
    where
        H: Streams,
        F: FnMut(&mut H::Item) -> R,
        R: TapResult,
    {
        let attempt = self.attempt();
        let reader = Reader::new();
        let inner = reader.outlet(None);
        let out = std::mem::replace(self.cx.outlet_mut(), inner);
        let (inner, attempt) = match attempt {
            Ok(attempt) => (self.start(input), attempt),
            Err(error) => (Running::failed(error), None),
        };
        Tapping {
            reader,
            out,
            inner: Some(inner),
            output: None,
            look,
            sending: Sending::Done(false),
            attempt,
        }
    }

    /// As [`Next::tap`] at about a third of its cost per item, for a closure that can be shared.
    pub fn tap_shared<R: Into<Flow>>(
        self,
        input: H::Input,
        look: impl Fn(&mut H::Item) -> R + Send + Sync + 'static,
    ) -> Running<H>
    where
        H: Streams,
    {
        self.tapped(look).run(input)
    }

    /// The same rest of the chain, with each item shown to `look` on its way out of this layer: for a layer that also
    /// wants to [`collect`](Self::collect) the whole.
    pub fn tapped<R: Into<Flow>>(mut self, look: impl Fn(&mut H::Item) -> R + Send + Sync + 'static) -> Self
    where
        H: Streams,
    {
        let out = self.cx.outlet_mut();
        let look = Box::new(move |item: &mut H::Item| look(item).into());
        out.taps = Some(Arc::new(Tap { look, outer: out.taps.take() }));
        self
    }

    /// Runs the rest of the chain as a stream of its items, none of which goes on by itself.
    pub fn stream(mut self, input: H::Input) -> Items<H>
    where
        H: Streams,
    {
        let attempt = self.attempt();
        let reader = Reader::new();
        *self.cx.outlet_mut() = reader.outlet(None);
        match attempt {
            Ok(attempt) => Items::new(reader, self.start(input), attempt),
            Err(error) => Items::new(reader, Running::failed(error), None),
        }
    }
}

impl<H: Content> Next<H> {
    /// As [`Next::run`], and puts what came out as items into the output as well.
    ///
    /// The content of that output is for looking at (a cache, a log): it has gone out already, and returning
    /// other content than this is an error.
    ///
    /// # Errors
    /// Those of the layers inside.
    pub async fn collect(self, input: H::Input) -> Result<H::Output> {
        let mut fold = H::Fold::default();
        let mut output = self.tap(input, |item| H::fold(&mut fold, item)).await?;
        H::put(&mut output, fold, true);
        Ok(output)
    }

    /// Holds the items back and returns the whole response, to be edited: what the layer returns is sent instead.
    ///
    /// # Errors
    /// Those of the layers inside.
    pub async fn hold(self, input: H::Input) -> Result<H::Output> {
        let mut fold = H::Fold::default();
        let mut items = self.stream(input);
        while let Some(item) = items.next().await {
            H::fold(&mut fold, &item);
        }
        let mut output = items.finish().await?;
        H::put(&mut output, fold, false);
        Ok(output)
    }
}

/// Whose future runs.
enum Owner<H: Hook> {
    Layer { layers: Arc<[Listed<H::Layer>]>, at: usize },
    Core { _core: CoreGuard<H> },
    Nobody,
}

/// One of several attempts of a layer. However it ends, it notes whether items have left the layer meanwhile: those
/// that the layer held back do not count.
pub(super) struct Attempt<H: Hook> {
    let_through: Arc<AtomicBool>,
    out: Outlet<H::Item>,
    sent_before: usize,
}

impl<H: Hook> Attempt<H> {
    fn begin(let_through: Arc<AtomicBool>, out: &Outlet<H::Item>) -> Result<Self> {
        if let_through.load(Relaxed) {
            return Err(Error::items_already_sent());
        }
        Ok(Self { let_through, out: out.clone(), sent_before: out.sent() })
    }
}

impl<H: Hook> Drop for Attempt<H> {
    fn drop(&mut self) {
        if self.out.sent() != self.sent_before {
            self.let_through.store(true, Relaxed);
        }
    }
}

/// An output, and what of its content is still to be sent.
type Settled<H> = (<H as Hook>::Output, Option<Sending<<H as Hook>::Item>>);

/// What is done with an output before it goes on.
struct Watch<H: Hook> {
    out: Outlet<H::Item>,
    sent_before: usize,
}

/// The rest of the chain, running.
#[must_use = "nothing inside runs until this is awaited: add `.await`"]
pub struct Running<H: Hook> {
    fut: Option<BoxFuture<'static, Result<H::Output>>>,
    owner: Owner<H>,
    watch: Option<Watch<H>>,
    attempt: Option<Attempt<H>>,
    ending: Option<Box<Ending<H>>>,
}

/// An output whose content is still on its way out. Boxed: it is rare, and a running chain is moved at every layer.
struct Ending<H: Hook> {
    out: Outlet<H::Item>,
    sending: Sending<H::Item>,
    result: Option<Result<H::Output>>,
}

impl<H: Hook> Running<H> {
    /// A future that is no part of a chain.
    pub(crate) fn of_future(fut: BoxFuture<'static, Result<H::Output>>) -> Self {
        Self { fut: Some(fut), owner: Owner::Nobody, watch: None, attempt: None, ending: None }
    }

    fn failed(error: Error) -> Self {
        Self::of_future(Box::pin(std::future::ready(Err(error))))
    }

    /// The future has ended, now with this result, or before: sends what of its content was not sent yet.
    // Apart from `poll`, whose stack is to stay small.
    #[inline(never)]
    fn poll_end(
        &mut self,
        result: Option<Result<H::Output>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<H::Output>> {
        let result = match result {
            Some(result) => self.end(result),
            None => None,
        };
        let result = match (result, &mut self.ending) {
            (Some(result), _) => result,
            (None, Some(ending)) => {
                ready!(ending.out.slot.poll_emit(&mut ending.sending, cx));
                ending.result.take().unwrap_or_else(|| Err(Error::polled_after_end()))
            }
            (None, None) => Err(Error::polled_after_end()),
        };
        drop(self.attempt.take());
        Poll::Ready(result)
    }

    /// Names the layer in an error, and takes content that was not sent yet out of an output. Returns the result if
    /// there is nothing left to send.
    fn end(&mut self, result: Result<H::Output>) -> Option<Result<H::Output>> {
        self.fut = None;
        let result = match result {
            Ok(output) => Ok(output),
            Err(error) => Err(self.name_error(error)),
        };
        if matches!(self.owner, Owner::Core { .. }) {
            self.owner = Owner::Nobody;
        }
        let Some(watch) = self.watch.take() else { return Some(result) };
        match result.and_then(|output| watch.settle(output)) {
            Ok((output, None)) => Some(Ok(output)),
            Ok((output, Some(sending))) => {
                self.ending = Some(Box::new(Ending { out: watch.out, sending, result: Some(Ok(output)) }));
                None
            }
            Err(error) => Some(Err(self.name_error(error))),
        }
    }

    #[cold]
    #[inline(never)]
    fn name_error(&self, error: Error) -> Error {
        match &self.owner {
            Owner::Layer { layers, at } => match layers.get(*at) {
                Some(listed) => error.at_layer(H::NAME, &listed.name, listed.position, listed.total),
                None => error,
            },
            Owner::Core { .. } => error.at_core(),
            Owner::Nobody => error,
        }
    }
}

impl<H: Hook> Unpin for Running<H> {}

impl<H: Hook> Future for Running<H> {
    type Output = Result<H::Output>;

    // For every event at every layer: nothing but the step inward.
    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let result = match &mut this.fut {
            Some(fut) => Some(ready!(fut.as_mut().poll(cx))),
            None => None,
        };
        this.poll_end(result, cx)
    }
}

impl<H: Hook> Watch<H> {
    /// The output, and what of its content is still to be sent.
    fn settle(&self, mut output: H::Output) -> Result<Settled<H>> {
        let sent = self.out.sent() != self.sent_before;
        let Some(item) = H::settle(&mut output, sent)? else { return Ok((output, None)) };
        let mut item = Box::new(item);
        if self.out.passes_taps(&mut item) {
            return Ok((output, Some(Sending::Fresh(item))));
        }
        self.out.slot.note_unheard();
        Ok((output, None))
    }
}

impl<H: Hook> std::fmt::Debug for Running<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("hook", &H::NAME).finish_non_exhaustive()
    }
}

/// Polls what runs inside, once; `true` when it is at its end.
#[inline]
pub(super) fn poll_inner<H: Hook>(
    inner: &mut Option<Running<H>>,
    output: &mut Option<Result<H::Output>>,
    cx: &mut Context<'_>,
) -> bool {
    let Some(running) = inner else { return true };
    match Pin::new(running).poll(cx) {
        Poll::Ready(result) => {
            *output = Some(result);
            *inner = None;
            true
        }
        Poll::Pending => false,
    }
}
