//! The attributes of Cepa: [`macro@middleware`] and [`macro@tool`].
//!
//! They are re-exported by `cepa` and `cepa-core`; nobody needs this crate for itself.

mod attributes;
mod crate_path;
mod middleware;
mod spans;
mod spelling;
mod tool;
mod unparsed;

use proc_macro::TokenStream;

/// Turns the `async fn`s of an `impl Middleware for …` into the hooks of a layer.
#[proc_macro_attribute]
pub fn middleware(options: TokenStream, block: TokenStream) -> TokenStream {
    middleware::expand(options.into(), block.into()).into()
}

/// Makes a tool of a function.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), function.into()).into()
}
