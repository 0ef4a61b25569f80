//! Domains from which mail may be sent, besides the address of the sender in the configuration.

use std::str::FromStr;

use quorate_common::bounded::Email;

/// A domain that mail may be sent from. Its subdomains are other domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderDomain(String);

impl SenderDomain {
    /// Returns whether an address belongs to the domain. Upper and lower case are the same (RFC 4343).
    pub fn contains(&self, address: &Email) -> bool {
        let domain = address.as_str().rsplit_once('@').map(|(_, domain)| domain);
        domain.is_some_and(|domain| domain.to_lowercase() == self.0)
    }
}

impl FromStr for SenderDomain {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_domain = !text.contains('@') && Email::parse(format!("a@{text}")).is_ok();
        let expected = r#"must be a domain, such as "example.org""#;
        if is_domain { Ok(Self(text.to_lowercase())) } else { Err(expected) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn domains_contain_their_own_addresses() {
        let domain: SenderDomain = "Example.org".parse().unwrap();
        for (address, expected) in [
            ("login@example.org", true),
            ("login@EXAMPLE.ORG", true),
            ("login@mail.example.org", false),
            ("login@example.org.acme.example", false),
            ("login@badexample.org", false),
        ] {
            let email = Email::parse(address.to_owned()).unwrap();
            assert_eq!(domain.contains(&email), expected, "{address}");
        }
        for bad in ["", "example", "@example.org", "a@example.org", "*.example.org", "example.org."] {
            assert!(bad.parse::<SenderDomain>().is_err(), "{bad}");
        }
    }
}
