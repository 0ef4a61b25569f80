//! Validates and stores IP allowlists of organizations and API keys.

use ipnet::IpNet;

use crate::error::{Intent, Limit, Missing, RequestError};
use crate::execution::Execution;
use crate::limits::IP_RULES;
use crate::model::ip_allowlist::parse_network;
use crate::model::{Change, IpAllowlist, IpRule, User};
use crate::view::View;

/// Longest text of a public key, in bytes.
pub const KEY: usize = 140;
/// Shortest prefix of a block of IPv4 addresses.
const WIDEST_V4: u8 = 20;
/// Shortest prefix of a block of IPv6 addresses.
const WIDEST_V6: u8 = 48;

/// Checks that the organization is a top-level organization. Only those have IP allowlists.
///
/// # Errors
/// If the organization has a parent.
pub fn check_top_level(view: &View<'_>) -> Result<(), RequestError> {
    let is_child = view.organization.head.parent.is_some();
    if is_child { Err(Intent::ClosedToChildren("have IP allowlists").into()) } else { Ok(()) }
}

/// Checks that a user has an API key with this public key.
///
/// # Errors
/// If no user of the organization has such a key.
pub fn check_key_exists(public_key: &str, view: &View<'_>) -> Result<(), RequestError> {
    let public_key = public_key.to_ascii_lowercase();
    let exists = view.organization.users().any(|user| has_key(user, &public_key));
    if exists { Ok(()) } else { Err(Missing::Other("api key").into()) }
}

fn has_key(user: &User, public_key: &str) -> bool {
    user.api_keys.iter().any(|key| key.public_key == public_key)
}

/// Checks that an API key, or the organization if no key is given, has an IP allowlist.
///
/// # Errors
/// If it has none.
pub fn check_exists(public_key: Option<&str>, view: &View<'_>) -> Result<(), RequestError> {
    let key = public_key.map(str::to_ascii_lowercase);
    let list = view.organization.ip_allowlist(key.as_deref());
    list.map(drop).ok_or(Missing::Other("IP allowlist").into())
}

/// Sets or removes the IP allowlist of an API key, or of the organization if no key is given. The same text
/// can be a key of two users on different curves; both keys then get the list.
pub fn set(public_key: Option<&str>, list: Option<&IpAllowlist>, context: &mut Execution<'_>) {
    let Some(public_key) = public_key.map(str::to_ascii_lowercase) else {
        context.change(Change::SetIpAllowlist(list.cloned()));
        return;
    };
    let (now, view) = (context.now(), context.view());
    for user in view.organization.users().filter(|user| has_key(user, &public_key)) {
        let mut user = User { updated: now, ..user.clone() };
        for key in user.api_keys.iter_mut().filter(|key| key.public_key == public_key) {
            key.ip_allowlist = list.cloned();
        }
        context.change(Change::PutUser(user));
    }
}

/// Parses a CIDR block. A single address is a block of one; bits beyond the prefix are cleared.
///
/// # Errors
/// If the text is neither a CIDR block nor an address, or the block is too wide. The message contains
/// `index`.
pub fn network(index: usize, text: &str) -> Result<IpNet, RequestError> {
    let invalid = |why: &str| Intent::Detail(format!("invalid CIDR at index {index}: {text:?}: {why}"));
    let single_address = || text.parse::<std::net::IpAddr>().ok().map(IpNet::from);
    let network = parse_network(text).or_else(single_address);
    let network = network.ok_or_else(|| invalid("expected an address and a prefix length"))?.trunc();
    let widest = if network.addr().is_ipv4() { WIDEST_V4 } else { WIDEST_V6 };
    if network.prefix_len() < widest {
        return Err(invalid(&format!("must not be wider than /{widest}")).into());
    }
    Ok(network)
}

/// Checks that there are at most [`IP_RULES`] blocks of each address family.
///
/// # Errors
/// If there are more.
pub fn check_count(rules: &[IpRule]) -> Result<(), RequestError> {
    let v4 = rules.iter().filter(|rule| rule.network.addr().is_ipv4()).count();
    if v4 > IP_RULES || rules.len().saturating_sub(v4) > IP_RULES {
        return Err(Limit::Count("IP allowlist rules per address family", IP_RULES, None).into());
    }
    Ok(())
}
