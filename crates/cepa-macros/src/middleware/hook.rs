//! One hook of the block: the trait method, and the inherent method that keeps the body.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, Error, FnArg, Receiver, Result, ReturnType, Type, spanned::Spanned};

use super::hooks::Hook;
use crate::{
    attributes::{conditions, is_doc, lints_elsewhere},
    spans::located_at,
    unparsed::Function,
};

/// What one `async fn` of the block becomes.
pub(crate) struct ExpandedHook {
    /// For the trait's block.
    pub(crate) method: TokenStream,
    /// For the inherent block.
    pub(crate) body: TokenStream,
}

/// How the written function takes the layer.
enum Taken {
    /// `&self`
    Borrowed,
    /// `self: Arc<Self>`
    Shared,
}

pub(crate) fn expand(hook: &Hook, function: &Function) -> Result<ExpandedHook> {
    let sig = &function.sig;
    let wrong = |span: Span| Error::new(span, format!("`{}` is written `{hook}`", hook.name));

    let Some(receiver) = sig.receiver() else {
        return Err(wrong(sig.paren_token.span.join()));
    };
    let taken = taken(receiver)?;
    let types: Vec<&Type> = sig
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&*typed.ty),
            FnArg::Receiver(_) => None,
        })
        .collect();
    if types.len() != hook.parameters.len() {
        return Err(wrong(sig.paren_token.span.join()));
    }
    let ReturnType::Type(_, output) = &sig.output else {
        return Err(wrong(sig.ident.span()));
    };

    // The trait's own parameter names: what is written may be a pattern.
    let names: Vec<Ident> =
        hook.parameters.iter().map(|(name, _)| Ident::new(name, Span::mixed_site())).collect();
    let (docs, cfgs) = (function.attrs.iter().filter(|attr| is_doc(attr)), conditions(&function.attrs));
    let lints = lints_elsewhere(&function.attrs);
    let (name, inner) = (&sig.ident, inner_name(&sig.ident));

    let span = located_at(name.span());
    let future = quote_spanned! {located_at(output.span())=>
        ::core::pin::Pin<::std::boxed::Box<
            dyn ::core::future::Future<Output = #output> + ::core::marker::Send + 'static
        >>
    };
    let call = match taken {
        Taken::Borrowed => quote_spanned!(span=> async move { Self::#inner(&self, #(#names),*).await }),
        Taken::Shared => quote_spanned!(span=> Self::#inner(self, #(#names),*)),
    };
    let boxed = quote_spanned!(span=> ::std::boxed::Box::pin(#call));
    let method = quote! {
        #(#docs)* #(#cfgs)* #(#lints)*
        fn #name(self: ::std::sync::Arc<Self>, #(#names: #types),*) -> #future { #boxed }
    };
    Ok(ExpandedHook { method, body: inherent(function) })
}

/// The function as it was written, under a name of its own, for the inherent block.
pub(crate) fn inherent(function: &Function) -> TokenStream {
    let mut function = function.clone();
    function.sig.ident = inner_name(&function.sig.ident);
    function.attrs.retain(|attr: &Attribute| !is_doc(attr));
    quote! {
        #[doc(hidden)]
        // What a trait method may do, as it is in the eyes of the one who writes it.
        #[allow(clippy::unused_async, clippy::unused_self, clippy::needless_pass_by_value)]
        #function
    }
}

fn inner_name(name: &Ident) -> Ident {
    format_ident!("__{}", name, span = name.span())
}

fn taken(receiver: &Receiver) -> Result<Taken> {
    match &*receiver.ty {
        Type::Reference(reference) if reference.mutability.is_none() => Ok(Taken::Borrowed),
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Arc") => {
            Ok(Taken::Shared)
        }
        _ => Err(Error::new_spanned(
            receiver,
            "a hook takes `&self` or `self: Arc<Self>`: one layer serves many replies at once. What it \
             remembers lives in `cx.my_state()` or `cx.scratch()`",
        )),
    }
}
