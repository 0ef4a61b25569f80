//! Section `[http]`: the public API.

use std::net::SocketAddr;
use std::path::PathBuf;

use ipnet::IpNet;
use url::Url;

use super::section::Section;

/// Settings of the HTTP listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// URL prefix that clients use, without a trailing slash; `None` if it is the address listened on.
    pub base_url: Option<String>,
    /// TLS files; `None` if a proxy in front of the daemon terminates TLS.
    pub tls: Option<TlsFiles>,
    /// Proxies whose `X-Forwarded-For` header is trusted.
    pub trusted_proxies: Vec<IpNet>,
}

/// TLS files in PEM format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain, with the daemon's own certificate first.
    pub certificate: PathBuf,
    /// Private key of the certificate.
    pub key: PathBuf,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Http> {
    let listen = section.required("listen", |section, key| section.parsed_with(key, address));
    let base_url = section.parsed_with("base_url", base_url);
    let tls = match (section.path("tls_certificate"), section.path("tls_key")) {
        (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
        (None, None) => None,
        _ => {
            section.report("tls_certificate and tls_key must be set together");
            None
        }
    };
    let trusted_proxies = section.networks("trusted_proxies").unwrap_or_default();
    Some(Http { listen: listen?, base_url, tls, trusted_proxies })
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    let expected = r#"must be an address and a port, such as "127.0.0.1:8080" or "[::1]:8080""#;
    text.parse().map_err(|_| expected)
}

/// Parses a URL prefix and removes its trailing slash.
pub(super) fn base_url(text: &str) -> Result<String, &'static str> {
    let expected = r#"must be an http or https URL without query, such as "https://keys.example.org""#;
    let url = Url::parse(text).map_err(|_| expected)?;
    let is_plain = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if is_plain { Ok(url.as_str().trim_end_matches('/').to_owned()) } else { Err(expected) }
}
