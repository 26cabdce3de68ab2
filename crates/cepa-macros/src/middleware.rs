//! `#[middleware]`.

mod hook;
mod hooks;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, Ident, Result, Type, ext::IdentExt, parse2};

use self::hooks::LayerTrait;
use crate::{
    attributes::{conditions, is_lint, lints_elsewhere},
    spelling::nearest,
    unparsed::{Function, Item, TraitImpl},
};

/// Expands the attribute. What cannot be expanded stays as it was written, beside the error.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    match parse(options, item.clone()) {
        Ok((block, layer_trait)) => Expansion::new(layer_trait).expand(block),
        Err(error) => {
            let error = error.to_compile_error();
            quote!(#item #error)
        }
    }
}

fn parse(options: TokenStream, item: TokenStream) -> Result<(TraitImpl, &'static LayerTrait)> {
    if !options.is_empty() {
        return Err(Error::new_spanned(options, "`#[middleware]` takes no options"));
    }
    let block: TraitImpl = parse2(item)?;
    let layer_trait = LayerTrait::named(&block.trait_path).ok_or_else(|| {
        let message = "`#[middleware]` goes on `impl Middleware for …` or `impl ToolMiddleware for …`";
        Error::new_spanned(&block.trait_path, message)
    })?;
    Ok((block, layer_trait))
}

/// The block, taken apart.
struct Expansion {
    layer_trait: &'static LayerTrait,
    errors: Vec<TokenStream>,
    /// What the trait's block holds.
    methods: Vec<TokenStream>,
    /// The hooks' bodies, for the inherent block.
    bodies: Vec<TokenStream>,
    /// The names of the hooks, each under its conditions.
    hook_names: Vec<TokenStream>,
}

impl Expansion {
    fn new(layer_trait: &'static LayerTrait) -> Self {
        Self { layer_trait, errors: vec![], methods: vec![], bodies: vec![], hook_names: vec![] }
    }

    fn expand(mut self, block: TraitImpl) -> TokenStream {
        let TraitImpl { attrs, generics, trait_path, self_ty, items } = block;
        for item in items {
            match item {
                Item::Function(function) => self.function(*function),
                Item::Other(other) => self.methods.push(other),
            }
        }

        let Self { layer_trait, errors, methods, bodies, hook_names } = self;
        let described = layer_trait.described.then(|| describe(&self_ty, &hook_names));
        let (parameters, _, bounds) = generics.split_for_impl();
        // Lints are for the bodies, wherever these are.
        let (lints, other): (Vec<_>, Vec<_>) = attrs.iter().partition(|attr| is_lint(attr));
        let (cfgs, elsewhere) = (conditions(&attrs), lints_elsewhere(&attrs));
        let (inherent, lints) = if bodies.is_empty() {
            (None, quote!(#(#lints)*))
        } else {
            let inherent = quote! {
                #(#cfgs)* #(#lints)*
                impl #parameters #self_ty #bounds { #(#bodies)* }
            };
            (Some(inherent), quote!(#(#elsewhere)*))
        };
        quote! {
            #(#errors)*
            #inherent
            #(#other)* #lints
            impl #parameters #trait_path for #self_ty #bounds { #described #(#methods)* }
        }
    }

    fn function(&mut self, function: Function) {
        let name = function.sig.ident.unraw().to_string();
        let Some(hook) = self.layer_trait.hook(&name) else {
            if function.sig.asyncness.is_some() || name.starts_with("on_") {
                let error = not_a_hook(&function.sig.ident, self.layer_trait);
                self.reject(&error, &function);
            } else {
                self.methods.push(quote!(#function)); // `key`, `tools`, …: the compiler knows which there are
            }
            return;
        };
        let cfgs = conditions(&function.attrs);
        if function.sig.asyncness.is_none() {
            if !is_written_by_hand(&function) {
                let message = format!("a hook is an `async fn`: write `{hook}`");
                self.reject(&Error::new(function.sig.fn_token.span, message), &function);
                return;
            }
            self.methods.push(quote!(#function));
        } else {
            match hook::expand(hook, &function) {
                Ok(expanded) => {
                    self.methods.push(expanded.method);
                    self.bodies.push(expanded.body);
                }
                Err(error) => {
                    self.reject(&error, &function);
                    return;
                }
            }
        }
        let hook_name = hook.name;
        self.hook_names.push(quote!(#(#cfgs)* #hook_name));
    }

    /// Notes the error, which is none where the function is not there; the body stays where an editor and the
    /// compiler look into it.
    fn reject(&mut self, error: &Error, function: &Function) {
        let (cfgs, error) = (conditions(&function.attrs), error.to_compile_error());
        self.errors.push(quote!(#(#cfgs)* #error));
        let body = hook::inherent(function);
        self.bodies.push(quote!(#[allow(unused)] #body));
    }
}

/// A method that boxes its future itself takes the layer as the trait does.
fn is_written_by_hand(function: &Function) -> bool {
    matches!(function.sig.inputs.first(), Some(FnArg::Receiver(receiver)) if receiver.colon_token.is_some())
}

fn not_a_hook(name: &Ident, layer_trait: &LayerTrait) -> Error {
    let known = || layer_trait.hooks.iter().map(|hook| hook.name);
    let hint = match nearest(&name.to_string(), known()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "a function that is none goes into an `impl` block of its own".to_owned(),
    };
    let all = known().collect::<Vec<_>>().join("`, `");
    Error::new_spanned(
        name,
        format!("`{name}` is not a hook of `{}`: {hint}\nhooks: `{all}`", layer_trait.name),
    )
}

/// What the trait's own `hooks`, `name` and `key` go by. These methods are of the standard library's types, so that
/// the block names no path of Cepa and works under whatever name the crate has.
fn describe(self_ty: &Type, hook_names: &[TokenStream]) -> TokenStream {
    let type_name = bare_name(self_ty).map(|name| {
        quote! {
            fn __type_name(&self) -> ::core::option::Option<&'static str> {
                ::core::option::Option::Some(#name)
            }
        }
    });
    quote! {
        fn __hook_names(&self) -> ::core::option::Option<&'static [&'static str]> {
            ::core::option::Option::Some(&[#(#hook_names),*])
        }
        #type_name
    }
}

/// The name of a type without its path and its arguments.
fn bare_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => Some(path.path.segments.last()?.ident.unraw().to_string()),
        Type::Group(group) => bare_name(&group.elem),
        Type::Paren(paren) => bare_name(&paren.elem),
        _ => None,
    }
}
