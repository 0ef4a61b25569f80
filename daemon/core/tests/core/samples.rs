//! Valid parameters for each activity type, and the values that they consist of. The parameters themselves are
//! defined together with the expected errors of their type.

use quorate_common::ids::{OrganizationId, UserId};
use serde_json::{Value, json};

use crate::errors;
use crate::fixture::{Fixture, Person, account, public_key};
use crate::passkey::Passkey;

/// The sample transaction of EIP-155: one ether, on the main network.
pub(crate) const UNSIGNED: &str =
    "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";

/// An EIP-7702 authorization, on the main network.
pub(crate) const AUTHORIZATION: &str =
    r#"{"address":"0x3535353535353535353535353535353535353535","chainId":1,"nonce":"0x0"}"#;

/// Returns valid parameters. For types that change credentials of a user, the user is `subject`.
pub(crate) fn parameters(activity_type: &str, fixture: &Fixture, subject: &Person) -> Value {
    let sample = errors::sample(activity_type.trim_start_matches("ACTIVITY_TYPE_"), fixture, subject);
    sample.unwrap_or_else(|| panic!("{activity_type} has no sample parameters: add an arm in errors/"))
}

/// Encryption suite of secrets in transit.
pub(crate) const SUITE: &str = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1";

/// Card number for tests that no bank issues.
pub(crate) const CARD: &str = "4242424242421881";

/// Returns the parts of the sample of a type that must not be stored.
pub(crate) fn secrets(activity_type: &str, fixture: &Fixture) -> Vec<String> {
    let sample = parameters(activity_type, fixture, &fixture.spare);
    let members = [
        "number",
        "otpCode",
        "encryptedOtpBundle",
        "verificationToken",
        "oidcToken",
        "authCode",
        "codeVerifier",
    ];
    let top = members.iter().filter_map(|name| sample[name].as_str());
    let providers = sample["oauthProviders"].as_array().into_iter().flatten();
    top.chain(providers.filter_map(|one| one["oidcToken"].as_str())).map(str::to_owned).collect()
}

/// Returns who may do this, and in which organization: for most kinds a root user of the fixture.
pub(crate) fn stage(activity_type: &str, fixture: &Fixture) -> (Person, OrganizationId) {
    match activity_type.trim_start_matches("ACTIVITY_TYPE_") {
        "ACCEPT_INVITATION" | "ACCEPT_INVITATION_V2" => (fixture.invited.clone(), fixture.id),
        "CREATE_ORGANIZATION" | "CREATE_ORGANIZATION_V2" => (fixture.registrant.clone(), fixture.id),
        "DELETE_ORGANIZATION" | "DISABLE_AUTH_PROXY" => (fixture.bare.clone(), fixture.bare.home),
        "RECOVER_USER" => (fixture.recovering.clone(), fixture.id),
        "DELETE_SUB_ORGANIZATION" => (fixture.child.clone(), fixture.child.home),
        _ => (fixture.roots[0].clone(), fixture.id),
    }
}

pub(crate) fn key(number: u32) -> Value {
    json!({"apiKeyName": "new key", "publicKey": public_key(number)})
}

pub(crate) fn key_v2(number: u32) -> Value {
    json!({"apiKeyName": "new key", "publicKey": public_key(number), "curveType": "API_KEY_CURVE_P256"})
}

/// Returns an authenticator in the current format.
pub(crate) fn authenticator(name: &str) -> Value {
    Passkey::of(name).registration()
}

/// Returns an authenticator in the original format.
pub(crate) fn authenticator_v1(name: &str, user: UserId) -> Value {
    Passkey::of(name).registration_v1(json!(user))
}

/// Returns an OAuth identity given by its claims.
pub(crate) fn provider(subject: &str) -> Value {
    json!({"providerName": "issuer",
        "oidcClaims": {"iss": "https://issuer.example", "aud": "audience", "sub": subject}})
}

pub(crate) fn policy(name: &str) -> Value {
    json!({"policyName": name, "effect": "EFFECT_ALLOW", "condition": "activity.kind == 'CREATE_WALLET'",
        "consensus": "approvers.count() >= 1", "notes": ""})
}

pub(crate) fn private_key(name: &str) -> Value {
    json!({"privateKeyName": name, "curve": "CURVE_SECP256K1", "privateKeyTags": [],
        "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]})
}

pub(crate) fn wallet(name: &str) -> Value {
    json!({"walletName": name, "accounts": [account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]})
}

pub(crate) fn child(key: &Value, more: Option<(&str, Value)>) -> Value {
    let user = json!({"userName": "root", "apiKeys": [key], "authenticators": [], "oauthProviders": []});
    let mut child = json!({"subOrganizationName": "new", "rootUsers": [user], "rootQuorumThreshold": 1});
    if let Some((member, value)) = more {
        child[member] = value;
    }
    child
}
