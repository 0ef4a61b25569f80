//! Values on the command line that have a syntax of their own.

use quorate_chain::address::Chain;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;

use crate::keys::canonical;
use crate::known_keys::KnownKey;

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum CurveArgument {
    P256,
    Secp256k1,
    Ed25519,
}

/// A user's key as given on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserKey {
    pub(super) user: UserId,
    pub(super) public_key: String,
}

impl UserKey {
    /// Parses `USER_ID:PUBLIC_KEY`.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (user, public_key) = text.split_once(':').ok_or("expected USER_ID:PUBLIC_KEY")?;
        let user = user.parse().map_err(|_| "expected a user id before the colon")?;
        Ok(Self { user, public_key: canonical(public_key) })
    }

    /// Returns whether this is the known key.
    pub(super) fn is(&self, seen: &KnownKey<'_>) -> bool {
        self.user == seen.user && self.public_key == seen.public_key
    }
}

/// Parses the name of a chain.
pub(super) fn chain(text: &str) -> Result<Chain, String> {
    text.parse::<Chain>().map_err(|error| error.to_string())
}

/// Parses a fingerprint: 64 hex digits, optionally with `sha256:`.
pub(super) fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    let bare = text.strip_prefix("sha256:").unwrap_or(text);
    let digits: String = bare.chars().filter(|letter| *letter != ' ').collect();
    format!("sha256:{}", digits.to_ascii_lowercase()).parse().map_err(|_| "expected 64 hex digits".to_owned())
}
