//! Where a request came from: the other end of the connection, or what trusted proxies say of it.
//!
//! Pure. A header counts only as far as each proxy that it passed is trusted, from the daemon outwards.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use crate::door::{Door, LineText};

/// Proxies whose word counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Trusts the proxies of these networks.
    pub const fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// The address of the client. None when a trusted proxy does not say it in a way that can be read. Whoever
    /// comes over the local socket is on this machine, so their address is 127.0.0.1.
    pub fn source(&self, door: Door, forwarded: &[LineText]) -> Option<IpAddr> {
        let Door::Http { address } = door else { return Some(IpAddr::V4(Ipv4Addr::LOCALHOST)) };
        let mut source = address;
        let lines = forwarded.iter().rev().map(LineText::as_str);
        let mut named = lines.flat_map(|line| line.rsplit(','));
        while self.trusts(source) {
            // A proxy appends the address that it was reached from, so the last one is the newest.
            source = address_of(named.next()?)?;
        }
        Some(source)
    }
}

/// An address as proxies write it: bare, with a port, or in brackets.
fn address_of(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.parse::<IpAddr>().ok();
    let with_port = || text.parse::<std::net::SocketAddr>().ok().map(|address| address.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    bare.or_else(with_port).or_else(in_brackets)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let proxies = Proxies::new(vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        for (peer, lines, expected) in [
            ("203.0.113.5", &[][..], Some("203.0.113.5")),
            ("203.0.113.5", &["192.0.2.1"], Some("203.0.113.5")),
            ("10.0.0.1", &["192.0.2.1"], Some("192.0.2.1")),
            ("::ffff:10.0.0.1", &["192.0.2.1"], Some("192.0.2.1")),
            ("10.0.0.1", &["198.51.100.9, 192.0.2.1"], Some("192.0.2.1")),
            ("10.0.0.1", &["192.0.2.1, 10.0.0.2"], Some("192.0.2.1")),
            ("10.0.0.1", &["198.51.100.9", "192.0.2.1", "10.0.0.2"], Some("192.0.2.1")),
            ("10.0.0.1", &["192.0.2.1:4711"], Some("192.0.2.1")),
            ("fd00::1", &["[2001:db8::7]"], Some("2001:db8::7")),
            ("fd00::1", &["[2001:db8::7]:443"], Some("2001:db8::7")),
            ("10.0.0.1", &[], None),
            ("10.0.0.1", &["10.0.0.2"], None),
            ("10.0.0.1", &["192.0.2.1, unknown"], None),
            ("10.0.0.1", &["unknown, 192.0.2.1"], Some("192.0.2.1")),
            ("10.0.0.1", &[""], None),
        ] {
            let lines: Vec<_> =
                lines.iter().map(|line| LineText::new(HeaderValue::from_static(line)).unwrap()).collect();
            let door = Door::Http { address: peer.parse().unwrap() };
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(proxies.source(door, &lines), expected, "{peer} {lines:?}");
        }
    }

    #[test]
    fn the_local_socket_is_this_machine() {
        let said = [LineText::new(HeaderValue::from_static("192.0.2.1")).unwrap()];
        let source = Proxies::default().source(Door::Socket { user_id: 0 }, &said);
        assert_eq!(source, Some("127.0.0.1".parse().unwrap()));
    }
}
