//! Taps: looking at items as they pass, without awaiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
///
/// ```
/// use cepa_core::{ChatResponse, Cx, Error, Flow, ModelCall, ModelRequest, Next, Result};
///
/// /// Drops empty chunks, and ends the call at a forbidden word.
/// async fn guard(_cx: Cx<ModelCall>, request: ModelRequest, next: Next<ModelCall>) -> Result<ChatResponse> {
///     next.tap(request, |chunk| {
///         if chunk.texts().any(|text| text.contains("secret")) {
///             return Err(Error::other("the answer holds a secret"));
///         }
///         Ok(if chunk.is_empty() { Flow::Drop } else { Flow::Keep })
///     })
///     .await
/// }
/// # let _ = guard;
/// ```
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

impl<T: 'static> Tap<T> {
    /// An outermost tap that adds items up; what they add up to can be taken out at the end.
    pub(crate) fn folding<F: Default + Send + 'static>(add: fn(&mut F, &T)) -> (Arc<Self>, Folded<F>) {
        let folded = Folded(Arc::default());
        let tap = {
            let folded = folded.clone();
            Self::new(move |item: &mut T| add(&mut folded.lock(), item))
        };
        (Arc::new(tap), folded)
    }
}

/// What a folding tap has added up.
pub(crate) struct Folded<F>(Arc<Mutex<F>>);

impl<F> Clone for Folded<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<F: Default> Folded<F> {
    fn lock(&self) -> MutexGuard<'_, F> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> F {
        std::mem::take(&mut self.lock())
    }
}
