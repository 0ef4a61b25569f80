//! TLS to a remote daemon: what vouches for its key, and why a server is not trusted.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use base64ct::{Base64, Encoding};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier as SystemVerifier;
use sha2::{Digest, Sha256};
use tokio_rustls::TlsConnector;

use super::error::{LinkError, Result};
use crate::files;
use crate::text::clean;

/// What a pin starts with.
const PREFIX: &str = "sha256/";
/// Name of the error for a server with the certificate of an authority (RFC 5280 §4.2.1.9).
const AUTHORITY_AS_SERVER: &str = "CaUsedAsEndEntity";
/// Maximum size of a file with certificates, in bytes.
const FILE_LIMIT: u64 = 1024 * 1024;

/// The SHA-256 digest of a public key of a server, as `SubjectPublicKeyInfo` (RFC 7469 §2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pin([u8; 32]);

impl Pin {
    fn of(certificate: &CertificateDer<'_>) -> Result<Self, rustls::Error> {
        let key = ParsedCertificate::try_from(certificate)?.subject_public_key_info();
        Ok(Self(Sha256::digest(key.as_ref()).into()))
    }
}

impl FromStr for Pin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = "expected sha256/ and the base64 digest of a public key, 44 characters";
        let decoded = text.strip_prefix(PREFIX).and_then(|text| Base64::decode_vec(text).ok());
        decoded.and_then(|digest| digest.try_into().ok()).map(Self).ok_or(error)
    }
}

impl std::fmt::Display for Pin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{PREFIX}{}", Base64::encode_string(&self.0))
    }
}

/// What vouches for the key of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user, who pinned it. Names, dates and issuers of certificates do not matter.
    Pinned(Pin),
    /// The certificate authorities in this file.
    File(PathBuf),
    /// The certificate authorities that the system trusts.
    System,
}

impl Trust {
    /// Returns what vouches for the key, as the header shows it.
    pub(crate) const fn shown(&self) -> &'static str {
        match self {
            Self::Pinned(_) => "TLS key pinned",
            Self::File(_) => "TLS, certificate of a given CA",
            Self::System => "TLS, certificate of a CA",
        }
    }
}

/// TLS with one server.
pub(super) struct Tls {
    pub(super) connector: TlsConnector,
    verifier: Arc<Verifier>,
}

impl Tls {
    /// Creates the settings of connections.
    ///
    /// # Errors
    /// If the file of certificate authorities cannot be used.
    pub(super) fn new(trust: &Trust) -> Result<Self> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let unusable = |error: &dyn std::fmt::Display| LinkError::Untrusted(error.to_string());
        let authorities: Option<Arc<dyn ServerCertVerifier>> = match trust {
            Trust::Pinned(_) => None,
            Trust::File(path) => Some(of_file(path, &provider)?),
            Trust::System => {
                let verifier =
                    SystemVerifier::new(Arc::clone(&provider)).map_err(|error| unusable(&error))?;
                Some(Arc::new(verifier))
            }
        };
        let pin = if let Trust::Pinned(pin) = trust { Some(*pin) } else { None };
        let verifier =
            Arc::new(Verifier { pin, authorities, provider: Arc::clone(&provider), seen: Mutex::default() });
        let dangerous: Arc<dyn ServerCertVerifier> = Arc::<Verifier>::clone(&verifier);
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .dangerous()
            .with_custom_certificate_verifier(dangerous)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), verifier })
    }

    /// Returns why a handshake with this server failed.
    pub(super) fn failure(&self, server: &str, error: &std::io::Error) -> LinkError {
        let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        let found = *self.verifier.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let found = found.map_or_else(|| "unknown".to_owned(), |pin| pin.to_string());
        let text = match (cause, self.verifier.pin) {
            (Some(rustls::Error::InvalidCertificate(_)), Some(pin)) => format!(
                "the TLS key of {server} is {found}, but {pin} is pinned: the key was changed, or another server answers; nothing was sent"
            ),
            (Some(rustls::Error::InvalidCertificate(cause)), None) => untrusted(server, &found, cause),
            (Some(rustls::Error::InvalidMessage(_)), _) => {
                format!("{server} does not serve TLS: check scheme and port of the URL")
            }
            _ => return LinkError::Lost(clean(&format!("TLS with {server} failed: {error}"))),
        };
        LinkError::Untrusted(clean(&text))
    }
}

fn untrusted(server: &str, found: &str, cause: &CertificateError) -> String {
    match cause {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("the certificate of {server} has expired; nothing was sent")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            format!(
                "the certificate of {server} is not valid yet: check the clock of this host; nothing was sent"
            )
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            format!("the certificate of {server} is for other names; nothing was sent")
        }
        cause => format!(
            "no known authority vouches for {server}{}; nothing was sent. Its TLS key is {found}. \
             If its operator confirms this key by another channel, use it with --pin, or add it as pin beside the url in \
             config.toml",
            reason(cause)
        ),
    }
}

/// Returns why a certificate is not accepted, after a colon, unless its authority is just not known.
fn reason(cause: &CertificateError) -> &'static str {
    match cause {
        CertificateError::UnknownIssuer => "",
        CertificateError::BadEncoding => ": its certificate is damaged",
        CertificateError::Revoked => ": its certificate was revoked",
        CertificateError::BadSignature => ": a signature in the chain of its certificate does not verify",
        CertificateError::UnhandledCriticalExtension => {
            ": its certificate has a critical extension that is not supported"
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            ": its certificate is signed with an algorithm that is not supported"
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            ": its certificate is not for servers"
        }
        // The type of this error is of a library below; it shows its name.
        CertificateError::Other(other) if other.to_string() == AUTHORITY_AS_SERVER => {
            ": its certificate is one of an authority (CA:TRUE), not of a server"
        }
        _ => ": its certificate breaks a rule for certificates of servers",
    }
}

/// Returns a verifier that accepts the authorities in a PEM file only.
fn of_file(path: &std::path::Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    let shown = clean(&path.display().to_string());
    let unusable = |text: &str| LinkError::Untrusted(format!("{shown}: {text}"));
    let bytes = files::read_trusted(path, FILE_LIMIT)
        .map_err(|error| LinkError::Untrusted(clean(&error.to_string())))?;
    let bytes = bytes.ok_or_else(|| unusable("the file does not exist"))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|_| unusable("invalid PEM"))?;
        roots.add(certificate).map_err(|_| unusable("it contains an invalid certificate"))?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    Ok(verifier.map_err(|_| unusable("it contains no certificate"))?)
}

/// Verifies the certificate of a server, and records its key for messages.
#[derive(Debug)]
struct Verifier {
    pin: Option<Pin>,
    /// The verifier if nothing is pinned.
    authorities: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
    seen: Mutex<Option<Pin>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Pin::of(end_entity)?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        match (&self.pin, &self.authorities) {
            (Some(pin), _) if *pin == found => Ok(ServerCertVerified::assertion()),
            (None, Some(authorities)) => {
                authorities.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
            }
            _ => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
