//! Refusals of kinds that change what users, keys and policies are called and grouped by.

use quorate_common::fault::Code;
use serde_json::{Value, json};

use super::{From, Row};
use crate::house::House;
use crate::samples;

/// The rows.
pub(super) fn refusals(house: &House) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound, ResourceExhausted};
    let nobody = "00000000-0000-4000-8000-000000000000";
    let unknown_user = format!("unable to find user {nobody} in organization {}", house.id);
    let root = |name, changes, code, message: &str| -> Row {
        (name, From::Root, changes, code, None, message.to_owned())
    };
    let wrong = |name, changes, message: &str| root(name, changes, InvalidArgument, message);
    let missing =
        |name, changes, noun: &str| root(name, changes, NotFound, &format!("no {noun} found with "));
    let passkey = |credential: &str| json!({"authenticators": [samples::authenticator(credential)]});
    let many = |count: usize| (0..count).map(|number| samples::authenticator(&number.to_string()));
    let policies = |condition: &str| {
        json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "notes": ""},
            {"policyName": "b", "effect": "EFFECT_DENY", "condition": condition, "notes": ""}]})
    };
    let twice = json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "notes": ""},
        {"policyName": "a", "effect": "EFFECT_DENY", "notes": ""}]});
    let unique = "policy label must be unique";
    let twins = |list: &str, credential: Value| {
        let users = ["a", "b"].map(|name| json!({"userName": name, list: [credential]}));
        json!({"users": users})
    };
    let selector = |subject: &str, operator: &str, target: &str| json!({"selectors": [{"subject": subject, "operator": operator, "target": target}]});
    let condition = "invalid policy condition";
    let mut rows = Vec::from([
        missing("UPDATE_USER_TAG", json!({"userTagId": nobody}), "user tag"),
        missing("UPDATE_USER_TAG", json!({"userTagId": house.private_key_tag}), "user tag"),
        root("UPDATE_USER_TAG", json!({"addUserIds": [nobody]}), NotFound, &unknown_user),
        wrong(
            "UPDATE_USER_TAG",
            json!({"addUserIds": [house.spare.user], "removeUserIds": [house.spare.user]}),
            "invalid request body: `removeUserIds` holds an element twice",
        ),
        missing("DELETE_USER_TAGS", json!({"userTagIds": [house.user_tag, nobody]}), "user tag"),
        wrong("DELETE_USER_TAGS", json!({"userTagIds": []}), "invalid request body: `userTagIds` must not"),
        root(
            "CREATE_PRIVATE_KEY_TAG",
            json!({"privateKeyTagName": "tag"}),
            AlreadyExists,
            "private key tag name must be unique",
        ),
        root("CREATE_USER_TAG", json!({"userTagName": "tag"}), AlreadyExists, "user tag name must be unique"),
        missing("CREATE_PRIVATE_KEY_TAG", json!({"privateKeyIds": [nobody]}), "private key"),
        missing("UPDATE_PRIVATE_KEY_TAG", json!({"privateKeyTagId": house.user_tag}), "private key tag"),
        missing("UPDATE_PRIVATE_KEY_TAG", json!({"removePrivateKeyIds": [nobody]}), "private key"),
        missing("DELETE_PRIVATE_KEY_TAGS", json!({"privateKeyTagIds": [house.user_tag]}), "private key tag"),
        root("UPDATE_USER", json!({"userId": nobody}), NotFound, &unknown_user),
        missing("UPDATE_USER", json!({"userTagIds": [house.private_key_tag]}), "user tag"),
        root("UPDATE_USER_NAME", json!({"userId": nobody}), NotFound, &unknown_user),
        wrong("UPDATE_USER_NAME", json!({"userName": ""}), "invalid request body: `parameters.userName`"),
        root("UPDATE_USER_EMAIL", json!({"userId": nobody}), NotFound, &unknown_user),
        root("UPDATE_USER_PHONE_NUMBER", json!({"userId": nobody}), NotFound, &unknown_user),
        wrong(
            "UPDATE_USER_PHONE_NUMBER",
            json!({"userPhoneNumber": "0151"}),
            "invalid request body: `parameters.userPhoneNumber`: expected a phone number in E.164 form",
        ),
        wrong("CREATE_POLICIES", policies("activity.kind =="), condition),
        wrong("CREATE_POLICIES", twice, unique),
        wrong(
            "CREATE_POLICIES",
            json!({"policies": []}),
            "invalid request body: `policies` must not be empty",
        ),
        missing("DELETE_POLICY", json!({"policyId": nobody}), "policy"),
        missing("DELETE_POLICIES", json!({"policyIds": [house.policy, nobody]}), "policy"),
        wrong("UPDATE_ORGANIZATION_NAME", json!({"organizationName": null}), "invalid request body: missing"),
        root("CREATE_AUTHENTICATORS", json!({"userId": nobody}), NotFound, &unknown_user),
        root(
            "CREATE_AUTHENTICATORS_V2",
            passkey("spare"),
            AlreadyExists,
            "credential ID is already registered in this organization",
        ),
        root(
            "CREATE_AUTHENTICATORS_V2",
            json!({"authenticators": many(11).collect::<Vec<_>>()}),
            ResourceExhausted,
            "user has exceeded maximum authenticators",
        ),
        wrong(
            "CREATE_USERS_V4",
            twins("authenticators", samples::authenticator("one")),
            "invalid request body: `authenticators` holds",
        ),
        wrong(
            "CREATE_USERS_V4",
            twins("oauthProviders", samples::provider("one")),
            "invalid request body: `oauthProviders` holds",
        ),
        root(
            "CREATE_USERS_V4",
            json!({"users": [{"userName": "thief", "authenticators": [samples::authenticator("spare")]}]}),
            AlreadyExists,
            "credential ID is already registered in this organization",
        ),
        missing("DELETE_AUTHENTICATORS", json!({"authenticatorIds": [nobody]}), "authenticator"),
        missing("DELETE_OAUTH_PROVIDERS", json!({"providerIds": [nobody]}), "OAuth provider"),
        wrong("CREATE_POLICY", selector("nope.kind", "OPERATOR_EQUAL", "A"), condition),
        wrong("CREATE_POLICY", selector("activity.kind || true", "OPERATOR_EQUAL", "A"), condition),
        wrong(
            "CREATE_POLICY",
            selector("activity.kind", "OPERATOR_LIKE", "A"),
            "invalid request body: `parameters.",
        ),
        wrong(
            "CREATE_POLICY_V2",
            json!({"selectors": [{"subject": "user.id", "operator": "OPERATOR_IN"}]}),
            condition,
        ),
        wrong("CREATE_POLICY_V2", json!({"policyName": "nothing"}), unique),
        missing("DISABLE_PRIVATE_KEY", json!({"privateKeyId": nobody}), "private key"),
        missing("DELETE_PRIVATE_KEYS", json!({"privateKeyIds": [house.private_key, nobody]}), "private key"),
        wrong(
            "DELETE_PRIVATE_KEYS",
            json!({"deleteWithoutExport": null}),
            "private key has not been exported",
        ),
        missing("DELETE_WALLETS", json!({"walletIds": [house.wallet.0, nobody]}), "wallet"),
        wrong("DELETE_WALLETS", json!({"deleteWithoutExport": false}), "wallet has not been exported"),
        missing("DELETE_WALLET_ACCOUNTS", json!({"walletAccountIds": [nobody]}), "wallet account"),
        missing("UPDATE_WALLET_ACCOUNT_NAME", json!({"walletAccountId": nobody}), "wallet account"),
        wrong(
            "UPDATE_ALLOWED_ORIGINS",
            json!({"allowedOrigins": ["https://house.example/path"]}),
            "invalid request body: `allowedOrigins`: expected web origins",
        ),
        (
            "DELETE_WALLET_ACCOUNTS",
            From::Root,
            json!({"deleteWithoutExport": false}),
            InvalidArgument,
            Some("WALLET_ACCOUNT_NOT_EXPORTED"),
            "wallet account has not been exported".to_owned(),
        ),
        (
            "CREATE_OAUTH_PROVIDERS_V2",
            From::Root,
            json!({"oauthProviders": [samples::provider("spare")]}),
            AlreadyExists,
            Some("OAUTH_PROVIDER_ALREADY_EXISTS"),
            "OAuth provider already exists".to_owned(),
        ),
        (
            "CREATE_OAUTH_PROVIDERS_V2",
            From::Root,
            json!({"oauthProviders": [{"providerName": "p", "oidcToken": "t"}]}),
            InvalidArgument,
            Some("INVALID_OIDC_TOKEN"),
            "invalid OIDC token".to_owned(),
        ),
        (
            "UPDATE_USER_EMAIL",
            From::Root,
            json!({"userEmail": "not an address"}),
            InvalidArgument,
            Some("INVALID_EMAIL"),
            "invalid email address".to_owned(),
        ),
    ]);
    for name in ["CREATE_POLICY_V3", "UPDATE_POLICY_V2"] {
        let time = json!({"time": "CronSpan('* 9 * * 1-5', '8h')"});
        rows.push(wrong(name, time, "invalid policy time: Expression cannot be evaluated: CronSpan takes"));
    }
    for name in ["UPDATE_POLICY", "UPDATE_POLICY_V2"] {
        rows.push(missing(name, json!({"policyId": nobody}), "policy"));
        rows.push(wrong(name, json!({"policyCondition": "activity.kind"}), condition));
    }
    rows
}
