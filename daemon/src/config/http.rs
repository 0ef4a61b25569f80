//! Section `[http]`: the public API.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

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
    let listen = section.required("listen", Section::parsed::<Listen>);
    let base_url = section.parsed::<BaseUrl>("base_url");
    let tls = match (section.path("tls_certificate"), section.path("tls_key")) {
        (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
        (None, None) => None,
        _ => {
            section.report("tls_certificate and tls_key must be set together");
            None
        }
    };
    let trusted_proxies = section.networks("trusted_proxies").unwrap_or_default();
    let listen = listen?.0;
    Some(Http { listen, base_url: base_url.map(|url| url.0), tls, trusted_proxies })
}

struct Listen(SocketAddr);

impl FromStr for Listen {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = r#"must be an address and a port, such as "127.0.0.1:8080" or "[::1]:8080""#;
        text.parse().map(Self).map_err(|_| expected)
    }
}

struct BaseUrl(String);

impl FromStr for BaseUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = r#"must be an http or https URL without query, such as "https://keys.example.org""#;
        let url = Url::parse(text).map_err(|_| expected)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if is_plain { Ok(Self(url.as_str().trim_end_matches('/').to_owned())) } else { Err(expected) }
    }
}
