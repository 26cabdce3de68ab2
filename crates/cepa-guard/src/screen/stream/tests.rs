//! Wherever the borders are, the pieces add up to what the whole comes to.

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

use super::*;
use crate::screen::{Action, Detector, Pii, Writer, known_secrets, user_secrets};

fn cleaner() -> Cleaner {
    let mut detectors: Vec<Detector> = Pii::ALL.into_iter().map(|kind| kind.detector().unwrap()).collect();
    detectors.extend(user_secrets(&[("named".to_owned(), "correct horse battery".to_owned())]).unwrap());
    detectors.extend(known_secrets().unwrap());
    detectors.push(Detector::pattern("staff", "S-[0-9]{6}", 8, None).unwrap());
    let find = |text: &str| text.match_indices("ÄÖÜ").map(|(at, found)| at..at + found.len()).collect();
    detectors.push(Detector::function("function", 6, find).unwrap().with_action(Action::Mask));
    Cleaner::new(detectors, Writer::new(None).unwrap()).unwrap()
}

/// Values that must not go out, and words around them that look like the beginning of one.
const PLANTED: &[&str] = &[
    "bob@example.com",
    "a.b+c@mail.sub.example.org",
    "4111 1111 1111 1111",
    "5500-0000-0000-0004",
    "378282246310005",
    "192.168.17.4",
    "2001:db8:85a3::8a2e:370:7334",
    "00:1A:2B:3C:4D:5E",
    "https://example.com/a?b=c#d",
    "+49 30 1234567",
    "4111\u{a0}1111\u{202f}1111\u{2011}1111",
    "+49\u{a0}30\u{202f}12\u{2011}34567",
    "(555) 234-5678",
    "0171/1234567",
    "13812345678",
    "correct horse battery",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "Authorization: Bearer abcdefghijklmnop",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQE=\n-----END PRIVATE KEY-----",
    "S-123456",
    "ÄÖÜ",
];

const WORDS: &[&str] = &[
    "the",
    "bob@",
    "4111 1111",
    "correct horse",
    "http://",
    "::",
    "1.2.3",
    "S-12",
    "ÄÖ",
    "+49",
    "-----BEGIN",
    "谢谢",
    "übermäßig",
    "sk-",
    "a@b",
    "12:30",
    "…",
    "e\u{301}",
    "Bearer",
    "\n",
    "0",
];

fn texts() -> impl Strategy<Value = (String, Vec<&'static str>)> {
    let part = prop_oneof![3 => select(WORDS).prop_map(|word| (word, false)), 1 => select(PLANTED).prop_map(|value| (value, true))];
    vec((part, select(vec![" ", ", ", "\n", " (", "\"", "。"])), 1..8).prop_map(|parts| {
        let text = parts.iter().map(|((part, _), gap)| format!("{part}{gap}")).collect();
        (text, parts.iter().filter(|((_, planted), _)| *planted).map(|((part, _), _)| *part).collect())
    })
}

fn in_pieces(cleaner: &Cleaner, pieces: &[&str]) -> (String, Found) {
    let (mut stream, mut found, mut clean) = (Stream::default(), Found::default(), String::new());
    for piece in pieces {
        clean += &stream.push(cleaner, piece, &mut found);
    }
    clean += &stream.flush(cleaner, &mut found);
    (clean, found)
}

fn borders(text: &str) -> Vec<usize> {
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect()
}

#[test]
fn a_value_is_found_at_every_border_and_every_pair_of_borders() {
    let cleaner = cleaner();
    for planted in PLANTED {
        let text = format!("an {planted} it");
        let (whole, found) = in_pieces(&cleaner, &[&text]);
        assert!(whole.contains("REDACTED") || whole.contains("****"), "{text:?} became {whole:?}");
        assert!(whole.starts_with("an ") && whole.ends_with(" it"), "{text:?} became {whole:?}");
        for &a in &borders(&text) {
            for &b in borders(&text).iter().filter(|&&b| b >= a) {
                let pieces = [&text[..a], &text[a..b], &text[b..]];
                assert_eq!(in_pieces(&cleaner, &pieces), (whole.clone(), found.clone()), "{pieces:?}");
            }
        }
    }
}

#[test]
fn a_value_that_is_too_long_goes_whole_also_where_a_piece_ends_with_a_dot() {
    for sign in [".", "?", "):"] {
        let begin = format!("https://example.com/{}{sign}", "a".repeat(2100));
        let (clean, _) = in_pieces(&cleaner(), &[&begin, "token=bbbb", "bbbb"]);
        assert_eq!(clean, format!("[REDACTED:url]{sign}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_add_up_to_the_whole((text, planted) in texts(), cuts in vec(any::<Index>(), 0..12)) {
        let cleaner = cleaner_once();
        let whole = cleaner.clean(&text, &mut Found::default()).into_owned();
        for value in planted {
            prop_assert!(!whole.contains(value), "{value:?} is still in {whole:?}, of {text:?}");
        }
        let (borders, mut at) = (borders(&text), vec![0, text.len()]);
        at.extend(cuts.iter().map(|cut| *cut.get(&borders)));
        at.sort_unstable();
        let pieces: Vec<&str> = at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
        prop_assert_eq!(in_pieces(cleaner, &pieces).0, whole.clone());
        let characters: Vec<String> = text.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        prop_assert_eq!(in_pieces(cleaner, &characters).0, whole);
    }
}

fn cleaner_once() -> &'static Cleaner {
    static ONCE: std::sync::LazyLock<Cleaner> = std::sync::LazyLock::new(cleaner);
    &ONCE
}

#[test]
fn a_value_across_a_flush_does_not_go_out_whole() {
    let (cleaner, mut stream, mut found) = (cleaner(), Stream::default(), Found::default());
    let mut clean = stream.push(&cleaner, "to bob@exa", &mut found);
    assert_eq!(clean, "to ");
    clean += &stream.flush(&cleaner, &mut found);
    assert_eq!(clean, "to bob@exa");
    clean += &stream.push(&cleaner, "mple.com now", &mut found);
    clean += &stream.flush(&cleaner, &mut found);
    assert_eq!(clean, "to bob@exa[REDACTED:email] now");
}

#[test]
fn plain_text_flows_and_the_longest_value_bounds_what_is_held() {
    let (cleaner, mut found) = (cleaner(), Found::default());
    let mut stream = Stream::default();
    let prose = "Text flows word by word, and nobody waits for the end of a line; a number such as 1250 waits a bit. ";
    for word in prose.repeat(20).split_inclusive(' ') {
        stream.push(&cleaner, word, &mut found);
        assert!(stream.held() <= 24, "{} bytes are held at {word:?}", stream.held());
    }
    // What never ends is let go all the same.
    for (endless, most) in [("a", 8192 + 20), ("1", 8192 + 20), ("https://a/", 8192 + 20)] {
        let (mut stream, mut held) = (Stream::default(), 0);
        for _ in 0..12_000 {
            stream.push(&cleaner, endless, &mut found);
            held = held.max(stream.held()).max(stream.text.len());
        }
        assert!(held <= most, "{held} bytes were held of {endless:?}…");
    }
}

#[test]
fn what_is_longer_than_a_value_may_be_goes_with_its_beginning() {
    let cleaner = cleaner();
    let text = format!("see https://example.com/{} and go", "x".repeat(5000));
    let pieces: Vec<&str> =
        text.as_bytes().chunks(7).map(|piece| std::str::from_utf8(piece).unwrap()).collect();
    assert_eq!(in_pieces(&cleaner, &pieces).0, "see [REDACTED:url] and go");
}
