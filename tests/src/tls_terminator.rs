//! A TLS terminator before the daemon, with a certificate that it creates. It can change the answers that it forwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64ct::{Base64, Encoding};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, PublicKeyData, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::http::Listener;
use crate::tampering_proxy::{Tamper, serve};

/// What certificate a terminator has.
enum Certificate {
    Valid,
    Expired,
    OfAuthority,
}

/// A running terminator.
pub struct TlsTerminator {
    port: u16,
    pin: String,
    certificate: PathBuf,
    handshakes: Arc<AtomicUsize>,
}

impl TlsTerminator {
    /// Listens with a new key and forwards to `daemon`. `folder` receives the certificate.
    pub async fn start(folder: &Path, daemon: Listener) -> Self {
        Self::start_with(folder, daemon, Certificate::Valid, |_| {}).await
    }

    /// Listens with a certificate that has expired.
    pub async fn expired(folder: &Path, daemon: Listener) -> Self {
        Self::start_with(folder, daemon, Certificate::Expired, |_| {}).await
    }

    /// Listens with the certificate of an authority, as `openssl req -x509` creates it by default.
    pub async fn of_authority(folder: &Path, daemon: Listener) -> Self {
        Self::start_with(folder, daemon, Certificate::OfAuthority, |_| {}).await
    }

    /// Listens with a new key and changes each answer. An answer that becomes null is lost with its connection.
    pub async fn tampering(
        folder: &Path,
        daemon: Listener,
        tamper: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(folder, daemon, Certificate::Valid, tamper).await
    }

    async fn start_with(
        folder: &Path,
        daemon: Listener,
        kind: Certificate,
        tamper: impl Fn(&mut Value) + Send + Sync + 'static,
    ) -> Self {
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let mut parameters = CertificateParams::new(names).expect("valid names");
        match kind {
            Certificate::Valid => {}
            Certificate::Expired => {
                parameters.not_before = date_time_ymd(2019, 1, 1);
                parameters.not_after = date_time_ymd(2020, 1, 1);
            }
            Certificate::OfAuthority => parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained),
        }
        let key = KeyPair::generate().expect("a key");
        let signed = parameters.self_signed(&key).expect("a certificate");
        let pin = format!("sha256/{}", Base64::encode_string(&Sha256::digest(key.subject_public_key_info())));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let certificate = folder.join(format!("{port}.pem"));
        fs::write(&certificate, signed.pem()).expect("the certificate is written");
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("protocol versions")
            .with_no_client_auth()
            .with_single_cert(vec![signed.der().clone()], private)
            .expect("certificate and key match");
        let (acceptor, tamper) = (TlsAcceptor::from(Arc::new(config)), Arc::new(tamper) as Arc<Tamper>);
        let handshakes = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&handshakes);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, daemon, tamper) = (acceptor.clone(), daemon.clone(), Arc::clone(&tamper));
                let counter = Arc::clone(&counter);
                tokio::spawn(async move {
                    // A client that does not trust the certificate ends the handshake.
                    if let Ok(stream) = acceptor.accept(stream).await {
                        counter.fetch_add(1, Ordering::SeqCst);
                        serve(stream, daemon, tamper);
                    }
                });
            }
        });
        Self { port, pin, certificate, handshakes }
    }

    /// Returns the URL.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// Returns the number of completed handshakes so far.
    pub fn handshakes(&self) -> usize {
        self.handshakes.load(Ordering::SeqCst)
    }

    /// Returns the pin of the key.
    pub fn pin(&self) -> &str {
        &self.pin
    }

    /// Returns the file of the certificate.
    pub fn certificate(&self) -> &str {
        self.certificate.to_str().expect("a path in UTF-8")
    }
}
