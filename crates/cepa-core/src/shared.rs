//! Taking a part by value or already shared.

use std::sync::Arc;

use crate::{
    middleware::Middleware,
    model::ChatModel,
    tool::{Tool, ToolMiddleware},
};

/// What builders take where a part may be given by value or already behind an [`Arc`].
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
