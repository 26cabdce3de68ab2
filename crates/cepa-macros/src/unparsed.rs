//! Functions and impl blocks whose function bodies are left unparsed.
//!
//! A body that is passed on as it was written keeps every span: rustc reports what is wrong in it, once, and an
//! editor completes in it also while it does not parse yet.

use proc_macro2::{Group, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Error, Generics, ImplItem, Path, Result, Signature, Token, Type, Visibility, braced,
    parse::{Parse, ParseStream},
    token::Brace,
};

/// A function with an unparsed body.
#[derive(Clone)]
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Group,
}

impl Function {
    /// Whether a function with a body comes next.
    fn is_next(input: ParseStream<'_>) -> bool {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer).is_ok()
            && ahead.parse::<Visibility>().is_ok()
            && ahead.parse::<Signature>().is_ok()
            && ahead.peek(Brace)
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Ok(Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, sig, body } = self;
        tokens.extend(quote!(#(#attrs)* #vis #sig #body));
    }
}

/// An `impl Trait for Type { … }`.
pub(crate) struct TraitImpl {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) trait_path: Path,
    pub(crate) self_ty: Type,
    pub(crate) items: Vec<Item>,
}

/// What stands in an impl block.
pub(crate) enum Item {
    Function(Box<Function>),
    Other(TokenStream),
}

impl Parse for TraitImpl {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Token![impl]>()?;
        let mut generics: Generics = input.parse()?;
        let implemented: Type = input.parse()?;
        if !input.peek(Token![for]) {
            return Err(Error::new_spanned(
                &implemented,
                "expected `impl Middleware for …`, not a plain `impl`",
            ));
        }
        input.parse::<Token![for]>()?;
        let Type::Path(implemented) = implemented else {
            return Err(Error::new_spanned(&implemented, "expected a trait"));
        };
        let self_ty = input.parse()?;
        generics.where_clause = input.parse()?;

        let block;
        braced!(block in input);
        let mut items = Vec::new();
        while !block.is_empty() {
            items.push(if Function::is_next(&block) {
                Item::Function(Box::new(block.parse()?))
            } else {
                Item::Other(block.parse::<ImplItem>()?.into_token_stream())
            });
        }
        Ok(Self { attrs, generics, trait_path: implemented.path, self_ty, items })
    }
}
