//! The certificates that the environment names.

use std::{fmt, fs::File, io::Read as _};

use reqwest::blocking::ClientBuilder;

use super::{env::Env, error::OtlpError};

/// The most bytes of a file of certificates.
const LIMIT: u64 = 1 << 20;

/// Whom to trust, and who one is; what is not said here is as the system has it.
#[derive(Clone, Default)]
pub(super) struct Tls {
    trusted: Option<Pem>,
    /// A certificate of one's own and its key.
    own: Option<(Pem, Pem)>,
}

/// A file, and the variable that named it.
#[derive(Clone)]
struct Pem {
    variable: String,
    bytes: Vec<u8>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive() // a key is in it
    }
}

impl Tls {
    /// Reads the files. `variables` gives those for something, the more special one first.
    pub(super) fn read(env: &Env<'_>, variables: impl Fn(&str) -> [String; 2]) -> Result<Self, OtlpError> {
        let pem = |what| Pem::read(env, variables(what));
        let own = match (pem("CLIENT_CERTIFICATE")?, pem("CLIENT_KEY")?) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(alone), None) => return Err(alone.wrong("needs the key to it, in `…_CLIENT_KEY`")),
            (None, Some(alone)) => {
                return Err(alone.wrong("needs the certificate to it, in `…_CLIENT_CERTIFICATE`"));
            }
        };
        Ok(Self { trusted: pem("CERTIFICATE")?, own })
    }

    /// Sets up a client with them.
    #[cfg(any(feature = "rustls", feature = "rustls-no-provider", feature = "native-tls"))]
    pub(super) fn apply(self, mut client: ClientBuilder) -> Result<ClientBuilder, OtlpError> {
        if let Some(pem) = self.trusted {
            let certificates = reqwest::Certificate::from_pem_bundle(&pem.bytes).unwrap_or_default();
            if certificates.is_empty() {
                return Err(pem.wrong("names a file without a certificate in PEM"));
            }
            client = client.tls_certs_only(certificates);
        }
        let Some((certificate, key)) = self.own else { return Ok(client) };
        let Ok(identity) = identity(&certificate.bytes, &key.bytes) else {
            return Err(key.wrong("and `…_CLIENT_CERTIFICATE` name no key and certificate in PEM"));
        };
        // One that another crate has turned on beside it would not take this kind of identity.
        #[cfg(any(feature = "rustls", feature = "rustls-no-provider"))]
        let client = client.tls_backend_rustls();
        Ok(client.identity(identity))
    }

    #[cfg(not(any(feature = "rustls", feature = "rustls-no-provider", feature = "native-tls")))]
    pub(super) fn apply(self, client: ClientBuilder) -> Result<ClientBuilder, OtlpError> {
        let (own, key) = self.own.unzip();
        match self.trusted.or(own).or(key) {
            Some(pem) => {
                Err(pem.wrong("needs one of the features `rustls`, `rustls-no-provider`, `native-tls`"))
            }
            None => Ok(client),
        }
    }
}

#[cfg(any(feature = "rustls", feature = "rustls-no-provider"))]
fn identity(certificate: &[u8], key: &[u8]) -> reqwest::Result<reqwest::Identity> {
    reqwest::Identity::from_pem(&[key, b"\n", certificate].concat())
}

#[cfg(all(feature = "native-tls", not(any(feature = "rustls", feature = "rustls-no-provider"))))]
fn identity(certificate: &[u8], key: &[u8]) -> reqwest::Result<reqwest::Identity> {
    reqwest::Identity::from_pkcs8_pem(certificate, key)
}

impl Pem {
    fn read(env: &Env<'_>, variables: [String; 2]) -> Result<Option<Self>, OtlpError> {
        for variable in variables {
            let Some(path) = env.get(&variable)? else { continue };
            let mut pem = Self { variable, bytes: Vec::new() };
            let read = File::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut pem.bytes));
            return match read {
                Ok(length) if length as u64 > LIMIT => {
                    Err(pem.wrong(format!("names a file of more than {LIMIT} bytes")))
                }
                Ok(_) => Ok(Some(pem)),
                Err(error) => Err(pem.wrong(format!("names a file that cannot be read: {error}"))),
            };
        }
        Ok(None)
    }

    fn wrong(&self, reason: impl Into<String>) -> OtlpError {
        OtlpError::setting(&self.variable, reason)
    }
}

#[cfg(all(test, any(feature = "rustls", feature = "native-tls")))]
mod tests;
