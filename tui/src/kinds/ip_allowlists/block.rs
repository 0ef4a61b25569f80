//! CIDR blocks of IP addresses (RFC 4632 §3.1, RFC 4291 §2.3), parsed as the daemon parses them.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use crate::kinds::prelude::*;

/// Address of the clients of the local socket, and so of every console.
const CONSOLES: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Parses a block, without the bits beyond its prefix. A single address is a block of one address.
fn block(text: &str) -> Option<IpNet> {
    let Some((address, length)) = text.split_once('/') else { return text.parse().map(IpAddr::into).ok() };
    let length = length.parse().ok().filter(|_| length.bytes().all(|byte| byte.is_ascii_digit()))?;
    IpNet::new(address.parse().ok()?, length).ok().map(|network| network.trunc())
}

/// A block with its label.
pub(super) struct Rule<'a> {
    text: &'a str,
    label: Option<&'a str>,
    block: Option<IpNet>,
}

impl<'a> Rule<'a> {
    pub(super) fn new(text: &'a str, label: Option<&'a str>) -> Self {
        Self { text, label, block: block(text) }
    }

    /// Returns whether both denote the same block.
    pub(super) fn is_same_block(&self, other: &Self) -> bool {
        if self.block.is_some() { self.block == other.block } else { self.text == other.text }
    }

    /// Returns whether the text is a valid block.
    pub(super) fn is_valid(&self) -> bool {
        self.block.is_some()
    }

    /// Returns whether the block contains the address of consoles.
    pub(super) fn admits_consoles(&self) -> bool {
        self.block.is_some_and(|block| block.contains(&CONSOLES))
    }

    /// Returns the block as it applies, the original text where it differs, and the label.
    pub(super) fn describe(&self) -> String {
        let block = self.block.map_or_else(|| clean(self.text), |block| block.to_string());
        let alone = block.split_once('/').is_some_and(|(alone, _)| alone.eq_ignore_ascii_case(self.text));
        let written = if alone || block.eq_ignore_ascii_case(self.text) {
            String::new()
        } else {
            format!(" (written {})", clean(self.text))
        };
        let label = self.label.map_or_else(String::new, |label| format!(" {}", quoted(label)));
        format!("{block}{written}{label}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_blocks_and_clears_bits_beyond_the_prefix() {
        for (text, expected) in [
            ("203.0.113.7/24", Some("203.0.113.0/24")),
            ("203.0.113.7", Some("203.0.113.7/32")),
            ("203.0.113.7/0", Some("0.0.0.0/0")),
            ("2001:db8:1:2::3/48", Some("2001:db8:1::/48")),
            ("2001:db8::1", Some("2001:db8::1/128")),
            ("203.0.113.7/33", None),
            ("203.0.113.7/+24", None),
            ("203.0.113.7/", None),
            ("203.0.113/24", None),
            ("", None),
        ] {
            assert_eq!(block(text).map(|block| block.to_string()).as_deref(), expected, "{text}");
        }
    }
}
