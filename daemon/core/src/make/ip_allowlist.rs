//! IP allowlists: whose they are, and what their blocks may be.

use ipnet::IpNet;

use crate::cx::Cx;
use crate::limits::IP_RULES;
use crate::model::ip_allowlist::parse_network;
use crate::model::{Change, IpAllowlist, IpRule, User};
use crate::refusal::{Intent, Limit, Missing, Refusal};
use crate::view::View;

/// Longest text of a public key, in bytes.
pub const KEY: usize = 140;
/// Shortest prefix of a block of IPv4 addresses.
const WIDEST_V4: u8 = 20;
/// Shortest prefix of a block of IPv6 addresses.
const WIDEST_V6: u8 = 48;

/// Only an organization without parent has such lists.
pub fn only_at_the_top(view: &View<'_>) -> Result<(), Refusal> {
    let is_child = view.organization.head.parent.is_some();
    if is_child { Err(Intent::ClosedToChildren("have IP allowlists").into()) } else { Ok(()) }
}

/// A user has an API key with this public key.
pub fn is_held(public_key: &str, view: &View<'_>) -> Result<(), Refusal> {
    let public_key = public_key.to_ascii_lowercase();
    let held = view.organization.users().any(|user| holds(user, &public_key));
    if held { Ok(()) } else { Err(Missing::Thing("api key").into()) }
}

fn holds(user: &User, public_key: &str) -> bool {
    user.api_keys.iter().any(|key| key.public_key == public_key)
}

/// The list of a key, or of the organization, is there.
pub fn present(public_key: Option<&str>, view: &View<'_>) -> Result<(), Refusal> {
    let key = public_key.map(str::to_ascii_lowercase);
    let found = view.organization.ip_allowlist(key.as_deref());
    found.map(drop).ok_or(Missing::Thing("IP allowlist").into())
}

/// Puts a list in place, or takes it away. One text may be a key on two curves, of two users: both get the list.
pub fn set(public_key: Option<&str>, list: Option<&IpAllowlist>, cx: &mut Cx<'_, '_>) {
    let Some(public_key) = public_key.map(str::to_ascii_lowercase) else {
        cx.change(Change::SetIpAllowlist(list.cloned()));
        return;
    };
    let (now, view) = (cx.now(), cx.view());
    for user in view.organization.users().filter(|user| holds(user, &public_key)) {
        let mut user = User { updated: now, ..user.clone() };
        for key in user.api_keys.iter_mut().filter(|key| key.public_key == public_key) {
            key.ip_allowlist = list.cloned();
        }
        cx.change(Change::PutUser(user));
    }
}

/// Reads a block: an address alone is a block of one. Bits beyond the prefix are dropped.
pub fn network(place: usize, text: &str) -> Result<IpNet, Refusal> {
    let wrong = |why: &str| Intent::Detail(format!("invalid CIDR at index {place}: {text:?}: {why}"));
    let alone = || text.parse::<std::net::IpAddr>().ok().map(IpNet::from);
    let network = parse_network(text).or_else(alone);
    let network = network.ok_or_else(|| wrong("expected an address and a prefix length"))?.trunc();
    let widest = if network.addr().is_ipv4() { WIDEST_V4 } else { WIDEST_V6 };
    if network.prefix_len() < widest {
        return Err(wrong(&format!("must not be wider than /{widest}")).into());
    }
    Ok(network)
}

/// There are at most so many blocks of each family.
pub fn check_count(rules: &[IpRule]) -> Result<(), Refusal> {
    let old = rules.iter().filter(|rule| rule.network.addr().is_ipv4()).count();
    if old > IP_RULES || rules.len().saturating_sub(old) > IP_RULES {
        return Err(Limit::Count("IP allowlist rules of one address family", IP_RULES, None).into());
    }
    Ok(())
}
