//! What an organization is made of: plain values that cannot be wrong, their stored form and where each
//! stands in the store.

pub mod activity;
pub mod change;
pub mod feature;
pub mod layout;
pub mod organization;
mod packed;
pub mod policy;
pub mod private_key;
pub mod record;
pub mod tag;
pub mod user;
pub mod wallet;

pub use activity::{ActivityRecord, VoteRecord};
pub use change::Change;
pub use feature::FeatureName;
pub use organization::{Organization, RootQuorum};
pub use policy::{Effect, Policy};
pub use private_key::PrivateKey;
pub use tag::{Tag, TagKind};
pub use user::{ApiKey, Authenticator, OauthProvider, User};
pub use wallet::{Wallet, WalletAccount};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = u64;
