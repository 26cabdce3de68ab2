//! What keys and other secrets look like.

use super::{Detector, ScreenError};

/// Name, pattern, longest value.
const KNOWN: &[(&str, &str, usize)] = &[
    ("aws_key", r"(?:AKIA|ASIA|AIDA|AROA)[A-Z0-9]{16}", 24),
    ("github_token", r"gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,244}", 260),
    ("gitlab_token", r"glpat-[A-Za-z0-9_\-]{20,64}", 72),
    ("slack_token", r"xox[abeoprs]-[A-Za-z0-9\-]{10,200}|xapp-[A-Za-z0-9\-]{10,200}", 210),
    ("stripe_key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,247}", 260),
    ("api_key", r"sk-[A-Za-z0-9_\-]{20,250}", 260),
    ("google_key", r"AIza[A-Za-z0-9_\-]{35}", 40),
    ("npm_token", r"npm_[A-Za-z0-9]{36}", 44),
    ("jwt", r"eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}", 4096),
    (
        "authorization",
        r#"(?i:authorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token|digest|apikey)\s{1,4})[A-Za-z0-9._~+/=\-]{8,}"#,
        4096,
    ),
    ("bearer_token", r"(?i:bearer\s{1,4})[A-Za-z0-9._~+/=\-]{20,}", 4096),
    ("url_password", r"[A-Za-z][A-Za-z0-9+.\-]{1,20}://[^\s:/@]{1,64}:[^\s:/@]{3,128}@", 256),
    (
        "private_key",
        r"-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\[nr])*(?:[A-Za-z\-]{1,20}: ?[A-Za-z0-9,.\- ]{1,80}(?:\s|\\[nr])+){0,4}[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----)?)?",
        8192,
    ),
];

fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
}

fn in_private_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || matches!(byte, b'+' | b'/' | b'=' | b'\\')
}

/// The patterns that are known here.
pub(crate) fn known_secrets() -> Result<Vec<Detector>, ScreenError> {
    let detectors = KNOWN.iter().map(|&(name, pattern, longest)| {
        let detector = Detector::pattern(name, pattern, longest, None)?;
        Ok(match name {
            "private_key" => detector.with_tail(in_private_key),
            "jwt" | "authorization" | "bearer_token" => detector.with_tail(in_token),
            _ => detector,
        })
    });
    detectors.collect()
}

/// The shortest and the longest secret that may be given, in bytes.
pub(crate) const LENGTHS: (usize, usize) = (6, 8192);

/// Secrets that the caller has named.
pub(crate) fn user_secrets(secrets: &[(String, String)]) -> Result<Vec<Detector>, ScreenError> {
    let detectors = secrets.iter().map(|(name, value)| {
        let ((least, most), len) = (LENGTHS, value.len());
        if !(least..=most).contains(&len) {
            return Err(ScreenError::Secret { name: name.clone(), len, least, most });
        }
        // A result may be JSON, in which quotes and line ends are escaped.
        let escaped = serde_json::Value::String(value.clone()).to_string();
        let escaped = escaped.get(1..escaped.len() - 1).unwrap_or(value);
        let pattern = match escaped == value {
            true => regex::escape(value),
            false => format!("{}|{}", regex::escape(escaped), regex::escape(value)),
        };
        // Nobody is told the pattern: it is the secret.
        Detector::pattern(name.as_str(), &pattern, len.max(escaped.len()), None)
            .map_err(|_| ScreenError::Secret { name: name.clone(), len, least, most })
    });
    detectors.collect()
}
