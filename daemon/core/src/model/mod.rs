//! The data model of an organization: plain values that are valid by construction, their stored form, and
//! their keys in the store.

pub mod activity;
pub mod billing;
pub mod change;
pub mod collection;
mod contents;
pub mod delivery;
pub mod feature;
pub mod import_target;
pub mod invitation;
pub mod ip_allowlist;
mod items;
pub mod layout;
pub mod organization;
mod packed;
pub mod policy;
pub mod private_key;
mod purpose;
pub mod record;
pub mod secret;
pub mod session_profile;
pub mod smart_contract_interface;
pub mod tag;
pub mod user;
pub mod wallet;
pub mod webhook_endpoint;
pub mod write;

pub use activity::{ActivityRecord, VoteRecord};
pub use billing::PaymentMethod;
pub use change::Change;
pub use collection::{Collection, SnapshotRecord};
pub use contents::{ContentsDigest, RecordDigest};
pub use feature::{FeatureName, origins};
pub use import_target::ImportTarget;
pub use invitation::{Invitation, InvitationStatus};
pub use ip_allowlist::{IpAllowlist, IpRule};
pub use items::CollectionItem;
pub use organization::{Organization, RootQuorum};
pub use policy::{Effect, Policy};
pub use private_key::PrivateKey;
pub use purpose::Purpose;
pub use secret::Secret;
pub use session_profile::SessionProfile;
pub use smart_contract_interface::{InterfaceText, SmartContractInterface};
pub use tag::{Tag, TagKind};
pub use user::{ApiKey, Authenticator, OauthProvider, Passkey, User};
pub use wallet::{Wallet, WalletAccount};
pub use webhook_endpoint::WebhookEndpoint;

pub use crate::evaluation::Evaluation;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = u64;
