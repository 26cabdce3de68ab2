//! Taking a part by value or already shared.

use std::sync::Arc;

use crate::{
    middleware::Middleware,
    model::ChatModel,
    tool::{Tool, ToolMiddleware},
};

/// What builders take where a part may be given by value or already behind an [`Arc`].
///
/// ```
/// use std::sync::Arc;
/// use cepa_core::{IntoShared, Middleware, on_reply};
///
/// fn share(layer: impl IntoShared<dyn Middleware>) -> Arc<dyn Middleware> {
///     layer.into_shared()
/// }
///
/// let by_value = share(on_reply(|_cx, input, next| next.run(input)));
/// let again = share(by_value.clone());
/// assert!(Arc::ptr_eq(&by_value, &again));
/// ```
pub trait IntoShared<T: ?Sized> {
    /// The part, shared.
    fn into_shared(self) -> Arc<T>;
}

macro_rules! into_shared {
    ($($part:ident)*) => {$(
        impl<P: $part> IntoShared<dyn $part> for P {
            fn into_shared(self) -> Arc<dyn $part> {
                Arc::new(self)
            }
        }

        impl<P: $part> IntoShared<dyn $part> for Arc<P> {
            fn into_shared(self) -> Arc<dyn $part> {
                self
            }
        }

        impl IntoShared<dyn $part> for Arc<dyn $part> {
            fn into_shared(self) -> Self {
                self
            }
        }
    )*};
}

into_shared!(Middleware ChatModel Tool ToolMiddleware);
