//! Certificates against a real server of TLS.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::{
    collections::HashMap,
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::PathBuf,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    thread,
};

use opentelemetry_http::{Bytes, HttpClient as _, Request};
use rcgen::{CertificateParams, CertifiedKey, KeyPair};
use rustls::{
    RootCertStore, ServerConfig, ServerConnection, StreamOwned, crypto::aws_lc_rs, pki_types::PrivateKeyDer,
    server::WebPkiClientVerifier,
};
use tempfile::TempDir;

use super::super::{
    collector::{Collector, Health},
    env::Env,
    error::OtlpError,
    settings::Settings,
};

fn certificate(name: &str) -> CertifiedKey<KeyPair> {
    let signing_key = KeyPair::generate().unwrap();
    let cert = CertificateParams::new([name.to_owned()]).unwrap().self_signed(&signing_key).unwrap();
    CertifiedKey { cert, signing_key }
}

/// A collector over TLS, the port of which is given back. It may want to know who asks.
fn serve(own: &CertifiedKey<KeyPair>, clients: Option<&CertifiedKey<KeyPair>>) -> u16 {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = match clients {
        Some(client) => {
            let mut roots = RootCertStore::empty();
            roots.add(client.cert.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.unwrap().with_client_cert_verifier(verifier.build().unwrap())
        }
        None => builder.unwrap().with_no_client_auth(),
    };
    let key = PrivateKeyDer::Pkcs8(own.signing_key.serialize_der().into());
    let config = Arc::new(builder.with_single_cert(vec![own.cert.der().clone()], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for tcp in listener.incoming().flatten() {
            let mut stream =
                BufReader::new(StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), tcp));
            // Up to the empty line behind the headers, if the handshake lets it come to that.
            if stream.by_ref().lines().map_while(Result::ok).any(|line| line.is_empty()) {
                stream.get_mut().write_all(b"HTTP/1.1 204 Taken\r\nconnection: close\r\n\r\n").unwrap();
                let _ = io::copy(&mut stream, &mut io::sink());
            }
        }
    });
    port
}

/// Files, and the variables that name them.
struct Variables {
    folder: TempDir,
    of: HashMap<String, OsString>,
}

impl Variables {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), of: HashMap::new() }
    }

    fn set(mut self, what: &str, text: &str) -> Self {
        let path: PathBuf = self.folder.path().join(what);
        std::fs::write(&path, text).unwrap();
        self.of.insert(format!("OTEL_EXPORTER_OTLP_{what}"), path.into());
        self
    }

    /// What the collector at this port answers.
    fn ask(&self, port: u16) -> Result<u16, String> {
        let settings = self.read(&format!("https://127.0.0.1:{port}")).map_err(|error| error.to_string())?;
        let target = settings.traces.unwrap();
        let collector = Collector::new(&target, Health::new("spans", &target.url, None));
        let collector = collector.map_err(|error| error.to_string())?;
        let request = Request::post(target.url.as_str()).body(Bytes::from_static(b"spans")).unwrap();
        // As the SDK does it: the client blocks, so there is nothing to wait for.
        match pin!(collector.send_bytes(request)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => {
                answer.map(|answer| answer.status().as_u16()).map_err(|error| format!("{error:?}"))
            }
            Poll::Pending => unreachable!("a blocking client does not wait"),
        }
    }

    fn read(&self, url: &str) -> Result<Settings, OtlpError> {
        Settings::read(&Env(&|name| self.of.get(name).cloned()), Some(url))
    }
}

#[test]
fn a_certificate_of_the_environment_is_trusted() {
    let own = certificate("127.0.0.1");
    let port = serve(&own, None);
    let error = Variables::new().ask(port).unwrap_err();
    assert!(error.to_lowercase().contains("certificate"), "{error}");
    for what in ["CERTIFICATE", "TRACES_CERTIFICATE"] {
        assert_eq!(Variables::new().set(what, &own.cert.pem()).ask(port), Ok(204), "{what}");
    }
    // In place of others, not beside them.
    let other = certificate("127.0.0.1");
    let both =
        Variables::new().set("CERTIFICATE", &own.cert.pem()).set("TRACES_CERTIFICATE", &other.cert.pem());
    assert!(both.ask(port).is_err());
}

#[test]
fn a_key_of_the_environment_says_who_one_is() {
    let (own, client) = (certificate("127.0.0.1"), certificate("client"));
    let port = serve(&own, Some(&client));
    let trusting = || Variables::new().set("CERTIFICATE", &own.cert.pem());
    assert!(trusting().ask(port).is_err());
    let known = trusting()
        .set("CLIENT_CERTIFICATE", &client.cert.pem())
        .set("CLIENT_KEY", &client.signing_key.serialize_pem());
    assert_eq!(known.ask(port), Ok(204));
}

#[test]
fn files_that_cannot_be_used_are_errors_that_name_their_variable() {
    let pem = certificate("client").cert.pem();
    for (variables, name) in [
        (Variables::new().set("CERTIFICATE", "no certificate"), "CERTIFICATE"),
        (Variables::new().set("TRACES_CERTIFICATE", &"x".repeat((1 << 20) + 1)), "TRACES_CERTIFICATE"),
        (Variables::new().set("CLIENT_KEY", "sesame"), "CLIENT_KEY"),
        (Variables::new().set("CLIENT_CERTIFICATE", &pem), "CLIENT_CERTIFICATE"),
        (Variables::new().set("CLIENT_CERTIFICATE", &pem).set("CLIENT_KEY", "sesame"), "CLIENT_KEY"),
    ] {
        let error = variables.ask(1).unwrap_err();
        assert!(error.starts_with(&format!("`OTEL_EXPORTER_OTLP_{name}` ")), "{error}");
        assert!(!error.contains("sesame"), "{error}");
    }
    let mut missing = Variables::new();
    missing.of.insert("OTEL_EXPORTER_OTLP_CERTIFICATE".to_owned(), "/nowhere.pem".into());
    let error = missing.ask(1).unwrap_err();
    assert!(
        error.starts_with("`OTEL_EXPORTER_OTLP_CERTIFICATE` names a file that cannot be read"),
        "{error}"
    );
    // Over plain HTTP they mean nothing.
    assert!(missing.read("http://127.0.0.1:1").is_ok());
}
