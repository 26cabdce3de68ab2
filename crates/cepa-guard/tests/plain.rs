//! Plain text stays as it is: dates, prices, versions, numbers of all sorts, in three languages.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use cepa_guard::{Action, PiiGuard, SecretScrub};

#[test]
fn plain_text_is_not_taken_for_a_value() {
    let guard = PiiGuard::builder().detect_all(Action::Redact).build().unwrap();
    let scrub = SecretScrub::builder().build().unwrap();
    for text in [include_str!("plain/en.txt"), include_str!("plain/de.txt"), include_str!("plain/zh.txt")] {
        let found = guard.find(text).into_iter().chain(scrub.find(text));
        let found: Vec<_> = found.map(|(name, range)| (name, &text[range])).collect();
        // A serial number in the form of a call to North America: the one that is known to be taken for a value.
        assert_eq!(found, [("phone".into(), "0012-3344-5566")]);
    }
}

#[test]
fn values_are_found_beside_any_letters() {
    let guard = PiiGuard::builder().detect_all(Action::Redact).build().unwrap();
    for (text, name, value) in [
        ("请联系bob@example.com谢谢", "email", "bob@example.com"),
        ("卡号4111111111111111。", "card", "4111111111111111"),
        ("电话13812345678，", "phone", "13812345678"),
        ("Tel.: 089/1234567.", "phone", "089/1234567"),
        ("+1 (415) 555-2671", "phone", "+1 (415) 555-2671"),
        ("card=5500 0000 0000 0004,", "card", "5500 0000 0000 0004"),
        ("7 378282246310005 8", "card", "378282246310005"),
        ("from 10.0.0.7:8080", "ip", "10.0.0.7"),
        ("[2001:db8::8a2e:370:7334]:80", "ip", "2001:db8::8a2e:370:7334"),
        ("(siehe https://example.com/a_(b).)", "url", "https://example.com/a_(b"),
        ("mac 00-1a-2b-3c-4d-5e", "mac", "00-1a-2b-3c-4d-5e"),
        ("mailto:a%40b.example", "email", "a%40b.example"),
    ] {
        let found = guard.find(text).into_iter().map(|(name, range)| (name.to_string(), &text[range]));
        let found: Vec<_> = found.collect();
        assert!(found.contains(&(name.to_owned(), value)), "{found:?} in {text:?}");
    }
    // The checksum tells a card from any other number.
    assert_eq!(guard.find("4111 1111 1111 1112"), []);
}

#[cfg(unix)]
#[test]
fn a_long_text_takes_time_in_proportion() {
    let guard = PiiGuard::builder().detect_all(Action::Redact).build().unwrap();
    for hard in ["1 ", "a.", "4111 ", "a@", "::", "1.2.", "0171 ", "http://", "+49"] {
        // Of this thread's own time, at its best: others may keep the processor busy.
        let time = |times: usize| {
            let text = hard.repeat(times);
            let one = || {
                let start = thread_seconds();
                std::hint::black_box(guard.find(&text));
                thread_seconds() - start
            };
            (0..3).map(|_| one()).fold(f64::INFINITY, f64::min)
        };
        let (short, long) = (time(4_000).max(0.002), time(32_000));
        assert!(long < short * 40.0, "{hard:?}: {short} s for a part, {long} s for eight times as much");
    }
}

#[cfg(unix)]
fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
