//! Where generated code is shown.

use proc_macro2::Span;

/// Shown at `span`, but known to the compiler as the macro's, so that no lint looks at it.
pub(crate) fn located_at(span: Span) -> Span {
    Span::call_site().located_at(span)
}
