//! Taps: looking at items as they pass, without awaiting.

use std::sync::Arc;

use crate::error::Error;

/// What a tap says of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The item goes on, as the tap left it.
    Keep,
    /// The item ends here. For the layers inside it was sent all the same.
    Drop,
}

impl From<()> for Flow {
    fn from((): ()) -> Self {
        Self::Keep
    }
}

/// What the closure of [`Next::tap`](super::Next::tap) may return: nothing, a [`Flow`], or a `Result` of one of them.
#[diagnostic::on_unimplemented(
    message = "a `tap` closure returns nothing, a `Flow`, or a `Result` of one of them; this one returns `{Self}`",
    label = "not allowed as the result of a tap",
    note = "a tap cannot await: to await between items use `next.stream(input)`"
)]
pub trait TapResult {
    /// What becomes of the item.
    ///
    /// # Errors
    /// An error ends the hook: what runs inside is dropped and the error is the layer's result.
    fn flow(self) -> Result<Flow, Error>;
}

impl TapResult for () {
    #[inline]
    fn flow(self) -> Result<Flow, Error> {
        Ok(Flow::Keep)
    }
}

impl TapResult for Flow {
    #[inline]
    fn flow(self) -> Result<Flow, Error> {
        Ok(self)
    }
}

impl<R: TapResult, E: Into<Error>> TapResult for Result<R, E> {
    #[inline]
    fn flow(self) -> Result<Flow, Error> {
        self.map_err(Into::into)?.flow()
    }
}

/// A shared tap and the ones outside of it.
pub(crate) struct Tap<T> {
    pub(crate) look: Box<dyn Fn(&mut T) -> Flow + Send + Sync>,
    pub(crate) outer: Option<Arc<Tap<T>>>,
}

impl<T> Tap<T> {
    /// An outermost tap.
    pub(crate) fn new<R: Into<Flow>>(look: impl Fn(&mut T) -> R + Send + Sync + 'static) -> Self {
        Self { look: Box::new(move |item| look(item).into()), outer: None }
    }
}
