//! What the function becomes: a unit struct of its name that implements `Tool`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, FnArg, Ident, LitStr, Path, ReturnType, Visibility, ext::IdentExt, spanned::Spanned};

use super::{
    options::Permission,
    parameters::{Arguments, Named, Parameter},
};
use crate::{
    attributes::{conditions, is_doc, lints_elsewhere},
    spans::located_at,
    unparsed::Function,
};

/// A function that is a tool, and what is known of it.
pub(super) struct ToolFunction<'a> {
    pub(super) function: &'a Function,
    pub(super) name: String,
    pub(super) description: TokenStream,
    pub(super) read_only: bool,
    pub(super) idempotent: bool,
    pub(super) sequential: bool,
    pub(super) permission: Option<Permission>,
    pub(super) parameters: &'a [Parameter],
    pub(super) arguments: Arguments<'a>,
    pub(super) crate_path: Path,
}

/// How the model's arguments become the function's.
struct Reading {
    /// The hidden struct that takes the arguments by their names, where one is needed.
    hidden: TokenStream,
    /// What is read.
    ty: TokenStream,
    /// Makes the `Arguments` of this type.
    reader: TokenStream,
}

impl ToolFunction<'_> {
    pub(super) fn expand(&self) -> TokenStream {
        let (item, run, implementation) = (self.item(), self.run(), self.implementation());
        let function = self.function();
        let Reading { hidden, ty, reader } = self.reading();
        let cfgs = conditions(&self.function.attrs);
        let private = self.private();
        quote! {
            #item

            #(#cfgs)*
            const _: () = {
                #function
                #run
                #hidden

                static ARGUMENTS: ::std::sync::LazyLock<#private::Arguments<#ty>> =
                    ::std::sync::LazyLock::new(|| #reader);

                #implementation
            };
        }
    }

    fn private(&self) -> TokenStream {
        let crate_path = &self.crate_path;
        quote!(#crate_path::__private)
    }

    /// The value that stands for the tool.
    fn item(&self) -> TokenStream {
        let Function { attrs, vis, sig, .. } = self.function;
        let (name, cfgs) = (&sig.ident, conditions(attrs));
        let own = attrs.iter().filter(|attr| is_of_item(attr));
        let lints = lints_elsewhere(attrs);
        let doc = (!attrs.iter().any(is_doc)).then(|| {
            let text = format!("The tool `{}`.", self.name);
            quote!(#[doc = #text])
        });
        quote! {
            #doc #(#own)* #(#cfgs)* #(#lints)*
            #[allow(non_camel_case_types)]
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, ::core::default::Default, ::core::fmt::Debug,
            )]
            #vis struct #name;
        }
    }

    /// The function as it was written. In this block its name stands for it, not for the unit struct: so it may call
    /// itself, and name a variable as itself.
    fn function(&self) -> TokenStream {
        let mut function = self.function.clone();
        function.vis = Visibility::Inherited;
        function.attrs.retain(|attr| !is_of_item(attr));
        quote! {
            // `async` and what it takes are how a tool is run, not a matter of taste.
            #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
            #function
        }
    }

    /// The function for others, as `name::run`.
    fn run(&self) -> TokenStream {
        let Function { vis, sig, .. } = self.function;
        let (name, output) = (&sig.ident, &sig.output);
        let names: Vec<Ident> = self.parameters.iter().map(|parameter| self.public_name(parameter)).collect();
        let types = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&typed.ty),
            FnArg::Receiver(_) => None,
        });
        let (asyncness, wait) = (sig.asyncness, sig.asyncness.map(|_| quote!(.await)));
        let span = located_at(name.span());
        let call = quote_spanned!(span=> #name(#(#names),*) #wait);
        quote! {
            #[allow(deprecated)]
            impl #name {
                /// Calls the function itself, without an agent.
                #vis #asyncness fn run(#(#names: #types),*) #output {
                    #call
                }
            }
        }
    }

    /// What a parameter is called in `run`: there it may hide the function, which the body calls.
    fn public_name(&self, parameter: &Parameter) -> Ident {
        let (name, unnamed) = match parameter {
            Parameter::Context(name) => (name, "cx"),
            Parameter::Argument(argument) => (&argument.name, "arguments"),
        };
        match name {
            Some(name) if name.unraw() == self.function.sig.ident.unraw() => {
                format_ident!("{}_", name.unraw())
            }
            Some(name) => name.clone(),
            None => Ident::new(unnamed, Span::call_site()),
        }
    }

    fn implementation(&self) -> TokenStream {
        let Self { function, name, description, .. } = self;
        let private = self.private();
        let ident = &function.sig.ident;
        let lints = lints_elsewhere(&function.attrs);
        let read_only = self.read_only.then(|| {
            quote!(
                fn is_read_only(&self) -> bool {
                    true
                }
            )
        });
        let idempotent = self.idempotent.then(|| {
            quote!(
                fn is_idempotent(&self) -> bool {
                    true
                }
            )
        });
        let sequential = self.sequential.then(|| {
            quote!(
                fn is_concurrency_safe(&self) -> bool {
                    false
                }
            )
        });
        let (permission, call) = (self.permission(), self.call());
        quote! {
            #[allow(deprecated)]
            #(#lints)*
            impl #private::Tool for #ident {
                fn name(&self) -> &str {
                    #name
                }

                fn description(&self) -> &str {
                    #description
                }

                fn input_schema(&self) -> &#private::serde_json::Value {
                    ARGUMENTS.schema()
                }

                #read_only
                #idempotent
                #sequential
                #permission
                #call
            }
        }
    }

    fn permission(&self) -> Option<TokenStream> {
        let behavior = match self.permission? {
            Permission::Ask => return None, // what a tool does by itself
            Permission::Allow => quote!(Allow),
            Permission::Deny => quote!(Deny),
        };
        let (private, name) = (self.private(), &self.name);
        Some(quote! {
            fn check_permissions<'a>(
                &'a self,
                _input: &'a #private::serde_json::Map<
                    ::std::string::String,
                    #private::serde_json::Value,
                >,
                _context: &'a #private::PermissionContext,
            ) -> #private::BoxFuture<'a, #private::PermissionDecision> {
                #private::decide(#name, #private::PermissionBehavior::#behavior)
            }
        })
    }

    fn call(&self) -> TokenStream {
        let private = self.private();
        let sig = &self.function.sig;
        let is_one = matches!(self.arguments, Arguments::Fields(_) | Arguments::One(_));
        let given = self.parameters.iter().map(|parameter| match parameter {
            Parameter::Context(_) => quote!(__cx),
            Parameter::Argument(argument) => match &argument.name {
                Some(name) if !is_one => quote!(__arguments.#name),
                _ => quote!(__arguments),
            },
        });
        let span = located_at(sig.ident.span());
        let run = quote_spanned!(span=> Self::run(#(#given),*));
        let returned = if sig.asyncness.is_some() {
            quote_spanned!(span=> #run.await)
        } else {
            quote_spanned!(span=> #private::run_blocking(move || #run).await?)
        };
        let output = match &sig.output {
            ReturnType::Type(_, ty) => located_at(ty.span()),
            ReturnType::Default => span,
        };
        let private_there = respanned(&private, output);
        let answer = quote_spanned!(output=> #private_there::Answer::into_result(__returned));
        let body = quote_spanned! {span=>
            ::std::boxed::Box::pin(async move {
                let __arguments = ARGUMENTS.read(__input)?;
                let __returned = #returned;
                #answer
            })
        };
        quote! {
            #[allow(unused_variables, clippy::let_unit_value, clippy::used_underscore_binding)]
            fn call(
                self: ::std::sync::Arc<Self>,
                __input: #private::serde_json::Map<::std::string::String, #private::serde_json::Value>,
                __cx: #private::ToolCx,
            ) -> #private::BoxFuture<
                'static,
                ::core::result::Result<#private::ToolResponse, #private::ToolError>,
            > {
                #body
            }
        }
    }

    fn reading(&self) -> Reading {
        let private = self.private();
        match &self.arguments {
            Arguments::None => Reading {
                hidden: TokenStream::new(),
                ty: quote!(()),
                reader: quote!(#private::Arguments::none()),
            },
            Arguments::Fields(ty) => Reading {
                hidden: TokenStream::new(),
                ty: quote!(#ty),
                reader: quote!(#private::Arguments::fields()),
            },
            Arguments::One(one @ Named { name, ty, .. }) => Reading {
                hidden: self.hidden_struct(std::slice::from_ref(one)),
                ty: quote!(#ty),
                reader: quote!(#private::Arguments::fields_or(|__only: __Arguments| __only.#name)),
            },
            Arguments::Several(several) => Reading {
                hidden: self.hidden_struct(several),
                ty: quote!(__Arguments),
                reader: quote!(#private::Arguments::fields()),
            },
        }
    }

    /// A struct with the parameters as its fields.
    fn hidden_struct(&self, parameters: &[Named<'_>]) -> TokenStream {
        let private = self.private();
        let path = |name: &str| {
            let path = format!("{private}::{name}").replace(' ', "");
            LitStr::new(&path, located_at(self.function.sig.ident.span()))
        };
        let (serde, schemars) = (path("serde"), path("schemars"));
        let fields = parameters.iter().map(|Named { name, ty, attrs }| quote!(#(#attrs)* #name: #ty));
        quote! {
            #[derive(#private::serde::Deserialize, #private::schemars::JsonSchema)]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            struct __Arguments {
                #(#fields),*
            }
        }
    }
}

/// Whether an attribute of the function is for the value that others see.
fn is_of_item(attr: &Attribute) -> bool {
    is_doc(attr) || attr.path().is_ident("deprecated")
}

/// A path, shown at `span`.
fn respanned(path: &TokenStream, span: Span) -> TokenStream {
    let tokens = path.clone().into_iter();
    tokens
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}
