//! What personal data looks like.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    ops::Range,
};

use super::{Detector, ScreenError};

/// A kind of personal data that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pii {
    /// An address of electronic mail, also with `%40` or `\u0040` for the `@`.
    Email,
    /// A payment card: 13 to 19 digits that begin like a card's and whose checksum (Luhn) fits, with blanks or hyphens.
    Card,
    /// An IPv4 or IPv6 address, but for the local host. A version number of four parts looks the same.
    Ip,
    /// A network card's address (MAC), with colons or hyphens.
    Mac,
    /// An address of the web: `http`, `https`, `ws`, `wss` or `ftp`.
    Url,
    /// A telephone number: international (`+…`, `00…`), North American, a mobile one of China, or with a trunk zero and
    /// a parted area code, as in Germany.
    Phone,
}

impl Pii {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Email, Self::Card, Self::Ip, Self::Mac, Self::Url, Self::Phone];

    /// Its name in replacements, errors and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Card => "card",
            Self::Ip => "ip",
            Self::Mac => "mac",
            Self::Url => "url",
            Self::Phone => "phone",
        }
    }

    pub(crate) fn detector(self) -> Result<Detector, ScreenError> {
        let name = self.name();
        match self {
            Self::Email => Detector::pattern(name, EMAIL, 320, None).map(|email| email.with_tail(in_host)),
            Self::Card => Detector::pattern(name, CARD, 80, Some(card)),
            Self::Ip => Detector::pattern(name, IP, 64, Some(ip)),
            Self::Mac => Detector::pattern(name, MAC, 18, Some(mac)),
            Self::Url => Detector::pattern(name, URL, 2048, Some(url)).map(|url| url.with_tail(in_url)),
            Self::Phone => Detector::pattern(name, PHONE, 112, Some(phone)),
        }
    }
}

const EMAIL: &str = r"[A-Za-z0-9._%+'\-]+(?:@|%40|\\u0040)[A-Za-z0-9](?:[A-Za-z0-9\-]*\.)+[A-Za-z]{2,}";

/// Up to 19 digits, so that what follows them is in sight. Blanks and hyphens also as models and web pages set them, so
/// that no line breaks there.
const CARD: &str = r"[2-6](?:[ \-\u{a0}\u{2007}\u{2009}\u{2010}-\u{2013}\u{202f}]?[0-9]){12,18}";

/// Hexadecimal groups with colons, or four dotted numbers: a fifth says that they are something else.
const IP: &str = r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:(?:\.[0-9]{1,3}){3})?|[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:\.[0-9]+)?";

const MAC: &str = r"[0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5})";

const URL: &str =
    r"(?:[Hh][Tt][Tt][Pp][Ss]?|[Ww][Ss][Ss]?|[Ff][Tt][Pp])://[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+";

const PHONE: &str = r"(?x)
    (?:\+|00)[1-9](?:[\ ./()\-\u{a0}\u{2007}\u{2009}\u{2010}-\u{2013}\u{202f}]{0,2}[0-9]){6,14}
    | (?:1[\ .\-])?(?:\([2-9][0-9]{2}\)[\ .\-]?|[2-9][0-9]{2}[\ .\-])[2-9][0-9]{2}[\ .\-][0-9]{4}
    | 1[3-9][0-9][\ \-]?[0-9]{4}[\ \-]?[0-9]{4}
    | \(?0[1-9][0-9]{1,4}\)?[\ /\-]{1,3}[0-9](?:[\ \-]?[0-9]){4,9}";

fn in_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

fn in_url(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
}

/// The bytes right before and right after.
fn neighbours(text: &str, range: &Range<usize>) -> (Option<u8>, Option<u8>) {
    let bytes = text.as_bytes();
    (range.start.checked_sub(1).and_then(|at| bytes.get(at).copied()), bytes.get(range.end).copied())
}

fn digit(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_digit())
}

fn word(byte: Option<u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The longest run of whole groups of digits that is a card's number.
fn card(text: &str, candidate: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    if digit(neighbours(text, &candidate).0) {
        return None;
    }
    (candidate.start + 13..=candidate.end).rev().map(|end| candidate.start..end).find(|range| {
        let (_, next) = neighbours(text, range);
        let digits = bytes.get(range.clone()).unwrap_or_default();
        digit(digits.last().copied()) && !digit(next) && is_card(digits)
    })
}

fn is_card(text: &[u8]) -> bool {
    let digits: Vec<u32> =
        text.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0')).collect();
    let first = |count: usize| digits.iter().take(count).fold(0, |number, digit| number * 10 + digit);
    let known = matches!(first(1), 3..=6) || (2221..=2720).contains(&first(4));
    let sum: u32 = digits.iter().rev().enumerate().map(|(at, &digit)| luhn(at, digit)).sum();
    known && (13..=19).contains(&digits.len()) && sum.is_multiple_of(10)
}

fn luhn(at: usize, digit: u32) -> u32 {
    match (at % 2, digit * 2) {
        (0, _) => digit,
        (_, twice) if twice > 9 => twice - 9,
        (_, twice) => twice,
    }
}

fn ip(text: &str, candidate: Range<usize>) -> Option<Range<usize>> {
    let value = text.get(candidate.clone())?;
    let (before, after) = neighbours(text, &candidate);
    if value.contains(':') {
        if word(before) || before == Some(b':') || word(after) {
            return None;
        }
        // At the end of a sentence the colon is none of its own.
        let (value, range) = match value.strip_suffix(':') {
            Some(shorter) if !value.ends_with("::") => (shorter, candidate.start..candidate.end - 1),
            _ => (value, candidate),
        };
        let address: Ipv6Addr = value.parse().ok()?;
        // `a::b` is a path in some languages.
        let hexadecimal = value.bytes().filter(u8::is_ascii_hexdigit).count();
        let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
        let is_one = hexadecimal >= 3 && has_digit && !address.is_loopback() && !address.is_unspecified();
        return is_one.then_some(range);
    }
    let inside_number = before == Some(b'.')
        && digit(candidate.start.checked_sub(2).and_then(|at| text.as_bytes().get(at).copied()));
    if digit(before) || inside_number || matches!(before, Some(b'v' | b'V')) {
        return None;
    }
    let address: Ipv4Addr = value.parse().ok()?;
    (!address.is_loopback() && !address.is_unspecified()).then_some(candidate)
}

fn mac(text: &str, candidate: Range<usize>) -> Option<Range<usize>> {
    let (before, after) = neighbours(text, &candidate);
    let goes_on = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
    (!goes_on(before) && !goes_on(after)).then_some(candidate)
}

/// Without the punctuation of the sentence.
fn url(text: &str, candidate: Range<usize>) -> Option<Range<usize>> {
    let value = text.get(candidate.clone())?;
    let trimmed = value.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', ')', ']', '*']);
    let end = candidate.start + trimmed.len();
    (!trimmed.ends_with('/') || trimmed.matches('/').count() > 2).then_some(candidate.start..end)
}

/// Up to the end of a group: what follows a number may be another one.
fn phone(text: &str, candidate: Range<usize>) -> Option<Range<usize>> {
    let value = text.get(candidate.clone())?;
    let (before, _) = neighbours(text, &candidate);
    // `A0171…` is a part of something, and so are the digits of `3.0049…`.
    let inside_word = word(before) && !value.starts_with('+');
    let inside_number = matches!(before, Some(b'.' | b',' | b'-')) && !value.starts_with(['+', '(']);
    if digit(before) || inside_word || inside_number {
        return None;
    }
    (candidate.start + 8..=candidate.end).rev().map(|end| candidate.start..end).find(|range| {
        let digits = text.as_bytes().get(range.clone()).unwrap_or_default();
        let count = digits.iter().filter(|byte| byte.is_ascii_digit()).count();
        digit(digits.last().copied()) && !digit(neighbours(text, range).1) && (8..=17).contains(&count)
    })
}
