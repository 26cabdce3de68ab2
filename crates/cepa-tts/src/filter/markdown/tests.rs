use proptest::{collection::vec, prelude::*, sample::select};

use crate::SpeechFilter;

fn spoken(text: &str) -> String {
    SpeechFilter::markdown().apply(text)
}

#[test]
fn marks_are_not_spoken_and_text_is() {
    for (text, expected) in [
        ("Plain text, 2 * 3 = 6, a_b, ~5 and 2*3!", "Plain text, 2 * 3 = 6, a_b, ~5 and 2*3!"),
        ("**Bold**, *it*, __b__, _i_, ***both***, ~~gone~~.", "Bold, it, b, i, both, gone."),
        ("# One\n###### Six ######\n#hash", "One\nSix \n#hash"),
        ("- one\n* two\n+ three\n  - four\n1. five", "one\ntwo\nthree\nfour\n1. five"),
        ("- [ ] open\n- [x] done\n- [link](x)", "open\ndone\nlink"),
        ("> quoted\n> > twice\n", "quoted\ntwice\n"),
        ("a\n\n---\n\n* * *\nb\n===\n", "a\n\n\n\n\nb\n\n"),
        ("Use `x_y` and ``a`b``.", "Use x_y and a`b."),
        ("See [the *docs*](https://a.b/c_(d)) and [ref][1].", "See the docs and ref."),
        ("![a cat](cat.png) [![badge](b.svg)](http://x.y)", "a cat badge"),
        ("Not a link: [1], a[0] (see).", "Not a link: [1], a[0] (see)."),
        ("Go to https://example.com/a?b=c. Or (www.x.org), now.", "Go to . Or (), now."),
        ("详见https://a.b/c的说明。", "详见的说明。"),
        ("<https://a.b> or a < b", " or a < b"),
        ("whttp://a and http is a word", "whttp://a and http is a word"),
        (r"\*stars\* and \\", r"*stars* and \"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nAfter", "After"),
        ("Code:\n```rust\nfn main() {}\n# no heading\n```\nDone.", "Code:\nDone."),
        ("~~~\n```\n~~~\nDone. ```not a fence``` here", "Done. not a fence here"),
        ("```inline``` first", "inline first"),
        ("````\n```\nstill\n````\nout", "out"),
        ("```\nnever closed", ""),
        ("Open `code\n*next*", "Open code\nnext"),
        ("a\r\n- b\r\n", "a\r\nb\r\n"),
    ] {
        assert_eq!(spoken(text), expected, "{text}");
    }
}

#[test]
fn what_is_decided_is_spoken_at_once() {
    let mut filter = SpeechFilter::markdown().begin();
    assert_eq!(filter.push("The *first* sen"), "The first sen");
    assert_eq!(filter.push("tence [is"), "tence ");
    assert_eq!(filter.push(" linked](http"), "");
    assert_eq!(filter.push("://x) h"), "is linked ");
    assert_eq!(filter.push("ere."), "here.");
    assert_eq!(filter.push("\n``"), "\n");
    assert_eq!(filter.push("`\ncode\n``"), "");
    assert_eq!(filter.push("`\nAfter"), "After");
    assert_eq!(filter.finish(), "");
}

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b c", "你", " ", "\n", "\n\n", "\r\n", "*", "**", "_", "`", "```", "~~~", "~~", "#", "# ", "- ",
    "+ ", "> ", "| x |", "[", "]", "(", ")", "](", "!", "![", "[x] ", "<", ">", "http://", "https://a.b",
    "www", ".", "h", "\\", "=", "---", "1. ", "é", "w", "\t",
];

fn text() -> impl Strategy<Value = String> {
    vec(select(ATOMS), 0..40).prop_map(|atoms| atoms.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_result_does_not_depend_on_how_the_text_is_cut(text in text(), sizes in vec(1..6_usize, 1..60)) {
        let mut filter = SpeechFilter::markdown().begin();
        let mut streamed = String::new();
        let mut characters = text.chars();
        for size in sizes.iter().cycle() {
            let piece: String = characters.by_ref().take(*size).collect();
            if piece.is_empty() {
                break;
            }
            streamed += &filter.push(&piece);
        }
        streamed += &filter.finish();
        prop_assert_eq!(streamed, spoken(&text));
    }
}
