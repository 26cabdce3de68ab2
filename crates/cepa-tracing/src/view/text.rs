//! Texts for people.

use std::time::Duration;

/// A character as it may be shown. What would steer a terminal, or turn the order of what stands around it, is made
/// visible instead.
pub(crate) fn visible(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// A duration in three digits or so.
pub(crate) fn duration(duration: Duration) -> String {
    let micros = duration.as_micros();
    let seconds = duration.as_secs_f64();
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..9_995 => format!("{:.2} ms", seconds * 1e3),
        9_995..99_950 => format!("{:.1} ms", seconds * 1e3),
        99_950..999_500 => format!("{:.0} ms", seconds * 1e3),
        999_500..9_995_000 => format!("{seconds:.2} s"),
        9_995_000..59_950_000 => format!("{seconds:.1} s"),
        _ => {
            let seconds = seconds.round() as u64;
            match seconds / 3600 {
                0 => format!("{} m {:02} s", seconds / 60, seconds % 60),
                hours => format!("{hours} h {:02} m", seconds / 60 % 60),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_made_visible() {
        let shown: String = "a\x1b[31m\u{9b}\u{202e}\r\n\x07é".chars().map(visible).collect();
        assert_eq!(shown, "a␛[31m\u{fffd}\u{fffd}␍␊␇é");
    }

    #[test]
    fn a_duration_has_three_digits() {
        let shown = |micros| duration(Duration::from_micros(micros));
        assert_eq!(shown(0), "0 µs");
        assert_eq!(shown(999), "999 µs");
        assert_eq!(shown(1_234), "1.23 ms");
        assert_eq!(shown(9_999), "10.0 ms");
        assert_eq!(shown(99_960), "100 ms");
        assert_eq!(shown(999_600), "1.00 s");
        assert_eq!(shown(12_345_678), "12.3 s");
        assert_eq!(shown(59_960_000), "1 m 00 s");
        assert_eq!(shown(3_725_000_000), "1 h 02 m");
    }
}
