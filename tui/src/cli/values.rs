//! Values on the command line that have a syntax of their own.

use quorate_chain::address::Chain;
use quorate_common::console::HistoryOrder;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::UserId;

use crate::keys::canonical;
use crate::known_keys::KnownKey;
use crate::text::parsed_date;

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

/// The order of a list of activities.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum OrderArgument {
    /// Newest first
    #[default]
    Newest,
    /// Oldest first
    Oldest,
    /// By status: waiting, failed, rejected, executed
    Status,
    /// By type
    Type,
}

impl OrderArgument {
    /// Returns the order of the request, and whether to read from the end.
    pub(super) const fn request(self) -> (HistoryOrder, bool) {
        match self {
            Self::Newest => (HistoryOrder::Time, false),
            Self::Oldest => (HistoryOrder::Time, true),
            Self::Status => (HistoryOrder::Status, false),
            Self::Type => (HistoryOrder::Type, false),
        }
    }
}

/// Parses the beginning of a day in UTC, in milliseconds since the Unix epoch.
pub(super) fn date(text: &str) -> Result<u64, String> {
    parsed_date(text).ok_or_else(|| "expected a date such as 2026-01-31".to_owned())
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
