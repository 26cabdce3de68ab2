use proptest::{collection::vec, prelude::*, sample::select};

use super::{
    cut::cut,
    sentences::{Sentences, sentences},
};

fn split(text: &str) -> Vec<&str> {
    sentences(text).collect()
}

#[test]
fn sentences_end_where_a_speaker_pauses() {
    for (text, expected) in [
        ("One. Two! Three? Four", &["One. ", "Two! ", "Three? ", "Four"][..]),
        ("Pi is 3.14. It goes on.", &["Pi is 3.14. ", "It goes on."]),
        (
            "Dr. Smith met Prof. J. R. Jones. They talked.",
            &["Dr. Smith met Prof. J. R. Jones. ", "They talked."],
        ),
        ("Fruit, e.g. Apples, i.e. Malus. Good.", &["Fruit, e.g. Apples, i.e. Malus. ", "Good."]),
        ("z.B. Brot (vgl. oben). Gut.", &["z.B. Brot (vgl. oben). ", "Gut."]),
        ("\"Stop!\" he said. \"Why?\" She left.", &["\"Stop!\" ", "he said. ", "\"Why?\" ", "She left."]),
        ("1. First\n2. Second\n", &["1. First\n", "2. Second\n"]),
        ("Version 2. Next one.", &["Version 2. ", "Next one."]),
        (
            "The U.S. Senate met Gov. Lee at 5 p.m. Monday. It is approx. 3 ft. high.",
            &["The U.S. Senate met Gov. Lee at 5 p.m. Monday. ", "It is approx. 3 ft. high."],
        ),
        ("Plan A. Plan app.py. Next.", &["Plan A. Plan app.py. ", "Next."]),
        ("Well… maybe. Hm… Yes.", &["Well… maybe. ", "Hm… ", "Yes."]),
        ("你好。你叫什么名字？很好！", &["你好。", "你叫什么名字？", "很好！"]),
        ("他说：「走吧。」然后离开了……没有人知道。", &["他说：「走吧。」", "然后离开了……", "没有人知道。"]),
        ("今日は。「元気？」はい…そうです。", &["今日は。", "「元気？」", "はい…", "そうです。"]),
        ("圆周率是3.14。对。", &["圆周率是3.14。", "对。"]),
        ("", &[]),
    ] {
        assert_eq!(split(text), expected, "{text}");
    }
}

#[test]
fn a_sentence_is_given_out_with_the_beginning_of_the_next_one() {
    let mut stream = Sentences::new(2000);
    assert_eq!(stream.push("It costs 3."), [""; 0]);
    assert_eq!(stream.push("50."), [""; 0]);
    assert_eq!(stream.push(" Fine."), ["It costs 3.50. "]);
    assert_eq!(stream.push(" By"), ["Fine. "]);
    assert_eq!(stream.push("e\n"), ["Bye\n"]);
    assert_eq!(stream.push("好。好的"), ["好。"]);
    assert_eq!(stream.finish(), ["好的"]);
}

#[test]
fn a_sentence_that_is_too_long_is_not_held() {
    for (piece, pieces) in
        [("word ", 20_000), ("e.g. ", 10_000), ("1234,", 10_000), ("สวัสดี", 2000), ("( . ", 10_000)]
    {
        let mut stream = Sentences::new(200);
        let mut given = Vec::new();
        for _ in 0..pieces {
            given.extend(stream.push(piece));
            assert!(stream.held.chars().count() <= 200);
        }
        given.extend(stream.finish());
        assert!(given.iter().all(|part| part.chars().count() <= 200), "{piece}");
        assert_eq!(given.concat(), piece.repeat(pieces));
    }
}

#[test]
fn nobody_looks_for_an_end_where_there_can_be_none() {
    let mut stream = Sentences::new(2000);
    for piece in ["word, 12 ", "(it's) — 你好 ", "สวัสดี"] {
        stream.push(piece);
        assert!(!stream.may_end, "{piece}");
    }
    for end in ["…", ".", "。", "!", "।"] {
        let mut stream = Sentences::new(2000);
        stream.push(end);
        assert!(stream.may_end, "{end}");
        stream.push("\nA");
        assert!(!stream.may_end, "{end}");
    }
}

#[test]
fn long_text_is_cut_at_the_best_place() {
    assert_eq!(cut("One two. Three. Four five six.", 16), ["One two. Three. ", "Four five six."]);
    assert_eq!(cut("First this, then that and more.", 20), ["First this, ", "then that and more."]);
    assert_eq!(cut("one two three", 8), ["one two ", "three"]);
    assert_eq!(cut("春眠不觉晓，处处闻啼鸟", 8), ["春眠不觉晓，", "处处闻啼鸟"]);
    assert_eq!(cut("abcdef", 4), ["abcd", "ef"]);
    // Not within what a reader sees as one character.
    assert_eq!(cut("👩‍🚀👩‍🚀", 2), ["👩‍🚀", "👩‍🚀"]);
}

#[rustfmt::skip]
const ATOMS: &[&str] = &[
    "a", "b", "A", "Dr", "e.g", "3", "14", ".", ". ", "!", "?", "…", "……", " ", "\n", "\r\n", ",", ", ",
    "\"", "”", "(", ")", "。", "！", "？", "，", "」", "「", "你", "好", "は", "é", "e\u{301}", "👩‍🚀", "\u{a0}",
    "1. ", "-", "U.S", "।",
];

/// Text of what sentences are made of.
fn text() -> impl Strategy<Value = String> {
    vec(select(ATOMS), 0..40).prop_map(|atoms| atoms.concat())
}

proptest! {
    #[test]
    fn sentences_are_the_same_however_the_text_comes(text in text(), sizes in vec(1..7_usize, 1..60)) {
        let whole: Vec<String> = sentences(&text).map(str::to_owned).collect();
        prop_assert_eq!(whole.concat(), text.clone());
        let mut stream = Sentences::new(2000);
        let mut given = Vec::new();
        let mut characters = text.chars().peekable();
        for size in sizes.iter().cycle() {
            let piece: String = characters.by_ref().take(*size).collect();
            if piece.is_empty() {
                break;
            }
            given.extend(stream.push(&piece));
        }
        given.extend(stream.finish());
        prop_assert_eq!(given, whole);
    }

    #[test]
    fn no_sentence_is_longer_than_it_may_be_and_nothing_is_lost(text in text(), max in 1..12_usize) {
        let mut stream = Sentences::new(max);
        let mut given: Vec<String> = text.chars().flat_map(|c| stream.push(c.encode_utf8(&mut [0; 4]))).collect();
        given.extend(stream.finish());
        prop_assert_eq!(given.concat(), text);
    }

    #[test]
    fn parts_join_to_the_text_and_are_short_enough(text in text(), max in 1..12_usize) {
        use unicode_segmentation::UnicodeSegmentation as _;
        let parts = cut(&text, max);
        prop_assert_eq!(parts.concat(), text);
        for part in parts {
            prop_assert!(part.chars().count() <= max || part.graphemes(true).count() == 1, "{:?}", part);
        }
    }
}
