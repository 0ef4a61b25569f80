//! CIDR blocks of IP addresses (RFC 4632 §3.1, RFC 4291 §2.3), parsed as the daemon parses them.

use std::fmt;
use std::net::IpAddr;

use crate::kinds::prelude::*;

/// A network and the length of its prefix. Bits beyond the prefix are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    network: IpAddr,
    length: u32,
}

impl Block {
    /// Parses a block. A single address is a block of one address.
    fn read(text: &str) -> Option<Self> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let bits = if address.is_ipv4() { u32::BITS } else { u128::BITS };
        let length = match length {
            Some(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok()?,
            Some(_) => return None,
            None => bits,
        };
        let beyond = bits.checked_sub(length)?;
        let network = match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(beyond).unwrap_or(0);
                IpAddr::V4((address.to_bits() & mask).into())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(beyond).unwrap_or(0);
                IpAddr::V6((address.to_bits() & mask).into())
            }
        };
        Some(Self { network, length })
    }
}

impl fmt::Display for Block {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.network, self.length)
    }
}

/// A block with its label.
pub(super) struct Rule<'a> {
    text: &'a str,
    label: Option<&'a str>,
    block: Option<Block>,
}

impl<'a> Rule<'a> {
    pub(super) fn new(text: &'a str, label: Option<&'a str>) -> Self {
        Self { text, label, block: Block::read(text) }
    }

    /// Returns whether both denote the same block.
    pub(super) fn same(&self, other: &Self) -> bool {
        if self.block.is_some() { self.block == other.block } else { self.text == other.text }
    }

    /// Returns whether the text is a valid block.
    pub(super) fn is_read(&self) -> bool {
        self.block.is_some()
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
            assert_eq!(Block::read(text).map(|block| block.to_string()).as_deref(), expected, "{text}");
        }
    }
}
