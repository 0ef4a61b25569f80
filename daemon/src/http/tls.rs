//! TLS for the HTTP listener: certificate chain and key from PEM files; TLS 1.2 and 1.3 only.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use zeroize::Zeroizing;

use crate::private_file::{self, SecretFileError};

/// Maximum size of a certificate or key file, in bytes.
const FILE_BYTES: u64 = 1024 * 1024;

/// An error that prevents serving TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the read.
        #[source]
        source: std::io::Error,
    },
    /// The key file cannot be read, or others have access to it.
    #[error(transparent)]
    Key(#[from] SecretFileError),
    /// A file does not contain the expected PEM section.
    #[error("{path} contains no {what} in PEM format")]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// Name of the expected contents.
        what: &'static str,
    },
    /// Certificate and key do not belong together.
    #[error("the TLS certificate and key do not match")]
    Pair(#[from] rustls::Error),
}

/// Creates a TLS acceptor from a certificate chain and a key.
///
/// # Errors
/// Returns an error if a file cannot be read or does not contain what is expected, or if certificate and key
/// do not match.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let read_failed = |source| TlsError::Read { path: certificate.to_owned(), source };
    let chain = File::open(certificate).and_then(content).map_err(read_failed)?;
    let chain = CertificateDer::pem_slice_iter(&chain)
        .collect::<Result<Vec<_>, _>>()
        .ok()
        .filter(|chain| !chain.is_empty())
        .ok_or_else(|| TlsError::Content { path: certificate.to_owned(), what: "certificate" })?;
    let read_failed = |source| SecretFileError::Read { path: key.to_owned(), source };
    let private = content(private_file::open_secret(key)?).map_err(read_failed)?;
    let private = PrivateKeyDer::from_pem_slice(&private)
        .map_err(|_| TlsError::Content { path: key.to_owned(), what: "private key" })?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
        .with_no_client_auth()
        .with_single_cert(chain, private)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn content(file: File) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut content = Zeroizing::new(Vec::new());
    file.take(FILE_BYTES).read_to_end(&mut content)?;
    Ok(content)
}
