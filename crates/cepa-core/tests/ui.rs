//! What the compiler says to those who write something that cannot be.
#![cfg(feature = "macros")]

#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
