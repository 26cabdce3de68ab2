//! TLS to a database, by rustls.

use std::sync::Arc;

use rustls::{ClientConfig, crypto::CryptoProvider};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::{Config, config::SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::RagError;

/// The way to encrypted connections, which trust what the system trusts. `None` where there is none and none is needed.
pub(super) fn connector(config: &Config) -> Result<Option<MakeRustlsConnect>, RagError> {
    if config.get_ssl_mode() == SslMode::Disable {
        return Ok(None);
    }
    let Some(provider) = provider() else {
        return match config.get_ssl_mode() {
            SslMode::Prefer => Ok(None),
            _ => Err(RagError::Settings(
                "the database wants TLS, and rustls has no provider of cryptography: install one \
                 (`CryptoProvider::install_default`), or turn the feature `rustls` on"
                    .to_owned(),
            )),
        };
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| RagError::Settings(format!("TLS cannot be set up: {error}")))?;
    Ok(Some(MakeRustlsConnect::new(config.with_no_client_auth())))
}

/// What the program has installed, or the default.
fn provider() -> Option<Arc<CryptoProvider>> {
    if let Some(provider) = CryptoProvider::get_default() {
        return Some(provider.clone());
    }
    #[cfg(feature = "rustls")]
    return Some(Arc::new(rustls::crypto::aws_lc_rs::default_provider()));
    #[cfg(not(feature = "rustls"))]
    None
}
