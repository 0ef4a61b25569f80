//! The data model of an organization: plain values that are valid by construction, their stored form, and
//! their keys in the store. The table at the end lists the records of a snapshot.

#[macro_use]
mod table;

pub mod activity;
pub mod attestation;
pub mod billing;
pub mod change;
pub mod collection;
mod contents;
pub mod delivery;
pub mod feature;
pub mod import_target;
pub mod invitation;
pub mod ip_allowlist;
pub mod last_use;
pub mod layout;
pub mod message_event;
pub mod mfa_policy;
pub mod oauth2_credential;
pub mod one_time_code;
pub mod organization;
mod packed;
pub mod policy;
pub mod private_key;
mod purpose;
pub mod queued_message;
pub mod record;
mod redaction;
pub mod secret;
pub mod session_profile;
pub mod smart_contract_interface;
pub mod tag;
pub mod user;
pub mod wallet;
pub mod webhook_endpoint;
pub mod write;

pub use activity::{ActivityRecord, VoteRecord};
pub use attestation::{AttestedProof, ProvenIdentity};
pub use billing::PaymentMethod;
pub use change::Change;
pub use collection::{AnyRecord, Collection, RecordClass, RecordId, SnapshotRecord};
pub use contents::{ContentsDigest, RecordDigest};
pub use feature::{FeatureName, origins};
pub use import_target::ImportTarget;
pub use invitation::{Invitation, InvitationStatus};
pub use ip_allowlist::{IpAllowlist, IpRule};
pub use mfa_policy::{MfaPolicy, MfaSteps};
pub use oauth2_credential::Oauth2Credential;
pub use organization::{Organization, RootQuorum};
pub use policy::{Effect, Policy};
pub use private_key::PrivateKey;
pub use purpose::{IMPORT_TARGETS, Purpose, SECRET_TARGETS};
pub use secret::Secret;
pub use session_profile::SessionProfile;
pub use smart_contract_interface::{InterfaceText, SmartContractInterface};
pub use tag::{Tag, TagKind};
pub use user::{ApiKey, Authenticator, OauthProvider, Passkey, User};
pub use wallet::{Wallet, WalletAccount};
pub use webhook_endpoint::WebhookEndpoint;

pub use crate::evaluation::Evaluation;

use layout::Class;
use quorate_common::console::OrganizationDetail;
use quorate_common::ids::{
    EndpointId, InvitationId, Oauth2CredentialId, OrganizationId, PrivateKeyId, SecretId, SessionProfileId,
    SmartContractInterfaceId, TagId, WalletId,
};
use record::Record;
use serde::Serialize;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = u64;

// The letter of a class is never used for another one, not even after a class was removed.
records! {
    /// Wallets, without their accounts.
    wallets: Wallet, "wallet", WalletId, Class::WALLET, 100, |one, _| one.wire();
    /// Private keys.
    private_keys: PrivateKey, "private key", PrivateKeyId, Class::PRIVATE_KEY, 1000, |one, _| one.wire();
    /// Tags of users and of private keys.
    tags: Tag, "tag", TagId, Class(b't'), 100, |one, _| one.wire();
    /// Invitations, including accepted and revoked ones, of which the oldest are replaced.
    invitations: Invitation, "invitation", InvitationId, Class(b'i'), 100, |one, _| one.wire();
    /// Endpoints that receive webhooks.
    webhook_endpoints: WebhookEndpoint, "webhook endpoint", EndpointId, Class(b'h'), 10, WebhookEndpoint::wire;
    /// Imported secrets, without their values.
    secrets: Secret, "secret", SecretId, Class::SECRET, 1000, |one, _| one.wire();
    /// Profiles that restrict sessions.
    session_profiles: SessionProfile, "session profile", SessionProfileId, Class(b's'), 100, |one, _| one.wire();
    /// Interfaces of smart contracts, without their texts.
    smart_contract_interfaces: SmartContractInterface, "smart contract interface", SmartContractInterfaceId,
        Class(b'c'), 100,
        |one, organization| one.wire(organization, InterfaceText::default());
    /// Credentials of applications at OAuth 2.0 providers.
    oauth2_credentials: Oauth2Credential, "oauth2 credential", Oauth2CredentialId, Class(b'a'), 20,
        Oauth2Credential::wire;
}

impl Default for RecordLimits {
    fn default() -> Self {
        Self::read(|_, default| default)
    }
}
