//! Notation of derivation paths.

use crate::wire_name::wire_name;

wire_name! {
    /// Notation of a derivation path.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PathFormat: "invalid path format" {
        /// Notation of BIP-32: `m/44'/60'/0'/0/0`.
        Bip32 = "PATH_FORMAT_BIP32",
    }
}
