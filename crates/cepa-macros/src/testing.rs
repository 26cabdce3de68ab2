//! For tests of the expansions.

use proc_macro2::TokenStream;
use syn::{File, Item, LitStr, parse2};

/// The items of an expansion.
pub(crate) fn items(expanded: &TokenStream) -> Vec<Item> {
    let file: File = parse2(expanded.clone()).expect("an expansion is items");
    file.items
}

/// The messages of the errors in an expansion.
pub(crate) fn errors(expanded: &TokenStream) -> Vec<String> {
    let macros = items(expanded).into_iter().filter_map(|item| match item {
        Item::Macro(item) => Some(item.mac),
        _ => None,
    });
    let errors =
        macros.filter(|mac| mac.path.segments.last().is_some_and(|last| last.ident == "compile_error"));
    errors.map(|mac| mac.parse_body::<LitStr>().expect("a text").value()).collect()
}
