//! Under which path the generated code finds Cepa.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span};
use syn::{Error, Path, Result, parse_quote};

/// The crates that re-export what generated code needs. A crate that has both builds its library with the first
/// and its tests, mostly, with the second.
const CRATES: [&str; 2] = ["cepa-core", "cepa"];

/// The path of the crate, after the dependencies of the package that is compiled.
///
/// # Errors
/// When the package depends on none of them.
pub(crate) fn crate_path() -> Result<Path> {
    let found = CRATES.into_iter().find_map(|package| match crate_name(package).ok()? {
        // Tests and examples of the package itself; its library has an `extern crate self as …`.
        FoundCrate::Itself => Some(package.replace('-', "_")),
        FoundCrate::Name(name) => Some(name),
    });
    let Some(name) = found else {
        let message = "neither `cepa` nor `cepa-core` is among this package's dependencies: add one, or say where it is \
                       by `#[tool(crate = path::to::cepa)]`";
        return Err(Error::new(Span::call_site(), message));
    };
    let name = Ident::new(&name, Span::call_site());
    Ok(parse_quote!(::#name))
}
