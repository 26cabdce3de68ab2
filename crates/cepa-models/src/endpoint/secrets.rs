//! Keeping keys out of what people read.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// Shorter "keys" (`x`, `none`, for a local server that takes anything) are none, and would blot out half a text.
const SHORTEST: usize = 6;

/// The keys of a server.
#[derive(Default)]
pub(super) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(super) fn add(&mut self, secret: &SecretString) {
        if secret.expose_secret().len() >= SHORTEST {
            self.0.push(secret.clone());
        }
    }

    /// The text, with `[key]` for each key in it.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.expose_secret(), "[key]"))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blots_out_keys_and_nothing_else() {
        let mut secrets = Secrets::default();
        secrets.add(&"sk-very-secret".to_owned().into());
        secrets.add(&"x".to_owned().into());
        assert_eq!(secrets.scrub("bad key sk-very-secret, next"), "bad key [key], next");
        assert!(!format!("{secrets:?}").contains("very"));
    }
}
