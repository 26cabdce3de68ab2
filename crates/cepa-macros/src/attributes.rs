//! Which attributes go where when one item becomes several.

use quote::quote;
use syn::{Attribute, Meta, Token, parse_quote, punctuated::Punctuated};

const LINTS: [&str; 5] = ["allow", "expect", "warn", "deny", "forbid"];

/// Whether it sets the level of a lint.
pub(crate) fn is_lint(attr: &Attribute) -> bool {
    LINTS.iter().any(|level| attr.path().is_ident(level))
}

/// Whether it belongs to the documentation.
pub(crate) fn is_doc(attr: &Attribute) -> bool {
    attr.path().is_ident("doc")
}

/// What decides whether the item is there at all: its `cfg`s, also those in a `cfg_attr`.
pub(crate) fn conditions(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter_map(condition).collect()
}

fn condition(attr: &Attribute) -> Option<Attribute> {
    if attr.path().is_ident("cfg") {
        return Some(attr.clone());
    }
    if !attr.path().is_ident("cfg_attr") {
        return None;
    }
    let parts = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let mut parts = parts.into_iter();
    let when = parts.next()?;
    let cfgs: Vec<Meta> = parts.filter(|meta| meta.path().is_ident("cfg")).collect();
    (!cfgs.is_empty()).then(|| parse_quote!(#[cfg_attr(#when, #(#cfgs),*)]))
}

/// The levels of lints, for code beside the one they were written for: an `expect` becomes an `allow`, as it
/// may well not be met there.
pub(crate) fn lints_elsewhere(attrs: &[Attribute]) -> Vec<Attribute> {
    let lints = attrs.iter().filter(|attr| is_lint(attr));
    lints
        .map(|attr| match &attr.meta {
            Meta::List(list) if list.path.is_ident("expect") => {
                let lints = &list.tokens;
                let allow = quote!(allow(#lints));
                parse_quote!(#[#allow])
            }
            _ => attr.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    #[test]
    fn only_what_decides_on_presence_is_a_condition() {
        let attrs: Vec<Attribute> = vec![
            parse_quote!(#[cfg(unix)]),
            parse_quote!(#[inline]),
            parse_quote!(#[cfg_attr(test, cfg(windows), inline)]),
            parse_quote!(#[cfg_attr(test, inline)]),
        ];
        let found: Vec<_> = conditions(&attrs).iter().map(|a| a.to_token_stream().to_string()).collect();
        assert_eq!(found, ["# [cfg (unix)]", "# [cfg_attr (test , cfg (windows))]"]);
    }

    #[test]
    fn an_expectation_is_not_doubled() {
        let attrs: Vec<Attribute> = vec![parse_quote!(#[expect(unused)]), parse_quote!(#[doc = "x"])];
        let found: Vec<_> = lints_elsewhere(&attrs).iter().map(|a| a.to_token_stream().to_string()).collect();
        assert_eq!(found, ["# [allow (unused)]"]);
    }
}
