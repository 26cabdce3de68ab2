use proc_macro2::TokenStream;
use quote::quote;
use syn::{ImplItem, Item, ItemImpl};

use super::expand;
use crate::testing::{errors, items};

fn error(block: TokenStream) -> String {
    let mut errors = errors(&expand(TokenStream::new(), block));
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

/// The trait's block of an expansion.
fn trait_block(expanded: &TokenStream) -> ItemImpl {
    let mut blocks = items(expanded).into_iter().filter_map(|item| match item {
        Item::Impl(block) if block.trait_.is_some() => Some(block),
        _ => None,
    });
    blocks.next().expect("a block of the trait")
}

fn methods(block: &ItemImpl) -> Vec<String> {
    let methods = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
        _ => None,
    });
    methods.collect()
}

#[test]
fn a_misspelt_hook_names_the_one_that_was_meant() {
    let message = error(quote! {
        impl Middleware for A {
            async fn on_model_cal(&self, cx: Cx<ModelCall>, r: ModelRequest, n: Next<ModelCall>) -> Result<ChatResponse> {}
        }
    });
    assert!(
        message.starts_with("`on_model_cal` is not a hook of `Middleware`: did you mean `on_model_call`?"),
        "{message}"
    );
    assert!(message.contains("`on_system_prompt`"), "{message}");
}

#[test]
fn a_helper_is_sent_elsewhere() {
    let message = error(quote!(impl Middleware for A { async fn fetch(&self) {} }));
    assert!(message.contains("goes into an `impl` block of its own"), "{message}");
}

#[test]
fn a_wrong_number_of_arguments_shows_the_signature() {
    let message = error(
        quote!(impl Middleware for A { async fn on_system_prompt(&self, prompt: String) -> Result<String> {} }),
    );
    assert_eq!(
        message,
        "`on_system_prompt` is written `async fn on_system_prompt(&self, cx: Cx<SystemPrompt>, prompt: String) -> \
         Result<String>`"
    );
}

#[test]
fn a_missing_result_and_a_missing_self_show_the_signature() {
    let no_result =
        error(quote!(impl Middleware for A { async fn on_system_prompt(&self, cx: C, p: String) {} }));
    let no_self =
        error(quote!(impl Middleware for A { async fn on_system_prompt(cx: C, p: String) -> R {} }));
    assert!(no_result.ends_with("-> Result<String>`"), "{no_result}");
    assert!(no_self.contains("(&self, cx"), "{no_self}");
}

#[test]
fn a_layer_is_not_taken_exclusively_or_by_value() {
    for receiver in [quote!(&mut self), quote!(self), quote!(self: Box<Self>)] {
        let message = error(
            quote!(impl Middleware for A { async fn on_system_prompt(#receiver, cx: C, p: String) -> R {} }),
        );
        assert!(message.starts_with("a hook takes `&self` or `self: Arc<Self>`"), "{message}");
    }
}

#[test]
fn a_hook_is_async() {
    let message =
        error(quote!(impl Middleware for A { fn on_system_prompt(&self, cx: C, p: String) -> R {} }));
    assert!(
        message.starts_with("a hook is an `async fn`: write `async fn on_system_prompt(&self"),
        "{message}"
    );
}

#[test]
fn it_goes_on_the_impl_of_a_layer_trait() {
    assert!(error(quote!(impl A {})).contains("not a plain `impl`"));
    assert!(error(quote!(impl Display for A {})).contains("goes on `impl Middleware for …`"));
    let with_options = expand(quote!(order = 1), quote!(impl Middleware for A {}));
    assert_eq!(errors(&with_options), ["`#[middleware]` takes no options"]);
}

#[test]
fn a_block_that_does_not_parse_stays_as_written() {
    let written = quote!(impl Middleware for A { async fn on_reply(&self, ) -> });
    let expanded = expand(TokenStream::new(), written.clone()).to_string();
    assert!(expanded.starts_with(&written.to_string()), "{expanded}");
    assert!(expanded.contains("compile_error"), "{expanded}");
}

#[test]
fn a_body_that_does_not_parse_is_passed_on() {
    let expanded = expand(
        TokenStream::new(),
        quote!(impl Middleware for A { async fn on_system_prompt(&self, cx: C, p: String) -> R { p. } }),
    );
    assert!(expanded.to_string().contains("{ p . }"), "{expanded}");
}

#[test]
fn a_wrong_hook_keeps_its_body_for_the_editor() {
    let expanded =
        expand(TokenStream::new(), quote!(impl Middleware for A { async fn on_replay(&self) { body() } }));
    assert!(expanded.to_string().contains("body ()"), "{expanded}");
}

#[test]
fn hooks_are_listed_under_their_conditions_also_those_written_by_hand() {
    let expanded = expand(
        TokenStream::new(),
        quote! {
            impl<T: Clone> Middleware for path::Layer<T> where T: Send {
                fn key(&self) -> Option<MiddlewareKey> { None }
                #[cfg(unix)]
                async fn on_reply(&self, Cx { .. }: C, _: I, next: N) -> R { }
                fn on_acting(self: Arc<Self>, cx: C, input: I, next: N) -> BoxFuture<'static, R> { }
            }
        },
    );
    assert_eq!(errors(&expanded), [""; 0]);
    let block = trait_block(&expanded);
    assert_eq!(methods(&block), ["__hook_names", "__type_name", "key", "on_reply", "on_acting"]);
    assert!(block.generics.where_clause.is_some());
    let text = expanded.to_string();
    assert!(text.contains(r#"& [# [cfg (unix)] "on_reply" , "on_acting"]"#), "{text}");
    assert!(text.contains(r#"Some ("Layer")"#), "{text}");
}

#[test]
fn a_layer_around_a_tool_has_its_own_hook() {
    let good = expand(
        TokenStream::new(),
        quote!(impl cepa::ToolMiddleware for A { async fn on_tool_call(&self, cx: C, input: I, next: N) -> R {} }),
    );
    assert_eq!(errors(&good), [""; 0]);
    assert_eq!(methods(&trait_block(&good)), ["on_tool_call"]);

    let message = error(quote!(impl ToolMiddleware for A { async fn on_acting(&self) {} }));
    assert!(message.starts_with("`on_acting` is not a hook of `ToolMiddleware`"), "{message}");
}

#[test]
fn an_expectation_is_met_where_the_bodies_are() {
    let expanded = expand(
        TokenStream::new(),
        quote! {
            #[expect(clippy::foo)]
            impl Middleware for A { async fn on_system_prompt(&self, cx: C, p: String) -> R { } }
        },
    );
    let text = expanded.to_string();
    assert!(text.starts_with("# [expect (clippy :: foo)] impl A"), "{text}");
    assert!(text.contains("# [allow (clippy :: foo)] impl Middleware for A"), "{text}");
}

#[test]
fn what_is_not_there_is_no_error() {
    let expanded =
        expand(TokenStream::new(), quote!(impl Middleware for A { #[cfg(any())] async fn on_replay() {} }));
    assert!(expanded.to_string().starts_with("# [cfg (any ())] :: core :: compile_error"), "{expanded}");
}
