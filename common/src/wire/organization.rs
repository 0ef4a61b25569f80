//! Organizations with all their records, as the console reads them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Feature, Invitation, InvitationMail, IpAllowlist, LastUse, Oauth2Credential, PaymentMethod, Policy,
    PrivateKey, Quorum, ReadOnlySession, Secret, SessionProfile, SmartContractInterface, Tag, Timestamp,
    User, Wallet, WalletAccount, WebhookEndpoint,
};
use crate::ids::{OrganizationId, UserId, WalletAccountId};

/// Summary of an organization, as it appears in a list.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationHead {
    /// Unique id of the organization.
    pub organization_id: OrganizationId,
    /// Display name.
    pub organization_name: String,
    /// Parent organization; absent for a top-level organization.
    pub parent_organization_id: Option<OrganizationId>,
    /// Version number that increases with every change of the organization.
    pub version: u64,
    /// Members and threshold of the root quorum.
    pub root_quorum: Quorum,
    /// Whether anybody could create the organization: it was registered over the API, or is a sub-organization of such an
    /// organization. Absent if not.
    pub registered: Option<bool>,
    /// Whether the configuration of the daemon trusts the registered organization. Present only for registered ones, where the
    /// daemon states it.
    pub trusted: Option<bool>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl OrganizationHead {
    /// Returns how the organization was created, if anybody could do that.
    pub const fn registration(&self) -> Option<&'static str> {
        match (self.registered, self.trusted) {
            (Some(true), Some(true)) => Some("registered, trusted"),
            (Some(true), _) => Some("registered"),
            _ => None,
        }
    }
}

/// A page of organizations.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationPage {
    /// Organizations in order of creation.
    pub organizations: Vec<OrganizationHead>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<OrganizationId>,
}

/// An organization with all its collections of bounded size, read in one snapshot.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationDetail {
    /// Summary: id, name, version and root quorum.
    #[serde(flatten)]
    pub head: OrganizationHead,
    /// Users with their credentials.
    pub users: Vec<User>,
    /// Wallets without their accounts, which have pages of their own.
    pub wallets: Vec<Wallet>,
    /// Private keys, without their secrets.
    pub private_keys: Vec<PrivateKey>,
    /// Tags of users and of private keys.
    pub tags: Vec<Tag>,
    /// Policies with their expressions.
    pub policies: Vec<Policy>,
    /// Enabled features.
    pub features: Vec<Feature>,
    /// Invitations to become a user.
    #[serde(default)]
    pub invitations: Vec<Invitation>,
    /// Endpoints that receive webhooks.
    #[serde(default)]
    pub webhook_endpoints: Vec<WebhookEndpoint>,
    /// Session profiles, which restrict sessions.
    #[serde(default)]
    pub session_profiles: Vec<SessionProfile>,
    /// Interfaces of smart contracts, without their JSON text.
    #[serde(default)]
    pub smart_contract_interfaces: Vec<SmartContractInterface>,
    /// Imported secrets, without their values.
    #[serde(default)]
    pub secrets: Vec<Secret>,
    /// Credentials of applications at OAuth 2.0 providers.
    #[serde(default)]
    pub oauth2_credentials: Vec<Oauth2Credential>,
    /// IP allowlists of the organization and of its API keys.
    #[serde(default)]
    pub ip_allowlists: Vec<IpAllowlist>,
    /// Payment method; absent if none is set.
    pub payment_method: Option<PaymentMethod>,
    /// Product of the activated billing tier; absent if none was activated.
    pub billing_tier: Option<String>,
    /// Read-only sessions of all users. Their tokens are stored nowhere.
    #[serde(default)]
    pub read_only_sessions: Vec<ReadOnlySession>,
    /// When credentials were last used; those that were never used, or not since this was recorded, are missing.
    #[serde(default)]
    pub last_uses: Vec<LastUse>,
    /// What became of the mails with open invitations, as far as it is recorded.
    #[serde(default)]
    pub invitation_mails: Vec<InvitationMail>,
    /// User in whose name the authentication proxy stamps requests; absent if it is not enabled.
    pub auth_proxy_user_id: Option<UserId>,
}

impl OrganizationDetail {
    /// Creates an organization without objects.
    pub const fn of(head: OrganizationHead) -> Self {
        Self {
            head,
            users: Vec::new(),
            wallets: Vec::new(),
            private_keys: Vec::new(),
            tags: Vec::new(),
            policies: Vec::new(),
            features: Vec::new(),
            invitations: Vec::new(),
            webhook_endpoints: Vec::new(),
            session_profiles: Vec::new(),
            smart_contract_interfaces: Vec::new(),
            secrets: Vec::new(),
            oauth2_credentials: Vec::new(),
            ip_allowlists: Vec::new(),
            payment_method: None,
            billing_tier: None,
            read_only_sessions: Vec::new(),
            last_uses: Vec::new(),
            invitation_mails: Vec::new(),
            auth_proxy_user_id: None,
        }
    }

    /// Returns the name of the object with this id, if policies can name it.
    pub fn name_of(&self, id: &str) -> Option<&str> {
        let credentials = self.users.iter().flat_map(|user| {
            let keys = user.api_keys.iter().map(|one| (one.api_key_id.to_string(), &one.api_key_name));
            let passkeys = user.authenticators.iter();
            keys.chain(passkeys.map(|one| (one.authenticator_id.to_string(), &one.authenticator_name)))
        });
        let users = self.users.iter().map(|one| (one.user_id.to_string(), &one.user_name));
        let tags = self.tags.iter().map(|one| (one.tag_id.to_string(), &one.tag_name));
        let wallets = self.wallets.iter().map(|one| (one.wallet_id.to_string(), &one.wallet_name));
        let keys =
            self.private_keys.iter().map(|one| (one.private_key_id.to_string(), &one.private_key_name));
        let endpoints = self.webhook_endpoints.iter().map(|one| (one.endpoint_id.to_string(), &one.name));
        let profiles = self.session_profiles.iter();
        let profiles = profiles.map(|one| (one.session_profile_id.to_string(), &one.session_profile_name));
        let mut named =
            users.chain(tags).chain(wallets).chain(keys).chain(endpoints).chain(profiles).chain(credentials);
        named.find(|(known, _)| known == id).map(|(_, name)| name.as_str())
    }
}

/// A page of wallet accounts.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountPage {
    /// Accounts in order of creation.
    pub accounts: Vec<WalletAccount>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<WalletAccountId>,
}
