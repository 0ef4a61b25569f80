//! The model in the format of the wire, without times. Lists are in a fixed order, because the wire
//! guarantees none.

use serde_json::{Value, json};

use super::activities::{Activity, Vote};
use super::mfa::MfaPolicy;
use super::world::{Account, ApiKey, Authenticator, Organization, Policy, PrivateKey, Provider};
use super::world::{Tag, Tagged, User, Wallet};

mod settings;

pub(super) use settings::{
    allowlist, contract_interface, contract_interfaces, contract_references, invitations,
};
pub(super) use settings::{
    session_profile, session_profiles, subscription, webhook_endpoint, webhook_endpoints,
};

/// Sorts a list of objects or texts.
pub(super) fn sort(value: &mut Value) {
    if let Value::Array(items) = value {
        items.sort_by_cached_key(Value::to_string);
    }
}

/// Returns a sorted list.
pub(super) fn sorted(items: impl Iterator<Item = Value>) -> Value {
    let mut list = items.collect();
    sort(&mut list);
    list
}

/// Returns the features: names with values.
pub(super) fn features(organization: &Organization) -> Value {
    sorted(organization.features.iter().map(|(name, value)| match value {
        Some(value) => json!({ "name": name, "value": value }),
        None => json!({ "name": name }),
    }))
}

/// Returns the root quorum: threshold and members.
pub(super) fn quorum(organization: &Organization) -> Value {
    json!({ "threshold": organization.threshold, "userIds": organization.members })
}

pub(super) fn users(organization: &Organization) -> Value {
    sorted(organization.users.iter().map(user))
}

pub(super) fn user(user: &User) -> Value {
    let mut view = json!({
        "userId": user.id,
        "userName": user.name,
        "userTags": user.tags,
        "apiKeys": sorted(user.api_keys.iter().map(api_key)),
        "authenticators": sorted(user.authenticators.iter().map(authenticator)),
        "oauthProviders": sorted(user.providers.iter().map(provider)),
        "mfaPolicies": mfa_policies(user),
    });
    if let Some(email) = &user.email {
        view["userEmail"] = json!(email);
    }
    if let Some(phone) = &user.phone {
        view["userPhoneNumber"] = json!(phone);
    }
    view
}

pub(super) fn mfa_policies(user: &User) -> Value {
    sorted(user.mfa_policies.iter().map(MfaPolicy::json))
}

pub(super) fn api_key(key: &ApiKey) -> Value {
    let credential_type = format!("CREDENTIAL_TYPE_API_KEY_{}", key.curve);
    let mut view = json!({
        "apiKeyId": key.id,
        "apiKeyName": key.name,
        "credential": { "publicKey": key.public_key, "type": credential_type },
    });
    if let Some(seconds) = key.life_seconds {
        view["expirationSeconds"] = json!(seconds.to_string());
    }
    view
}

pub(super) fn authenticator(authenticator: &Authenticator) -> Value {
    let transports = authenticator.transports.iter().map(|name| format!("AUTHENTICATOR_TRANSPORT_{name}"));
    json!({
        "authenticatorId": authenticator.id,
        "authenticatorName": authenticator.name,
        "credentialId": authenticator.credential,
        "transports": sorted(transports.map(Value::from)),
        "aaguid": "AAAAAAAAAAAAAAAAAAAAAA",
        "attestationType": "none",
        "model": "Security key",
        "credential": { "publicKey": authenticator.public_key, "type": "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR" },
    })
}

pub(super) fn provider(provider: &Provider) -> Value {
    json!({
        "providerId": provider.id,
        "providerName": provider.name,
        "issuer": provider.issuer,
        "audience": provider.audience,
        "subject": provider.subject,
    })
}

/// Returns the tags that satisfy a condition.
pub(super) fn tags(organization: &Organization, is_wanted: impl Fn(&Tag) -> bool) -> Value {
    let view = |tag: &Tag| {
        let tag_type = match tag.tagged {
            Tagged::Users => "TAG_TYPE_USER",
            Tagged::PrivateKeys => "TAG_TYPE_PRIVATE_KEY",
        };
        json!({ "tagId": tag.id, "tagName": tag.name, "tagType": tag_type })
    };
    sorted(organization.tags.iter().filter(|tag| is_wanted(tag)).map(view))
}

pub(super) fn private_keys(organization: &Organization) -> Value {
    sorted(organization.private_keys.iter().map(private_key))
}

/// Returns a private key. Nothing is ever exported or imported here.
pub(super) fn private_key(key: &PrivateKey) -> Value {
    let addresses = key.formats.iter().zip(key.addresses.iter().flatten());
    let addresses = addresses
        .map(|(format, address)| json!({ "format": format!("ADDRESS_FORMAT_{format}"), "address": address }));
    json!({
        "privateKeyId": key.id,
        "privateKeyName": key.name,
        "curve": format!("CURVE_{}", key.curve),
        "publicKey": key.public_key,
        "addresses": sorted(addresses),
        "privateKeyTags": key.tags,
        "exported": false,
        "imported": false,
    })
}

pub(super) fn wallets(organization: &Organization) -> Value {
    sorted(organization.wallets.iter().map(wallet))
}

pub(super) fn wallet(wallet: &Wallet) -> Value {
    json!({ "walletId": wallet.id, "walletName": wallet.name, "exported": false, "imported": false })
}

/// Returns the accounts of one wallet or of all.
pub(super) fn accounts(organization: &Organization, wallet: Option<&str>) -> Value {
    let accounts = organization.accounts.iter();
    let accounts = accounts.filter(|account| wallet.is_none_or(|id| account.wallet == id));
    sorted(accounts.map(|one| account(organization, one)))
}

pub(super) fn account(organization: &Organization, account: &Account) -> Value {
    let mut view = json!({
        "walletAccountId": account.id,
        "organizationId": organization.id,
        "walletId": account.wallet,
        "curve": format!("CURVE_{}", account.derivation.curve),
        "pathFormat": "PATH_FORMAT_BIP32",
        "path": account.derivation.path,
        "addressFormat": format!("ADDRESS_FORMAT_{}", account.derivation.format),
        "address": account.address,
        "publicKey": account.public_key,
    });
    if let Some(name) = &account.name {
        view["name"] = json!(name);
    }
    view
}

pub(super) fn policies(organization: &Organization) -> Value {
    sorted(organization.policies.iter().map(policy))
}

pub(super) fn policy(policy: &Policy) -> Value {
    json!({
        "policyId": policy.id,
        "policyName": policy.name,
        "effect": if policy.is_denial { "EFFECT_DENY" } else { "EFFECT_ALLOW" },
        "condition": policy.condition.text(),
        "consensus": policy.consensus.text(),
        "notes": policy.notes,
    })
}

/// Returns an activity as seen by a user who may vote or not.
pub(super) fn activity(activity: &Activity, organization: &str, may_vote: bool, has_voted: bool) -> Value {
    let is_open = may_vote && activity.status.waits();
    json!({
        "id": activity.id,
        "organizationId": organization,
        "type": activity.activity_type(),
        "status": activity.status.name(),
        "fingerprint": activity.fingerprint(),
        "result": activity.result,
        "failure": activity.failure,
        "votes": activity.votes.iter().map(vote).collect::<Vec<_>>(),
        "canApprove": is_open && !has_voted,
        "canReject": is_open,
    })
}

fn vote(vote: &Vote) -> Value {
    let selection = if vote.is_approval { "VOTE_SELECTION_APPROVED" } else { "VOTE_SELECTION_REJECTED" };
    json!({ "userId": vote.user, "publicKey": vote.public_key, "selection": selection })
}
