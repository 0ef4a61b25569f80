//! The client address of a request: the remote address of the connection, or the address that trusted proxies
//! report.
//!
//! This module is pure. A header counts only as far as each proxy that it passed is trusted, from the daemon
//! outwards.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use crate::listener::Listener;

/// Trusted proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Trusts the proxies in these networks.
    pub const fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }

    /// Returns the address of the client. `forwarded` are the lines of `X-Forwarded-For`, in which proxies
    /// report it. Returns `None` if a trusted proxy does not report a readable one. Clients of the local socket are on this machine, so their address is 127.0.0.1.
    pub fn source(&self, listener: Listener, forwarded: &[&str]) -> Option<IpAddr> {
        let Listener::Http { address } = listener else { return Some(IpAddr::V4(Ipv4Addr::LOCALHOST)) };
        let mut source = address;
        let mut named = forwarded.iter().rev().flat_map(|line| line.rsplit(','));
        while self.trusts(source) {
            // Each proxy appends the address of its own client, so the last address is the newest.
            source = address_of(named.next()?)?;
        }
        Some(source)
    }
}

/// The client that a request is charged to before its sender is authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// An IPv4 address, or an IPv6 network that one client owns.
    Network(IpAddr),
    /// A user of this machine, who uses the local socket.
    User(u32),
}

impl Client {
    /// Returns the client of a request. If a trusted proxy does not report its address, the proxy is the
    /// client.
    pub fn of(listener: Listener, source: Option<IpAddr>) -> Self {
        match listener {
            Listener::Socket { user_id } => Self::User(user_id),
            Listener::Http { address } => Self::Network(network(source.unwrap_or(address))),
        }
    }
}

/// Returns the network of a client, because one IPv6 client usually owns a whole /64.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

/// Returns the site of a client: an IPv4 address, or an IPv6 /48, in which one owner may have many networks.
pub fn site(address: IpAddr) -> IpAddr {
    match network(address) {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 80))),
        address @ IpAddr::V4(_) => address,
    }
}

/// Parses an address as proxies write it: bare, with a port, or in brackets.
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
            let listener = Listener::Http { address: peer.parse().unwrap() };
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(proxies.source(listener, lines), expected, "{peer} {lines:?}");
        }
    }

    #[test]
    fn a_client_is_an_address_or_a_user() {
        let proxies = Proxies::new(vec!["10.0.0.0/8".parse().unwrap()]);
        let client = |peer: &str, line: &str| {
            let listener = Listener::Http { address: peer.parse().unwrap() };
            Client::of(listener, proxies.source(listener, &[line]))
        };
        let network = |address: &str| Client::Network(address.parse().unwrap());
        assert_eq!(client("203.0.113.5", "192.0.2.1"), network("203.0.113.5"));
        assert_eq!(client("10.0.0.1", "192.0.2.1"), network("192.0.2.1"));
        assert_eq!(client("10.0.0.1", "2001:db8::7:1"), network("2001:db8::"));
        assert_eq!(client("10.0.0.1", "unknown"), network("10.0.0.1"));
        assert_eq!(client("::ffff:203.0.113.5", ""), network("203.0.113.5"));
        assert_eq!(Client::of(Listener::Socket { user_id: 7 }, None), Client::User(7));
    }

    #[test]
    fn a_site_is_an_ipv4_address_or_an_ipv6_network_of_48_bits() {
        for (address, expected) in [
            ("203.0.113.5", "203.0.113.5"),
            ("::ffff:203.0.113.5", "203.0.113.5"),
            ("2001:db8:1:2:3::4", "2001:db8:1::"),
            ("2001:db8:1:ffff::", "2001:db8:1::"),
            ("2001:db8:2::", "2001:db8:2::"),
        ] {
            assert_eq!(site(address.parse().unwrap()), expected.parse::<IpAddr>().unwrap(), "{address}");
        }
    }

    #[test]
    fn clients_of_the_local_socket_are_on_this_machine() {
        let source = Proxies::default().source(Listener::Socket { user_id: 0 }, &["192.0.2.1"]);
        assert_eq!(source, Some("127.0.0.1".parse().unwrap()));
    }
}
