//! What the model is told about the tool.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comment, without its indentation; `None` if there is none.
pub(super) fn of(attrs: &[Attribute]) -> Option<String> {
    let comments: Vec<String> = attrs.iter().filter_map(comment).collect();
    let lines: Vec<&str> = comments.iter().flat_map(|comment| comment.split('\n')).collect();
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let indent = filled.map(|line| line.len() - line.trim_start().len()).min()?;
    let lines: Vec<&str> =
        lines.iter().map(|line| line.get(indent..).unwrap_or_default().trim_end()).collect();
    Some(lines.join("\n").trim().to_owned())
}

fn comment(attr: &Attribute) -> Option<String> {
    match &attr.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn paragraphs_and_inner_indentation_are_kept() {
        let attrs: Vec<Attribute> = vec![
            parse_quote!(#[doc = " Searches."]),
            parse_quote!(#[doc = ""]),
            parse_quote!(#[doc = "   - by name "]),
            parse_quote!(#[must_use]),
        ];
        assert_eq!(of(&attrs).as_deref(), Some("Searches.\n\n  - by name"));
    }

    #[test]
    fn a_comment_of_several_lines_counts_as_these() {
        let attrs: Vec<Attribute> = vec![parse_quote!(#[doc = "\n    One.\n    Two.\n"])];
        assert_eq!(of(&attrs).as_deref(), Some("One.\nTwo."));
    }

    #[test]
    fn nothing_is_no_description() {
        assert_eq!(of(&[parse_quote!(#[doc = "  "])]), None);
        assert_eq!(of(&[parse_quote!(#[doc(hidden)])]), None);
    }
}
