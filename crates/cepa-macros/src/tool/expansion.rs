//! What the function becomes: a unit struct of its name that implements `Tool`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr, Path, ReturnType, spanned::Spanned};

use super::{
    options::Permission,
    parameters::{Arguments, Named, Parameter},
};
use crate::{
    attributes::{conditions, is_doc, is_lint},
    spans::located_at,
    unparsed::Function,
};

/// A function that is a tool, and what is known of it.
pub(super) struct ToolFunction<'a> {
    pub(super) function: &'a Function,
    pub(super) name: String,
    pub(super) description: TokenStream,
    pub(super) read_only: bool,
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
        let Reading { hidden, ty, reader } = self.reading();
        let cfgs = conditions(&self.function.attrs);
        let private = self.private();
        quote! {
            #item
            #run

            #(#cfgs)*
            const _: () = {
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
        let docs = attrs.iter().filter(|attr| is_doc(attr) || attr.path().is_ident("deprecated"));
        quote! {
            #(#docs)* #(#cfgs)*
            #[allow(non_camel_case_types)]
            #[derive(
                ::core::clone::Clone, ::core::marker::Copy, ::core::default::Default, ::core::fmt::Debug,
            )]
            #vis struct #name;
        }
    }

    /// The function as it was written, as `name::run`.
    fn run(&self) -> TokenStream {
        let mut function = self.function.clone();
        let (name, cfgs) = (&self.function.sig.ident, conditions(&function.attrs));
        function.attrs.retain(|attr| !is_doc(attr) && !attr.path().is_ident("deprecated"));
        function.sig.ident = Ident::new("run", name.span());
        quote! {
            #(#cfgs)*
            #[allow(deprecated)]
            impl #name {
                /// Calls the function directly, without an agent.
                #[allow(clippy::unused_async, clippy::needless_pass_by_value)]
                #function
            }
        }
    }

    fn implementation(&self) -> TokenStream {
        let Self { function, name, description, .. } = self;
        let private = self.private();
        let ident = &function.sig.ident;
        let lints = function.attrs.iter().filter(|attr| is_lint(attr) && !attr.path().is_ident("expect"));
        let read_only = self.read_only.then(|| {
            quote!(
                fn is_read_only(&self) -> bool {
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
            Parameter::Context => quote!(cx),
            Parameter::Argument(argument) => match &argument.name {
                Some(name) if !is_one => quote!(arguments.#name),
                _ => quote!(arguments),
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
        let answer = quote_spanned!(output=> #private::Answer::into_result(returned));
        let body = quote_spanned! {span=>
            ::std::boxed::Box::pin(async move {
                let arguments = ARGUMENTS.read(input)?;
                let returned = #returned;
                #answer
            })
        };
        quote! {
            #[allow(unused_variables, clippy::let_unit_value)]
            fn call(
                self: ::std::sync::Arc<Self>,
                input: #private::serde_json::Map<::std::string::String, #private::serde_json::Value>,
                cx: #private::ToolCx,
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
                reader: quote!(#private::Arguments::fields_or(|only: __Arguments| only.#name)),
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
