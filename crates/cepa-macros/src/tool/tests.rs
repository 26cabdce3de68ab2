use proc_macro2::TokenStream;
use quote::quote;

use super::expand;
use crate::testing;

/// The messages of the errors in an expansion.
fn errors(options: TokenStream, function: TokenStream) -> Vec<String> {
    testing::errors(&expand(options, function))
}

/// The errors of a function that is a tool but for its parameters.
fn errors_of(parameters: TokenStream) -> Vec<String> {
    errors(quote!(crate = cepa), quote!(#[doc = "x"] fn t(#parameters) {}))
}

fn expanded(options: TokenStream, function: TokenStream) -> String {
    let expanded = expand(quote!(crate = cepa, #options), function);
    assert_eq!(testing::errors(&expanded), [""; 0]);
    expanded.to_string()
}

#[test]
fn an_unknown_option_names_the_one_that_was_meant() {
    let message = errors(
        quote!(crate = cepa, read_ony),
        quote!(
            #[doc = "x"]
            fn t() {}
        ),
    )
    .remove(0);
    assert!(
        message.starts_with("unknown option `read_ony` of `#[tool]`: did you mean `read_only`?"),
        "{message}"
    );
    let message = errors(
        quote!(flavour = "x"),
        quote!(
            #[doc = "x"]
            fn t() {}
        ),
    )
    .remove(0);
    assert!(message.starts_with("unknown option `flavour` of `#[tool]`: There are `name`"), "{message}");
}

#[test]
fn names_are_such_as_servers_take() {
    for name in ["", "two words", "größe", &"x".repeat(65)] {
        let message = errors(
            quote!(name = #name),
            quote!(
                #[doc = "x"]
                fn t() {}
            ),
        )
        .remove(0);
        assert!(message.starts_with("a tool's name is 1 to 64"), "{name}: {message}");
    }
}

#[test]
fn a_permission_is_one_of_three() {
    assert_eq!(
        errors(
            quote!(permission = "maybe"),
            quote!(
                #[doc = "x"]
                fn t() {}
            )
        ),
        ["`permission` is \"allow\", \"ask\" or \"deny\""]
    );
}

#[test]
fn a_tool_has_a_description() {
    let message = errors(
        quote!(crate = cepa),
        quote!(
            fn t() {}
        ),
    )
    .remove(0);
    assert!(message.contains("write a doc comment"), "{message}");
    assert!(
        expanded(
            quote!(description = "Given."),
            quote!(
                fn t() {}
            )
        )
        .contains("\"Given.\"")
    );
}

#[test]
fn what_is_no_tool_says_why() {
    let of = |function| errors(quote!(crate = cepa), function).remove(0);
    assert!(
        of(quote!(
            #[doc = "x"]
            fn t<T>(t: T) {}
        ))
        .contains("no generic parameters")
    );
    assert!(
        of(quote!(
            #[doc = "x"]
            unsafe fn t() {}
        ))
        .contains("`async fn` or a plain `fn`")
    );
    assert!(errors_of(quote!(&self)).remove(0).contains("without `self`"));
    assert!(errors_of(quote!(a: &str)).remove(0).contains("write `String` for `&str`"));
    assert!(errors_of(quote!(_: String)).remove(0).contains("give this one a name"));
    assert!(errors_of(quote!((a, b): (u8, u8), c: u8)).remove(0).contains("gives this argument by a name"));
    assert!(errors_of(quote!(a: ToolCx, b: Cx<ToolCalling>)).remove(0).contains("takes one `ToolCx`"));
    assert!(errors_of(quote!(#[cfg(unix)] a: u8)).remove(0).contains("cannot be conditional"));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let found = errors(
        quote!(read_ony),
        quote!(
            fn t(a: &str, _: u8) {}
        ),
    );
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_wrong_tool_is_a_function_that_compiles() {
    let text = expand(
        quote!(read_ony),
        quote!(
            fn t(
                #[doc = "d"]
                #[serde(default)]
                #[allow(unused)]
                a: u8,
            ) {
                a;
            }
        ),
    )
    .to_string();
    assert!(text.contains("fn t (# [allow (unused)] a : u8"), "{text}");
    assert!(text.contains("{ a ; }"), "{text}");
}

#[test]
fn the_context_goes_where_the_function_takes_it() {
    let text = expanded(
        quote!(),
        quote!(
            #[doc = "x"]
            async fn t(a: u8, cx: cepa::ToolCx, b: u8) {}
        ),
    );
    assert!(text.contains("Self :: run (__arguments . a , __cx , __arguments . b)"), "{text}");
}

#[test]
fn what_describes_an_argument_goes_to_its_field() {
    let text = expanded(
        quote!(),
        quote!(
            #[doc = "x"]
            fn t(
                #[doc = "d"]
                #[serde(default)]
                #[allow(unused)]
                a: u8,
            ) {
            }
        ),
    );
    assert!(text.contains("# [doc = \"d\"] # [serde (default)] a : u8"), "{text}");
    assert!(text.contains("fn t (# [allow (unused)] a : u8"), "{text}");
}

#[test]
fn a_plain_function_may_block() {
    assert!(
        expanded(
            quote!(),
            quote!(
                #[doc = "x"]
                fn t() {}
            )
        )
        .contains("run_blocking")
    );
    assert!(
        !expanded(
            quote!(),
            quote!(
                #[doc = "x"]
                async fn t() {}
            )
        )
        .contains("run_blocking")
    );
}

#[test]
fn paths_go_through_the_crate_that_is_named() {
    let text = expanded(
        quote!(),
        quote!(
            #[doc = "x"]
            fn t(a: u8, b: u8) {}
        ),
    );
    assert!(text.contains("cepa :: __private :: Tool for t"), "{text}");
    assert!(text.contains("serde (crate = \"cepa::__private::serde\")"), "{text}");
}

#[test]
fn the_function_for_others_keeps_the_names_of_its_parameters() {
    let text = expanded(
        quote!(),
        quote!(
            #[doc = "x"]
            pub fn t(mut t: u8, tools: ToolCx, cx: u8) {}
        ),
    );
    assert!(
        text.contains("pub fn run (t_ : u8 , tools : ToolCx , cx : u8) { t (t_ , tools , cx) }"),
        "{text}"
    );
}
