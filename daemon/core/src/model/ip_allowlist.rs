//! IP allowlists of organizations and of API keys.

use std::net::IpAddr;

use ipnet::IpNet;
use quorate_common::bounded::Label;
use quorate_common::ids::OrganizationId;
use quorate_common::wire;
use serde::{Deserialize, Serialize};

use super::Millis;

/// Parses an address and a prefix length, such as `192.0.2.0/24`. Leading zeros are rejected, since some
/// parsers read `010` as eight and others as ten.
pub fn parse_network(text: &str) -> Option<IpNet> {
    let (address, length) = text.split_once('/')?;
    let is_minimal = length == "0" || !length.starts_with(['0', '+']);
    IpNet::new(address.parse().ok()?, length.parse().ok().filter(|_| is_minimal)?).ok()
}

/// A block of addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpRule {
    /// Network address and prefix length.
    pub network: IpNet,
    /// Name.
    pub label: Option<Label>,
    /// Time of creation.
    pub created: Millis,
}

/// A list of address blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IpAllowlist {
    /// Whether the list is in force; always true for the list of an API key.
    pub enabled: bool,
    /// Address blocks, without duplicates.
    pub rules: Vec<IpRule>,
    /// Whether a request from an unknown address is admitted.
    pub allows_unknown: bool,
}

impl IpAllowlist {
    /// Returns whether this list alone admits a request from this address.
    fn admits(&self, source: Option<IpAddr>) -> bool {
        let Some(source) = source.map(|source| source.to_canonical()) else { return self.allows_unknown };
        self.rules.iter().any(|rule| rule.network.contains(&source))
    }

    /// Converts to the wire form.
    pub fn wire(&self, organization: OrganizationId, public_key: Option<String>) -> wire::IpAllowlist {
        let rule = |rule: &IpRule| wire::IpAllowlistRule {
            cidr: rule.network.to_string(),
            label: rule.label.as_ref().map(ToString::to_string),
            created_at: rule.created.to_string(),
        };
        wire::IpAllowlist {
            organization_id: organization,
            rules: self.rules.iter().map(rule).collect(),
            enabled: public_key.is_none().then_some(self.enabled),
            public_key,
            on_evaluation_error: if self.allows_unknown { "ALLOW" } else { "DENY" }.to_owned(),
        }
    }
}

/// Returns whether a request is admitted. Lists are in force only if that of the organization is enabled; a
/// list of the key that is not empty replaces it.
pub fn admits(organization: Option<&IpAllowlist>, key: Option<&IpAllowlist>, source: Option<IpAddr>) -> bool {
    let Some(organization) = organization.filter(|list| list.enabled) else { return true };
    key.filter(|list| !list.rules.is_empty()).unwrap_or(organization).admits(source)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn parses_only_canonical_numbers() {
        for (text, expected) in [
            ("192.0.2.0/24", Some("192.0.2.0/24")),
            ("192.0.2.7/24", Some("192.0.2.7/24")),
            ("0.0.0.0/0", Some("0.0.0.0/0")),
            ("2001:db8::/48", Some("2001:db8::/48")),
            ("2001:0db8::/48", Some("2001:db8::/48")),
            ("127.0.0.010/32", None),
            ("127.0.0.0x1/32", None),
            ("127.1/32", None),
            ("192.0.2.0/024", None),
            ("192.0.2.0/+24", None),
            ("192.0.2.0/33", None),
            ("192.0.2.0/", None),
            ("192.0.2.0", None),
            (" 192.0.2.0/24", None),
            ("2001:db8::/129", None),
        ] {
            assert_eq!(parse_network(text).map(|network| network.to_string()).as_deref(), expected, "{text}");
        }
    }

    fn list(enabled: bool, blocks: &[&str]) -> IpAllowlist {
        let rule = |block: &&str| IpRule { network: block.parse().unwrap(), label: None, created: 0 };
        IpAllowlist { enabled, rules: blocks.iter().map(rule).collect(), allows_unknown: false }
    }

    #[test]
    fn key_allowlist_replaces_organization_allowlist() {
        let (on, off) = (list(true, &["10.0.0.0/24"]), list(false, &["10.0.0.0/24"]));
        let (own, none) = (list(true, &["2001:db8::/64"]), list(true, &[]));
        for (organization, key, source, expected) in [
            (None, Some(&own), "192.0.2.1", true),
            (Some(&off), Some(&own), "192.0.2.1", true),
            (Some(&on), None, "10.0.0.7", true),
            (Some(&on), None, "::ffff:10.0.0.7", true),
            (Some(&on), None, "10.0.1.7", false),
            (Some(&on), Some(&own), "10.0.0.7", false),
            (Some(&on), Some(&own), "2001:db8::1", true),
            (Some(&on), Some(&none), "10.0.0.7", true),
            (Some(&none), None, "10.0.0.7", false),
        ] {
            assert_eq!(admits(organization, key, Some(source.parse().unwrap())), expected, "{source}");
        }
    }

    #[test]
    fn refuses_unknown_addresses_unless_allowed() {
        let strict = list(true, &["10.0.0.0/24"]);
        let lenient = IpAllowlist { allows_unknown: true, ..strict.clone() };
        assert!(!admits(Some(&strict), None, None));
        assert!(admits(Some(&lenient), None, None));
        assert!(!admits(Some(&lenient), Some(&strict), None));
    }
}
