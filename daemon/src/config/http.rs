//! Section `[http]`: where the public API is served.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use ipnet::IpNet;
use url::Url;

use super::section::Section;

/// The HTTP door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// Address and port.
    pub listen: SocketAddr,
    /// What clients put in front of a path, without a slash at its end.
    pub base_url: String,
    /// TLS, unless something in front of the daemon does it.
    pub tls: Option<TlsFiles>,
    /// Proxies that are believed where a request came from.
    pub trusted_proxies: Vec<IpNet>,
}

/// Files of TLS, in PEM form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain, the daemon's own first.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Http> {
    let listen = section.required("listen", Section::parsed::<Listen>);
    let base_url = section.parsed::<BaseUrl>("base_url");
    let tls = match (section.path("tls_certificate"), section.path("tls_key")) {
        (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
        (None, None) => None,
        _ => {
            section.complain("tls_certificate and tls_key belong together");
            None
        }
    };
    let trusted_proxies = section.networks("trusted_proxies").unwrap_or_default();
    let listen = listen?.0;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let base_url = base_url.map_or_else(|| format!("{scheme}://{listen}"), |url| url.0);
    Some(Http { listen, base_url, tls, trusted_proxies })
}

struct Listen(SocketAddr);

impl FromStr for Listen {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let what = r#"must be an address and a port, such as "127.0.0.1:8080" or "[::1]:8080""#;
        text.parse().map(Self).map_err(|_| what)
    }
}

struct BaseUrl(String);

impl FromStr for BaseUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let what = r#"must be an http or https URL without query, such as "https://keys.example.org""#;
        let url = Url::parse(text).map_err(|_| what)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if is_plain { Ok(Self(url.as_str().trim_end_matches('/').to_owned())) } else { Err(what) }
    }
}
