//! Notation of derivation paths.

use crate::wire_name::{WireName, wire_name};

/// Notation of a derivation path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathFormat {
    /// Notation of BIP-32: `m/44'/60'/0'/0/0`.
    Bip32,
}

wire_name!(PathFormat);

impl WireName for PathFormat {
    const EVERY: &'static [Self] = &[Self::Bip32];
    const ERROR_MESSAGE: &'static str = "invalid path format";

    fn wire_name(self) -> &'static str {
        match self {
            Self::Bip32 => "PATH_FORMAT_BIP32",
        }
    }
}
