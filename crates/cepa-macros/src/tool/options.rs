//! The options of `#[tool(…)]`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Error, Expr, LitStr, Path, Result, meta, meta::ParseNestedMeta, parse::Parser};

use crate::spelling::nearest;

const KNOWN: [&str; 7] =
    ["name", "description", "read_only", "idempotent", "sequential", "permission", "crate"];

/// What stands in the attribute's brackets.
#[derive(Default)]
pub(super) struct Options {
    pub(super) name: Option<String>,
    pub(super) description: Option<Expr>,
    pub(super) read_only: bool,
    pub(super) idempotent: bool,
    pub(super) sequential: bool,
    pub(super) permission: Option<Permission>,
    pub(super) crate_path: Option<Path>,
}

/// What the tool itself says to its being called.
#[derive(Clone, Copy)]
pub(super) enum Permission {
    Allow,
    Ask,
    Deny,
}

impl Options {
    pub(super) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut options = Self::default();
        meta::parser(|option| options.set(&option)).parse2(tokens)?;
        Ok(options)
    }

    fn set(&mut self, option: &ParseNestedMeta<'_>) -> Result<()> {
        let name = option.path.get_ident().map(Ident::to_string).unwrap_or_default();
        match name.as_str() {
            "name" => self.name = Some(tool_name(&option.value()?.parse()?)?),
            "description" => self.description = Some(option.value()?.parse()?),
            "read_only" => self.read_only = true,
            "idempotent" => self.idempotent = true,
            "sequential" => self.sequential = true,
            "permission" => self.permission = Some(Permission::parse(&option.value()?.parse()?)?),
            "crate" => self.crate_path = Some(option.value()?.call(Path::parse_mod_style)?),
            _ => return Err(unknown(&option.path, &name)),
        }
        Ok(())
    }
}

fn unknown(path: &Path, name: &str) -> Error {
    let hint = nearest(name, KNOWN).map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    let written = quote!(#path);
    let all = KNOWN.join("`, `");
    Error::new_spanned(path, format!("unknown option `{written}` of `#[tool]`: {hint}There are `{all}`"))
}

/// A name that every model server takes.
fn tool_name(name: &LitStr) -> Result<String> {
    let text = name.value();
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=64).contains(&text.len()) && text.chars().all(allowed) {
        return Ok(text);
    }
    Err(Error::new(name.span(), "a tool's name is 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`"))
}

impl Permission {
    fn parse(word: &LitStr) -> Result<Self> {
        match word.value().as_str() {
            "allow" => Ok(Self::Allow),
            "ask" => Ok(Self::Ask),
            "deny" => Ok(Self::Deny),
            _ => Err(Error::new(word.span(), "`permission` is \"allow\", \"ask\" or \"deny\"")),
        }
    }
}
