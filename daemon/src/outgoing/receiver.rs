//! Rules for receivers of webhooks: the check of a URL when it is set, and of each address before a
//! connection.
//!
//! This module neither resolves names nor connects.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::uri::PathAndQuery;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Url};

/// Maximum length of a receiver's URL, in bytes.
pub const URL_BYTES: usize = 2048;

/// Receivers that the operator allows in addition to public ones over https.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceiverPolicy {
    /// Networks that are allowed although they are not public.
    pub allow_networks: Vec<IpNet>,
    /// Whether receivers may be reached without TLS.
    pub allow_http: bool,
}

impl ReceiverPolicy {
    /// Returns the policy of dev mode: loopback is allowed, with or without TLS.
    pub fn dev() -> Self {
        let loopback = [
            IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(127, 0, 0, 0), 8)),
            IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128)),
        ];
        Self { allow_networks: loopback.to_vec(), allow_http: true }
    }

    /// Returns the policy for URLs that the operator configures: any address is allowed, with and without TLS.
    pub fn unrestricted() -> Self {
        let all = [
            IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::UNSPECIFIED, 0)),
            IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 0)),
        ];
        Self { allow_networks: all.to_vec(), allow_http: true }
    }

    /// Returns whether connecting to an address is allowed.
    pub fn permits(&self, address: IpAddr) -> bool {
        is_public(address) || self.allow_networks.iter().any(|network| network.contains(&address))
    }

    fn permits_loopback(&self) -> bool {
        self.permits(IpAddr::V4(Ipv4Addr::LOCALHOST)) || self.permits(IpAddr::V6(Ipv6Addr::LOCALHOST))
    }
}

/// A checked URL of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingUrl {
    pub(super) is_tls: bool,
    pub(super) host: Host<String>,
    pub(super) port: u16,
    /// Value of the `Host` header.
    pub(super) authority: String,
    pub(crate) target: PathAndQuery,
}

impl OutgoingUrl {
    /// Parses and checks a URL.
    ///
    /// # Errors
    /// Returns the requirement that the URL does not meet.
    pub fn check(text: &str, policy: &ReceiverPolicy) -> Result<Self, &'static str> {
        if text.len() > URL_BYTES {
            return Err("must not be longer than 2048 bytes");
        }
        // The parser would drop or replace these characters instead of rejecting them.
        if !text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
            return Err("must consist of visible ASCII without backslashes");
        }
        let url = Url::parse(text).map_err(|_| "must be an absolute URL")?;
        let is_tls = match url.scheme() {
            "https" => true,
            "http" if policy.allow_http => false,
            _ => return Err("must use https"),
        };
        if !has_authority(text) {
            return Err("must have two slashes and a host after its scheme");
        }
        if has_user_info(text) {
            return Err("must not contain a user name or password");
        }
        if url.fragment().is_some() {
            return Err("must not have a fragment");
        }
        let host = url.host().ok_or("must have a host")?.to_owned();
        let port = url.port_or_known_default().filter(|port| *port != 0).ok_or("must have a port above 0")?;
        check_host(&host, policy)?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        let target = url[url::Position::BeforePath..url::Position::AfterQuery].parse();
        let target = target.map_err(|_| "must have a path that is valid in HTTP")?;
        Ok(Self { is_tls, host, port, authority, target })
    }
}

fn check_host(host: &Host<String>, policy: &ReceiverPolicy) -> Result<(), &'static str> {
    let is_permitted = match host {
        Host::Ipv4(address) => policy.permits(IpAddr::V4(*address)),
        Host::Ipv6(address) => policy.permits(IpAddr::V6(*address)),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            let is_local = name == "localhost" || name.ends_with(".localhost") || name.is_empty();
            !is_local || policy.permits_loopback()
        }
    };
    if is_permitted { Ok(()) } else { Err("must have a public host") }
}

/// Returns whether a host follows the scheme as in RFC 3986 §3. The parser also accepts fewer and more
/// slashes, which makes the intended host ambiguous.
fn has_authority(text: &str) -> bool {
    let after_scheme = text.split_once(':').map_or("", |(_, rest)| rest);
    after_scheme.strip_prefix("//").is_some_and(|rest| !rest.starts_with('/'))
}

/// Returns whether the URL contains user information, including an empty user, which the parser drops.
fn has_user_info(text: &str) -> bool {
    let after_scheme = text.split_once(':').map_or("", |(_, rest)| rest).trim_start_matches('/');
    after_scheme.split(['/', '?', '#']).next().unwrap_or_default().contains('@')
}

/// IPv4 networks that are not public: the registry of RFC 6890 §2.2.2, multicast, and 168.63.129.16, at which
/// a large cloud serves the secrets of its machines although the address is not private.
const NON_PUBLIC_V4: [(Ipv4Addr, u8); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The only IPv6 range that is assigned for public use (RFC 4291 §2.4). It excludes loopback, unique local,
/// link-local and multicast addresses, and all forms that embed an IPv4 address at `::`.
const PUBLIC_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);
/// Networks in this range that are not public: RFC 6890 §2.2.3 and RFC 9637. Two of them embed an IPv4
/// address.
const NON_PUBLIC_V6: [(Ipv6Addr, u8); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NON_PUBLIC_V4
            .iter()
            .any(|(network, length)| Ipv4Net::new_assert(*network, *length).contains(&address)),
        IpAddr::V6(address) => {
            let within = |(network, length): &(Ipv6Addr, u8)| {
                Ipv6Net::new_assert(*network, *length).contains(&address)
            };
            within(&PUBLIC_V6) && !NON_PUBLIC_V6.iter().any(within)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn policy(networks: &[&str], allow_http: bool) -> ReceiverPolicy {
        let allow_networks = networks.iter().map(|network| network.parse().unwrap()).collect();
        ReceiverPolicy { allow_networks, allow_http }
    }

    fn check(text: &str, policy: &ReceiverPolicy, expected: Result<(), &'static str>) {
        assert_eq!(OutgoingUrl::check(text, policy).map(|_| ()), expected, "{text}");
    }

    #[test]
    fn urls_are_checked_when_they_are_set() {
        let strict = ReceiverPolicy::default();
        let garbled = Err("must consist of visible ASCII without backslashes");
        let with_user = Err("must not contain a user name or password");
        let ambiguous = Err("must have two slashes and a host after its scheme");
        let long = format!("https://example.org/{}", "a".repeat(10_000));
        for (text, expected) in [
            ("https://example.org/hook?a=b", Ok(())),
            ("https://example.org", Ok(())),
            ("https://example.org.:8443/", Ok(())),
            ("HTTPS://EXAMPLE.ORG/", Ok(())),
            ("https://8.8.8.8/", Ok(())),
            ("https://[2606:4700::1111]/", Ok(())),
            ("http://example.org/", Err("must use https")),
            ("ftp://example.org/", Err("must use https")),
            ("file:///etc/passwd", Err("must use https")),
            ("data:text/plain,a", Err("must use https")),
            ("example.org/hook", Err("must be an absolute URL")),
            ("", Err("must be an absolute URL")),
            ("https://", Err("must be an absolute URL")),
            ("https:///", Err("must be an absolute URL")),
            ("https:///path", ambiguous),
            ("https:////example.org/", ambiguous),
            ("https:example.org/", ambiguous),
            ("https:/example.org/", ambiguous),
            ("https://exa mple.org/", garbled),
            (" https://example.org/", garbled),
            ("https://example.org/\n", garbled),
            ("https:\\\\example.org\\", garbled),
            ("https://ex\u{e4}mple.org/", garbled),
            (&long, Err("must not be longer than 2048 bytes")),
            ("https://user@example.org/", with_user),
            ("https://user:word@example.org/", with_user),
            ("https://@example.org/", with_user),
            ("https://example.org/a@b", Ok(())),
            ("https://example.org/#part", Err("must not have a fragment")),
            ("https://example.org:0/", Err("must have a port above 0")),
            ("https://example.org:65536/", Err("must be an absolute URL")),
        ] {
            check(text, &strict, expected);
        }
    }

    #[test]
    fn non_public_hosts_are_rejected_in_every_spelling() {
        for text in [
            "https://localhost/",
            "https://LocalHost./",
            "https://a.localhost/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f.0.0.1/",
            "https://0177.0.0.1/",
            "https://%31%32%37.0.0.1/",
            "https://0.0.0.0/",
            "https://10.1.2.3/",
            "https://172.31.255.255/",
            "https://192.168.1.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://168.63.129.16/",
            "https://100.100.100.200/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://[::]/",
            "https://[::1]/",
            "https://[::127.0.0.1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:8.8.8.8]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/",
            "https://[2001::1]/",
            "https://[2001:db8::1]/",
            "https://[fc00::1]/",
            "https://[fd00:ec2::254]/",
            "https://[fe80::1]/",
            "https://[ff02::1]/",
        ] {
            check(text, &ReceiverPolicy::default(), Err("must have a public host"));
        }
    }

    #[test]
    fn the_operator_can_allow_more_receivers() {
        let office = policy(&["10.0.0.0/8"], false);
        check("https://10.1.2.3/", &office, Ok(()));
        check("https://192.168.1.1/", &office, Err("must have a public host"));
        check("http://10.1.2.3/", &office, Err("must use https"));
        check("https://localhost/", &office, Err("must have a public host"));
        check("http://10.1.2.3/", &policy(&["10.0.0.0/8"], true), Ok(()));
        let dev = ReceiverPolicy::dev();
        for text in ["http://127.0.0.1:9000/hook", "http://localhost:9000/", "http://[::1]:9000/"] {
            check(text, &dev, Ok(()));
        }
        check("http://10.1.2.3/", &dev, Err("must have a public host"));
    }

    #[test]
    fn networks_are_permitted_up_to_their_edges() {
        let strict = ReceiverPolicy::default();
        for (address, expected) in [
            ("9.255.255.255", true),
            ("11.0.0.0", true),
            ("100.63.255.255", true),
            ("100.64.0.0", false),
            ("100.127.255.255", false),
            ("100.128.0.0", true),
            ("172.15.255.255", true),
            ("172.16.0.0", false),
            ("172.32.0.0", true),
            ("198.17.255.255", true),
            ("198.19.255.255", false),
            ("223.255.255.255", true),
            ("240.0.0.1", false),
            ("1fff::", false),
            ("2000::", true),
            ("2001:1ff::", false),
            ("2001:200::", true),
            ("3ffe::", true),
            ("3fff::", false),
            ("4000::", false),
        ] {
            assert_eq!(strict.permits(address.parse().unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn a_checked_url_keeps_its_parts() {
        let url =
            OutgoingUrl::check("https://Example.org:8443/a/../b?c=%20", &ReceiverPolicy::default()).unwrap();
        assert_eq!((url.authority.as_str(), url.port, url.is_tls), ("example.org:8443", 8443, true));
        assert_eq!(url.target.as_str(), "/b?c=%20");
    }
}
