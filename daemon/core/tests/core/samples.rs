//! Valid parameters for each activity type, used by the authority table and the tests of outcomes. Add an arm
//! here for each new kind.

use quorate_common::ids::{OrganizationId, UserId};
use serde_json::{Value, json};

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
    let name = activity_type.trim_start_matches("ACTIVITY_TYPE_");
    let digest = "ab".repeat(32);
    let raw = |with: &str, value: &str| {
        json!({with: value, "payload": digest, "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
            "hashFunction": "HASH_FUNCTION_NO_OP"})
    };
    match name {
        "ACCEPT_INVITATION" => json!({"invitationId": fixture.invitation, "userId": fixture.invited.user,
            "authenticator": authenticator_v1("guest", fixture.invited.user)}),
        "ACCEPT_INVITATION_V2" => json!({"invitationId": fixture.invitation, "userId": fixture.invited.user,
            "authenticator": authenticator("guest")}),
        "ACTIVATE_BILLING_TIER" => json!({"productId": "product"}),
        "APPROVE_ACTIVITY" | "REJECT_ACTIVITY" => json!({"fingerprint": fixture.waiting}),
        "CREATE_API_KEYS" => json!({"userId": subject.user, "apiKeys": [key(30)]}),
        "CREATE_API_KEYS_V2" => json!({"userId": subject.user, "apiKeys": [key_v2(30)]}),
        "CREATE_API_ONLY_USERS" => {
            json!({"apiOnlyUsers": [{"userName": "machine", "apiKeys": [key(30)], "userTags": []}]})
        }
        "CREATE_AUTHENTICATORS" => {
            json!({"userId": subject.user, "authenticators": [authenticator_v1("fresh", subject.user)]})
        }
        "CREATE_AUTHENTICATORS_V2" => {
            json!({"userId": subject.user, "authenticators": [authenticator("fresh")]})
        }
        "CREATE_ORGANIZATION" => json!({"organizationName": "new", "rootEmail": "registrant@new.example",
            "rootAuthenticator": authenticator_v1("registrant", fixture.registrant.user), "rootUserId": fixture.registrant.user}),
        "CREATE_ORGANIZATION_V2" => json!({"organizationName": "new", "rootEmail": "registrant@new.example",
            "rootAuthenticator": authenticator("registrant"), "rootUserId": fixture.registrant.user}),
        "CREATE_INVITATIONS" => json!({"invitations": [{"receiverUserName": "fresh",
            "receiverUserEmail": "fresh@house.example", "receiverUserTags": [fixture.user_tag],
            "accessType": "ACCESS_TYPE_ALL", "senderUserId": fixture.roots[0].user}]}),
        "CREATE_OAUTH_PROVIDERS_V2" => {
            json!({"userId": subject.user, "oauthProviders": [provider("fresh")]})
        }
        "CREATE_POLICIES" => json!({"policies": [policy("one"), policy("two")]}),
        "CREATE_POLICY" => {
            json!({"policyName": "policy", "effect": "EFFECT_DENY", "notes": "", "selectors": [
            {"subject": "activity.kind", "operator": "OPERATOR_EQUAL", "target": "CREATE_WALLET"}]})
        }
        "CREATE_POLICY_V2" => {
            json!({"policyName": "policy", "effect": "EFFECT_DENY", "notes": "", "selectors": [
            {"subject": "user.id", "operator": "OPERATOR_IN", "targets": [subject.user, fixture.user.user]},
            {"subject": "activity.kind", "operator": "OPERATOR_EQUAL", "targets": ["CREATE_WALLET"]}]})
        }
        "CREATE_POLICY_V3" => policy("policy"),
        "CREATE_PRIVATE_KEY_TAG" => {
            json!({"privateKeyTagName": "fresh", "privateKeyIds": [fixture.private_key]})
        }
        "CREATE_PRIVATE_KEYS" | "CREATE_PRIVATE_KEYS_V2" => json!({"privateKeys": [private_key("fresh")]}),
        "CREATE_SESSION_PROFILE" => json!({"sessionProfileName": "fresh", "expirationSeconds": "600",
            "scope": "activity.kind == 'CREATE_WALLET'", "notes": "notes"}),
        "CREATE_SMART_CONTRACT_INTERFACE" => json!({
            "smartContractAddress": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "label": "fresh",
            "smartContractInterface": "{\"instructions\":[],\"types\":[]}", "notes": "notes",
            "type": "SMART_CONTRACT_INTERFACE_TYPE_SOLANA"}),
        "CREATE_WEBHOOK_ENDPOINT" => json!({"url": "https://hooks.example.org/fresh", "name": "fresh",
            "subscriptions": [{"eventType": "ACTIVITY_UPDATES", "filtersJson": "{}"}]}),
        "UPDATE_WEBHOOK_ENDPOINT" => {
            json!({"endpointId": fixture.endpoint, "name": "fresh", "isActive": false})
        }
        "DELETE_WEBHOOK_ENDPOINT" => json!({"endpointId": fixture.endpoint}),
        "DELETE_INVITATION" => json!({"invitationId": fixture.invitation}),
        "DELETE_ORGANIZATION" => json!({"organizationId": fixture.bare.home}),
        "DELETE_PAYMENT_METHOD" => json!({"paymentMethodId": "method"}),
        "DELETE_SMART_CONTRACT_INTERFACE" => json!({"smartContractInterfaceId": fixture.interface}),
        "DELETE_SUB_ORGANIZATION" => json!({"deleteWithoutExport": true}),
        "REMOVE_IP_ALLOWLIST" => json!({"publicKey": public_key(13)}),
        "SET_IP_ALLOWLIST" => {
            json!({"rules": [{"cidr": "192.0.2.7"}, {"cidr": "2001:db8::/48", "label": "office"}],
            "enabled": false, "onEvaluationError": "ALLOW"})
        }
        "SET_PAYMENT_METHOD" => {
            json!({"number": CARD, "cvv": "917", "expiryMonth": "12", "expiryYear": "2030",
            "cardHolderName": "Holder", "cardHolderEmail": "holder@house.example"})
        }
        "SET_PAYMENT_METHOD_V2" => json!({"paymentMethodId": "fresh", "cardHolderName": "Holder",
            "cardHolderEmail": "holder@house.example"}),
        "CREATE_SUB_ORGANIZATION" => json!({"name": "new", "rootAuthenticator": authenticator("new")}),
        "CREATE_SUB_ORGANIZATION_V2" => child(&key(30), None),
        "CREATE_SUB_ORGANIZATION_V3" => child(&key(30), Some(("privateKeys", json!([private_key("fresh")])))),
        "CREATE_SUB_ORGANIZATION_V4" | "CREATE_SUB_ORGANIZATION_V5" => {
            child(&key(30), Some(("wallet", wallet("fresh"))))
        }
        "CREATE_SUB_ORGANIZATION_V6" | "CREATE_SUB_ORGANIZATION_V7" | "CREATE_SUB_ORGANIZATION_V8" => {
            child(&key_v2(30), Some(("wallet", wallet("fresh"))))
        }
        "CREATE_USERS" => {
            json!({"users": [{"userName": "new", "accessType": "ACCESS_TYPE_API", "apiKeys": [key(30)],
            "authenticators": [], "userTags": []}]})
        }
        "CREATE_USERS_V2" => {
            json!({"users": [{"userName": "new", "apiKeys": [key(30)], "authenticators": [], "userTags": []}]})
        }
        "CREATE_USERS_V3" | "CREATE_USERS_V4" => {
            json!({"users": [{"userName": "new", "apiKeys": [key_v2(30)],
            "authenticators": [], "oauthProviders": [], "userTags": []}]})
        }
        "CREATE_USER_TAG" => json!({"userTagName": "fresh", "userIds": [subject.user]}),
        "CREATE_WALLET" => wallet("fresh"),
        "UPDATE_WALLET" => json!({"walletId": fixture.wallet.0, "walletName": "fresh"}),
        "CREATE_WALLET_ACCOUNTS" => json!({"walletId": fixture.wallet.0, "accounts": [
            account("m/44'/60'/0'/0/1", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM"),
            account("m/44'/501'/0'/0'", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
        ]}),
        "DELETE_API_KEYS" => json!({"userId": subject.user, "apiKeyIds": [subject.keys[1]]}),
        "DELETE_AUTHENTICATORS" => {
            json!({"userId": subject.user, "authenticatorIds": [subject.authenticator]})
        }
        "DELETE_OAUTH_PROVIDERS" => json!({"userId": subject.user, "providerIds": [subject.provider]}),
        "DELETE_POLICIES" => json!({"policyIds": [fixture.policy]}),
        "DELETE_POLICY" => json!({"policyId": fixture.policy}),
        "DELETE_PRIVATE_KEYS" => {
            json!({"privateKeyIds": [fixture.private_key], "deleteWithoutExport": true})
        }
        "DELETE_WALLET_ACCOUNTS" => {
            json!({"walletAccountIds": [fixture.account], "deleteWithoutExport": true})
        }
        "EXPORT_PRIVATE_KEY" => {
            json!({"privateKeyId": fixture.private_key, "targetPublicKey": public_key(30)})
        }
        "DELETE_SECRETS" => json!({"secretIds": [fixture.secret]}),
        "EXPORT_SECRETS" => {
            json!({"secrets": [{"secretId": fixture.secret, "targetPublicKey": public_key(30),
            "encryptionSuite": SUITE, "requestContext": [{"key": "reason", "value": "release"}]}]})
        }
        "IMPORT_SECRETS" => {
            let mut secret = fixture.sealed_secret.clone();
            secret["name"] = json!("fresh");
            secret["staticProperties"] = json!([{"key": "env", "value": "test"}]);
            json!({"secrets": [secret]})
        }
        "INIT_IMPORT_SECRETS" => json!({"encryptionSuite": SUITE, "numSecrets": 2}),
        "EXPORT_WALLET" => json!({"walletId": fixture.wallet.0, "targetPublicKey": public_key(30),
            "language": "MNEMONIC_LANGUAGE_SPANISH"}),
        "EXPORT_WALLET_ACCOUNT" => json!({"address": fixture.wallet.1, "targetPublicKey": public_key(30)}),
        "IMPORT_PRIVATE_KEY" => json!({"userId": fixture.roots[0].user, "privateKeyName": "fresh",
            "encryptedBundle": fixture.bundles[1], "curve": "CURVE_ED25519",
            "addressFormats": ["ADDRESS_FORMAT_SOLANA"]}),
        "IMPORT_WALLET" => json!({"userId": fixture.roots[0].user, "walletName": "fresh",
            "encryptedBundle": fixture.bundles[0],
            "accounts": [account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]}),
        "INIT_IMPORT_PRIVATE_KEY" | "INIT_IMPORT_WALLET" => json!({"userId": fixture.roots[0].user}),
        "DISABLE_PRIVATE_KEY" => json!({"privateKeyId": fixture.private_key}),
        "DELETE_PRIVATE_KEY_TAGS" => json!({"privateKeyTagIds": [fixture.private_key_tag]}),
        "DELETE_USER_TAGS" => json!({"userTagIds": [fixture.user_tag]}),
        "DELETE_WALLETS" => json!({"walletIds": [fixture.wallet.0], "deleteWithoutExport": true}),
        "DELETE_USERS" => json!({"userIds": [fixture.spare.user]}),
        "REMOVE_ORGANIZATION_FEATURE" => json!({"name": "FEATURE_NAME_WEBHOOK"}),
        "SET_ORGANIZATION_FEATURE" => json!({"name": "FEATURE_NAME_EMAIL_AUTH"}),
        "SIGN_RAW_PAYLOAD" => raw("privateKeyId", &fixture.private_key),
        "SIGN_RAW_PAYLOAD_V2" => raw("signWith", &fixture.wallet.1),
        "SIGN_RAW_PAYLOADS" => json!({"signWith": fixture.wallet.1, "payloads": [digest, "cd".repeat(32)],
            "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}),
        "SIGN_TRANSACTION" => {
            json!({"privateKeyId": fixture.private_key, "unsignedTransaction": UNSIGNED, "type": "TRANSACTION_TYPE_ETHEREUM"})
        }
        "SIGN_TRANSACTION_V2" => {
            json!({"signWith": fixture.wallet.1, "unsignedTransaction": UNSIGNED, "type": "TRANSACTION_TYPE_ETHEREUM"})
        }
        "UPDATE_ALLOWED_ORIGINS" => {
            json!({"allowedOrigins": ["https://house.example", "http://localhost:3000"]})
        }
        "UPDATE_WALLET_ACCOUNT_NAME" => json!({"walletAccountId": fixture.account, "name": "fresh"}),
        "UPDATE_ORGANIZATION_NAME" => json!({"organizationName": "fresh"}),
        "UPDATE_POLICY" | "UPDATE_POLICY_V2" => {
            json!({"policyId": fixture.policy, "policyName": "fresh", "policyCondition": "true"})
        }
        "UPDATE_PRIVATE_KEY_TAG" => json!({"privateKeyTagId": fixture.private_key_tag,
            "newPrivateKeyTagName": "fresh", "addPrivateKeyIds": [], "removePrivateKeyIds": [fixture.private_key]}),
        "UPDATE_USER" => json!({"userId": fixture.spare.user, "userName": "fresh",
            "userEmail": "fresh@house.example", "userTagIds": [fixture.user_tag]}),
        "UPDATE_USER_EMAIL" => json!({"userId": fixture.spare.user, "userEmail": "fresh@house.example"}),
        "UPDATE_USER_NAME" => json!({"userId": fixture.spare.user, "userName": "fresh"}),
        "UPDATE_USER_PHONE_NUMBER" => {
            json!({"userId": fixture.spare.user, "userPhoneNumber": "+4915112345678"})
        }
        "UPDATE_USER_TAG" => json!({"userTagId": fixture.user_tag, "newUserTagName": "fresh",
            "addUserIds": [fixture.user.user], "removeUserIds": [fixture.spare.user]}),
        "UPDATE_ROOT_QUORUM" => {
            json!({"threshold": 2, "userIds": fixture.roots.each_ref().map(|root| root.user)})
        }
        _ => panic!("{activity_type} has no sample parameters: add an arm here"),
    }
}

/// Encryption suite of secrets in transit.
pub(crate) const SUITE: &str = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1";

/// Card number for tests that no bank issues.
pub(crate) const CARD: &str = "4242424242421881";

/// Returns who may do this, and in which organization: for most kinds a root user of the fixture.
pub(crate) fn stage(activity_type: &str, fixture: &Fixture) -> (Person, OrganizationId) {
    match activity_type.trim_start_matches("ACTIVITY_TYPE_") {
        "ACCEPT_INVITATION" | "ACCEPT_INVITATION_V2" => (fixture.invited.clone(), fixture.id),
        "CREATE_ORGANIZATION" | "CREATE_ORGANIZATION_V2" => (fixture.registrant.clone(), fixture.id),
        "DELETE_ORGANIZATION" => (fixture.bare.clone(), fixture.bare.home),
        "DELETE_SUB_ORGANIZATION" => (fixture.child.clone(), fixture.child.home),
        _ => (fixture.roots[0].clone(), fixture.id),
    }
}

fn key(number: u32) -> Value {
    json!({"apiKeyName": "new key", "publicKey": public_key(number)})
}

fn key_v2(number: u32) -> Value {
    json!({"apiKeyName": "new key", "publicKey": public_key(number), "curveType": "API_KEY_CURVE_P256"})
}

/// Returns an authenticator in the current format.
pub(crate) fn authenticator(name: &str) -> Value {
    Passkey::of(name).registration()
}

/// Returns an authenticator in the original format.
fn authenticator_v1(name: &str, user: UserId) -> Value {
    Passkey::of(name).registration_v1(json!(user))
}

/// Returns an OAuth identity given by its claims.
pub(crate) fn provider(subject: &str) -> Value {
    json!({"providerName": "issuer",
        "oidcClaims": {"iss": "https://issuer.example", "aud": "audience", "sub": subject}})
}

fn policy(name: &str) -> Value {
    json!({"policyName": name, "effect": "EFFECT_ALLOW", "condition": "activity.kind == 'CREATE_WALLET'",
        "consensus": "approvers.count() >= 1", "notes": ""})
}

fn private_key(name: &str) -> Value {
    json!({"privateKeyName": name, "curve": "CURVE_SECP256K1", "privateKeyTags": [],
        "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]})
}

fn wallet(name: &str) -> Value {
    json!({"walletName": name, "accounts": [account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]})
}

fn child(key: &Value, more: Option<(&str, Value)>) -> Value {
    let user = json!({"userName": "root", "apiKeys": [key], "authenticators": [], "oauthProviders": []});
    let mut child = json!({"subOrganizationName": "new", "rootUsers": [user], "rootQuorumThreshold": 1});
    if let Some((member, value)) = more {
        child[member] = value;
    }
    child
}
