//! The attributes of Cepa: [`macro@middleware`] and [`macro@tool`].
//!
//! They are re-exported by `cepa` and `cepa-core`; nobody needs this crate for itself.

mod attributes;
mod middleware;
mod spelling;
mod unparsed;

use proc_macro::TokenStream;

/// Turns the `async fn`s of an `impl Middleware for …` into the hooks of a layer.
#[proc_macro_attribute]
pub fn middleware(options: TokenStream, block: TokenStream) -> TokenStream {
    middleware::expand(options.into(), block.into()).into()
}
