//! `#[tool]`.

mod description;
mod expansion;
mod options;
mod parameters;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Error, Result, Signature, ext::IdentExt, parse2};

use self::{
    expansion::ToolFunction,
    options::Options,
    parameters::{Arguments, Parameter},
};
use crate::{crate_path::crate_path, unparsed::Function};

/// Expands the attribute. A function that cannot be a tool stays a function, beside the error.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut function: Function = match parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return beside(&item, &error),
    };
    let parameters = parameters::take(&mut function.sig);
    let expanded = both(Options::parse(options), parameters)
        .and_then(|(options, parameters)| Ok(describe(options, &function, &parameters)?.expand()));
    expanded.unwrap_or_else(|error| beside(&quote!(#[allow(unused)] #function), &error))
}

/// Both, or all that is wrong with them.
fn both<A, B>(a: Result<A>, b: Result<B>) -> Result<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut error), Err(other)) => {
            error.combine(other);
            Err(error)
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

fn beside(item: &TokenStream, error: &Error) -> TokenStream {
    let error = error.to_compile_error();
    quote!(#item #error)
}

/// Checks the function and gathers what is known of it.
fn describe<'a>(
    options: Options,
    function: &'a Function,
    parameters: &'a [Parameter],
) -> Result<ToolFunction<'a>> {
    check(&function.sig)?;
    let ident = &function.sig.ident;
    let description = match (options.description, description::of(&function.attrs)) {
        (Some(given), _) => given.into_token_stream(),
        (None, Some(comment)) => comment.into_token_stream(),
        (None, None) => {
            let message = "the model knows a tool by its description: write a doc comment, or \
                           `#[tool(description = \"…\")]`";
            return Err(Error::new(ident.span(), message));
        }
    };
    Ok(ToolFunction {
        function,
        name: options.name.unwrap_or_else(|| ident.unraw().to_string()),
        description,
        read_only: options.read_only,
        idempotent: options.idempotent,
        sequential: options.sequential,
        permission: options.permission,
        arguments: Arguments::of(parameters)?,
        parameters,
        crate_path: options.crate_path.map_or_else(crate_path, Ok)?,
    })
}

/// What no tool can be.
fn check(sig: &Signature) -> Result<()> {
    if !sig.generics.params.is_empty() || sig.generics.where_clause.is_some() {
        return Err(Error::new_spanned(
            &sig.generics,
            "a tool has no generic parameters: one function is one tool",
        ));
    }
    let qualifiers = [
        sig.constness.map(ToTokens::into_token_stream),
        sig.unsafety.map(ToTokens::into_token_stream),
        sig.abi.as_ref().map(ToTokens::to_token_stream),
    ];
    match qualifiers.into_iter().flatten().next() {
        Some(qualifier) => Err(Error::new_spanned(qualifier, "a tool is an `async fn` or a plain `fn`")),
        None => Ok(()),
    }
}
