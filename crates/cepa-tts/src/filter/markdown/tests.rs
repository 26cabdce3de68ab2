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
        ("> ```\n> code\n> ```\nAfter the quote.\n\nMore.", "After the quote.\n\nMore."),
        ("> ```rust\n> let x;\n\nIts quote ends it.", "\nIts quote ends it."),
        ("> > ```\n> > x\n> still quoted\nafter", "still quoted\nafter"),
        ("> - ```\n>   x\n>   ```\n> ok\nafter", "ok\nafter"),
        ("5. ```\n   x\n   ```\n6) ~~~\n   y\n   ~~~\nok", "5. 6) ok"),
        ("1. > quoted\n2024 was\n3.14 is\n1.", "1. quoted\n2024 was\n3.14 is\n1."),
        ("Text ```\ncode\n```\nafter", "Text \nafter"),
        ("Text ```sh\nls `x`\n``` after", "Text  after"),
        ("> Text ```\n> code\nafter", "Text after"),
        ("Inline ```over\nlines``` and more", "Inline  and more"),
        ("Use ``` to open it.\nThen write.\n\nMore", "Use  to open it.\nThen write.\n\nMore"),
        ("```\na\n```  \nok", "ok"),
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

#[test]
fn brackets_are_links_three_levels_deep() {
    for (text, expected) in [
        ("[![[x]](a)](b)", "[x]"),
        ("[[[[a](1)](2)](3)](4)", "[a](4)"),
        ("[a](b(c(d(e))))", "[a](b(c(d(e))))"),
        ("[[[[not one]]]]", "[[[[not one]]]]"),
    ] {
        assert_eq!(spoken(text), expected, "{text}");
    }
}

#[test]
fn what_is_not_decided_for_a_kilobyte_is_decided() {
    let label = "word ".repeat(300);
    assert_eq!(spoken(&format!("[{label}](url)")), format!("[{label}](url)"));
    let mut filter = SpeechFilter::markdown().begin();
    assert!(filter.push(&format!("[{label}")).len() > 400);
    let url = "a".repeat(5000);
    assert_eq!(spoken(&format!("At https://{url}. Good.")), "At . Good.");
    assert_eq!(spoken(&format!("![a cat](data:image/png;base64,{url}) here")), "![a cat]() here");
    assert_eq!(spoken(&format!("```\n{url}```\n```\nok")), "ok");
}

#[test]
fn no_text_takes_long_or_overflows_the_stack() {
    let half = 50_000;
    let texts = [
        "[".repeat(100_000),
        "[a](".repeat(25_000),
        "[](x\\(".repeat(16_000),
        "[".repeat(half) + &"]".repeat(half),
        "[".repeat(20_000) + "a" + &"](x)".repeat(20_000),
        "![".repeat(20_000) + "a" + &"](x)".repeat(20_000),
        "<http://a ".repeat(10_000),
        "https://".to_owned() + &"a".repeat(100_000),
        "- ".repeat(half),
        "*".repeat(100_000),
        "`".repeat(100_000),
        "> ".repeat(half),
    ];
    for text in texts {
        let start = std::time::Instant::now();
        let whole = spoken(&text);
        let mut filter = SpeechFilter::markdown().begin();
        let mut streamed = String::new();
        for piece in text.as_bytes().chunks(4) {
            streamed += &filter.push(std::str::from_utf8(piece).unwrap());
        }
        streamed += &filter.finish();
        assert!(whole == streamed);
        // Of what is no link all is spoken.
        assert!(!text.starts_with("[[") || whole.len() > 70_000, "{}", whole.len());
        // A tenth of that, as a rule. Work that grows with the square of the length takes minutes.
        assert!(start.elapsed().as_secs() < 20, "{} took {:?}", &text[..9], start.elapsed());
    }
}

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b c", "你", " ", "\n", "\n\n", "\r\n", "*", "**", "_", "`", "```", "~~~", "~~", "#", "# ", "- ",
    "+ ", "> ", "| x |", "[", "]", "(", ")", "](", "!", "![", "[x] ", "<", ">", "http://", "https://a.b",
    "www", ".", "h", "\\", "=", "---", "1. ", "é", "w", "\t",
    "> ```\n", "\n```\n", "\n> ",
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

    #[test]
    fn a_fence_that_is_closed_silences_nothing_after_it(
        before in select(&["", "> ", "> > ", "- ", "1. ", "> 2) ", "Words ", "> Words "][..]),
        mark in select(&["```", "````", "~~~"][..]),
        code in vec(select(&["x", "# y", "`z`", "- [a", ""][..]), 0..4),
    ) {
        // A run of `~` after words is none.
        let mark = if before.contains('W') { "```" } else { mark };
        let quotes = &before[..before.rfind('>').map_or(0, |at| at + 1)];
        let code: String = code.iter().map(|line| format!("{quotes} {line}\n")).collect();
        let heard = spoken(&format!("{before}{mark}rust\n{code}{quotes} {mark}\nAfter. `b`"));
        prop_assert!(heard.ends_with("After. b"), "{heard:?}");
        prop_assert!(!heard.contains(['x', 'y', 'z', '[']), "{heard:?}");
    }
}
