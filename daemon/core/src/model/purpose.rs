//! What clients import, each with its own import keys.

/// Import keys that a user may have at once for wallets, and as many for private keys.
pub const IMPORT_TARGETS: usize = 5;
/// Import keys that a user may have at once for secrets, and secrets that one request may import.
pub const SECRET_TARGETS: usize = 50;

/// What an import key is used to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A wallet.
    Wallet = 1,
    /// A private key.
    PrivateKey = 2,
    /// A secret.
    Secret = 3,
}

impl Purpose {
    /// Returns how many keys a user may have at once; one more replaces the oldest.
    pub const fn limit(self) -> usize {
        match self {
            Self::Wallet | Self::PrivateKey => IMPORT_TARGETS,
            Self::Secret => SECRET_TARGETS,
        }
    }
}
