//! Samples and expected errors of kinds that change names, tags and credentials of users, keys and policies.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person};
use crate::id_tokens::Token;
use crate::samples;

/// Returns valid parameters of a type of this module. The user whose credentials change is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, subject: &Person) -> Option<Value> {
    Some(match name {
        "CREATE_AUTHENTICATORS" => {
            json!({"userId": subject.user, "authenticators": [samples::authenticator_v1("fresh", subject.user)]})
        }
        "CREATE_AUTHENTICATORS_V2" => {
            json!({"userId": subject.user, "authenticators": [samples::authenticator("fresh")]})
        }
        "CREATE_OAUTH_PROVIDERS_V2" => {
            json!({"userId": subject.user, "oauthProviders": [samples::provider("fresh")]})
        }
        "CREATE_OAUTH_PROVIDERS" => {
            let token = Token::new("fresh", "").sign();
            json!({"userId": subject.user, "oauthProviders": [{"providerName": "own", "oidcToken": token}]})
        }
        "CREATE_POLICIES" => json!({"policies": [samples::policy("one"), samples::policy("two")]}),
        "CREATE_POLICY" => {
            json!({"policyName": "policy", "effect": "EFFECT_DENY", "notes": "", "selectors": [
            {"subject": "activity.kind", "operator": "OPERATOR_EQUAL", "target": "CREATE_WALLET"}]})
        }
        "CREATE_POLICY_V2" => {
            json!({"policyName": "policy", "effect": "EFFECT_DENY", "notes": "", "selectors": [
            {"subject": "user.id", "operator": "OPERATOR_IN", "targets": [subject.user, fixture.user.user]},
            {"subject": "activity.kind", "operator": "OPERATOR_EQUAL", "targets": ["CREATE_WALLET"]}]})
        }
        "CREATE_PRIVATE_KEY_TAG" => {
            json!({"privateKeyTagName": "fresh", "privateKeyIds": [fixture.private_key]})
        }
        "CREATE_USERS_V3" | "CREATE_USERS_V4" => {
            json!({"users": [{"userName": "new", "apiKeys": [samples::key_v2(30)],
            "authenticators": [], "oauthProviders": [], "userTags": []}]})
        }
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
        "DISABLE_PRIVATE_KEY" => json!({"privateKeyId": fixture.private_key}),
        "DELETE_PRIVATE_KEY_TAGS" => json!({"privateKeyTagIds": [fixture.private_key_tag]}),
        "DELETE_USER_TAGS" => json!({"userTagIds": [fixture.user_tag]}),
        "DELETE_WALLETS" => json!({"walletIds": [fixture.wallet.0], "deleteWithoutExport": true}),
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
        "UPDATE_USER_EMAIL" => json!({"userId": fixture.spare.user, "userEmail": "root1@house.example",
            "verificationToken": fixture.sign_in.tokens[0]}),
        "UPDATE_USER_NAME" => json!({"userId": fixture.spare.user, "userName": "fresh"}),
        "UPDATE_USER_PHONE_NUMBER" => {
            json!({"userId": fixture.spare.user, "userPhoneNumber": "+4915112345678"})
        }
        "UPDATE_USER_TAG" => json!({"userTagId": fixture.user_tag, "newUserTagName": "fresh",
            "addUserIds": [fixture.user.user], "removeUserIds": [fixture.spare.user]}),
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound, ResourceExhausted};
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    let unknown_user = format!("unable to find user {unknown_id} in organization {}", fixture.id);
    let root = |name, changes, code, message: &str| -> Row {
        (name, Sender::Root, changes, code, None, message.to_owned())
    };
    let invalid = |name, changes, message: &str| root(name, changes, InvalidArgument, message);
    let missing =
        |name, changes, noun: &str| root(name, changes, NotFound, &format!("no {noun} found with "));
    let passkey = |credential: &str| json!({"authenticators": [samples::authenticator(credential)]});
    let authenticators = |count: usize| (0..count).map(|number| samples::authenticator(&number.to_string()));
    let policies = |condition: &str| {
        json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "notes": ""},
            {"policyName": "b", "effect": "EFFECT_DENY", "condition": condition, "notes": ""}]})
    };
    let duplicates = json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "notes": ""},
        {"policyName": "a", "effect": "EFFECT_DENY", "notes": ""}]});
    let unique = "policy label must be unique";
    let twins = |list: &str, credential: Value| {
        let users = ["a", "b"].map(|name| json!({"userName": name, list: [credential]}));
        json!({"users": users})
    };
    let selector = |subject: &str, operator: &str, target: &str| json!({"selectors": [{"subject": subject, "operator": operator, "target": target}]});
    let condition = "invalid policy condition";
    let mut rows = Vec::from([
        missing("UPDATE_USER_TAG", json!({"userTagId": unknown_id}), "user tag"),
        missing("UPDATE_USER_TAG", json!({"userTagId": fixture.private_key_tag}), "user tag"),
        root("UPDATE_USER_TAG", json!({"addUserIds": [unknown_id]}), NotFound, &unknown_user),
        invalid(
            "UPDATE_USER_TAG",
            json!({"addUserIds": [fixture.spare.user], "removeUserIds": [fixture.spare.user]}),
            "invalid request body: `removeUserIds` contains a duplicate element",
        ),
        missing("DELETE_USER_TAGS", json!({"userTagIds": [fixture.user_tag, unknown_id]}), "user tag"),
        invalid("DELETE_USER_TAGS", json!({"userTagIds": []}), "invalid request body: `userTagIds` must not"),
        root(
            "CREATE_PRIVATE_KEY_TAG",
            json!({"privateKeyTagName": "tag"}),
            AlreadyExists,
            "private key tag name must be unique",
        ),
        root("CREATE_USER_TAG", json!({"userTagName": "tag"}), AlreadyExists, "user tag name must be unique"),
        missing("CREATE_PRIVATE_KEY_TAG", json!({"privateKeyIds": [unknown_id]}), "private key"),
        missing("UPDATE_PRIVATE_KEY_TAG", json!({"privateKeyTagId": fixture.user_tag}), "private key tag"),
        missing("UPDATE_PRIVATE_KEY_TAG", json!({"removePrivateKeyIds": [unknown_id]}), "private key"),
        missing(
            "DELETE_PRIVATE_KEY_TAGS",
            json!({"privateKeyTagIds": [fixture.user_tag]}),
            "private key tag",
        ),
        root("UPDATE_USER", json!({"userId": unknown_id}), NotFound, &unknown_user),
        missing("UPDATE_USER", json!({"userTagIds": [fixture.private_key_tag]}), "user tag"),
        root("UPDATE_USER_NAME", json!({"userId": unknown_id}), NotFound, &unknown_user),
        invalid("UPDATE_USER_NAME", json!({"userName": ""}), "invalid request body: `parameters.userName`"),
        root("UPDATE_USER_EMAIL", json!({"userId": unknown_id}), NotFound, &unknown_user),
        root("UPDATE_USER_PHONE_NUMBER", json!({"userId": unknown_id}), NotFound, &unknown_user),
        invalid(
            "UPDATE_USER_EMAIL",
            json!({"userEmail": "other@house.example"}),
            "verification token proves another contact",
        ),
        invalid(
            "UPDATE_USER_PHONE_NUMBER",
            json!({"verificationToken": fixture.sign_in.tokens[0]}),
            "verification token proves another contact",
        ),
        invalid(
            "UPDATE_USER_PHONE_NUMBER",
            json!({"userPhoneNumber": "0151"}),
            "invalid request body: `parameters.userPhoneNumber`: expected a phone number in E.164 form",
        ),
        invalid("CREATE_POLICIES", policies("activity.kind =="), condition),
        invalid("CREATE_POLICIES", duplicates, unique),
        invalid(
            "CREATE_POLICIES",
            json!({"policies": []}),
            "invalid request body: `policies` must not be empty",
        ),
        missing("DELETE_POLICY", json!({"policyId": unknown_id}), "policy"),
        missing("DELETE_POLICIES", json!({"policyIds": [fixture.policy, unknown_id]}), "policy"),
        invalid(
            "UPDATE_ORGANIZATION_NAME",
            json!({"organizationName": null}),
            "invalid request body: missing",
        ),
        root("CREATE_AUTHENTICATORS", json!({"userId": unknown_id}), NotFound, &unknown_user),
        root(
            "CREATE_AUTHENTICATORS_V2",
            passkey("spare"),
            AlreadyExists,
            "credential ID is already registered in this organization",
        ),
        root(
            "CREATE_AUTHENTICATORS_V2",
            json!({"authenticators": authenticators(11).collect::<Vec<_>>()}),
            ResourceExhausted,
            "user has exceeded maximum authenticators",
        ),
        invalid(
            "CREATE_USERS_V4",
            twins("authenticators", samples::authenticator("one")),
            "invalid request body: `authenticators` contains a duplicate element",
        ),
        invalid(
            "CREATE_USERS_V4",
            twins("oauthProviders", samples::provider("one")),
            "invalid request body: `oauthProviders` contains a duplicate element",
        ),
        root(
            "CREATE_USERS_V4",
            json!({"users": [{"userName": "thief", "authenticators": [samples::authenticator("spare")]}]}),
            AlreadyExists,
            "credential ID is already registered in this organization",
        ),
        missing("DELETE_AUTHENTICATORS", json!({"authenticatorIds": [unknown_id]}), "authenticator"),
        missing("DELETE_OAUTH_PROVIDERS", json!({"providerIds": [unknown_id]}), "OAuth provider"),
        invalid("CREATE_POLICY", selector("nope.kind", "OPERATOR_EQUAL", "A"), condition),
        invalid("CREATE_POLICY", selector("activity.kind || true", "OPERATOR_EQUAL", "A"), condition),
        invalid(
            "CREATE_POLICY",
            selector("activity.kind", "OPERATOR_LIKE", "A"),
            "invalid request body: `parameters.",
        ),
        invalid(
            "CREATE_POLICY_V2",
            json!({"selectors": [{"subject": "user.id", "operator": "OPERATOR_IN"}]}),
            condition,
        ),
        invalid("CREATE_POLICY_V2", json!({"policyName": "nothing"}), unique),
        missing("DISABLE_PRIVATE_KEY", json!({"privateKeyId": unknown_id}), "private key"),
        missing(
            "DELETE_PRIVATE_KEYS",
            json!({"privateKeyIds": [fixture.private_key, unknown_id]}),
            "private key",
        ),
        invalid(
            "DELETE_PRIVATE_KEYS",
            json!({"deleteWithoutExport": null}),
            "private key has not been exported",
        ),
        missing("DELETE_WALLETS", json!({"walletIds": [fixture.wallet.0, unknown_id]}), "wallet"),
        invalid("DELETE_WALLETS", json!({"deleteWithoutExport": false}), "wallet has not been exported"),
        missing("DELETE_WALLET_ACCOUNTS", json!({"walletAccountIds": [unknown_id]}), "wallet account"),
        missing("UPDATE_WALLET_ACCOUNT_NAME", json!({"walletAccountId": unknown_id}), "wallet account"),
        invalid(
            "UPDATE_ALLOWED_ORIGINS",
            json!({"allowedOrigins": ["https://house.example/path"]}),
            "invalid request body: `allowedOrigins`: expected web origins",
        ),
        (
            "DELETE_WALLET_ACCOUNTS",
            Sender::Root,
            json!({"deleteWithoutExport": false}),
            InvalidArgument,
            Some("WALLET_ACCOUNT_NOT_EXPORTED"),
            "wallet account has not been exported".to_owned(),
        ),
        (
            "CREATE_OAUTH_PROVIDERS_V2",
            Sender::Root,
            json!({"oauthProviders": [samples::provider("spare")]}),
            AlreadyExists,
            Some("OAUTH_PROVIDER_ALREADY_EXISTS"),
            "OAuth provider already exists".to_owned(),
        ),
        (
            "CREATE_OAUTH_PROVIDERS",
            Sender::Root,
            json!({"oauthProviders": [{"providerName": "p", "oidcToken": "t"}]}),
            InvalidArgument,
            Some("INVALID_OIDC_TOKEN"),
            "invalid OIDC token".to_owned(),
        ),
        (
            "CREATE_OAUTH_PROVIDERS_V2",
            Sender::Root,
            json!({"oauthProviders": [{"providerName": "p", "oidcToken": "t"}]}),
            InvalidArgument,
            Some("INVALID_OIDC_TOKEN"),
            "invalid OIDC token".to_owned(),
        ),
        (
            "UPDATE_USER_EMAIL",
            Sender::Root,
            json!({"userEmail": "not an address"}),
            InvalidArgument,
            Some("INVALID_EMAIL"),
            "invalid email address".to_owned(),
        ),
    ]);
    for name in ["CREATE_POLICY_V3", "UPDATE_POLICY_V2"] {
        let time = json!({"time": "CronSpan('* 9 * * 1-5', '8h')"});
        rows.push(invalid(name, time, "invalid policy time: Expression cannot be evaluated: CronSpan takes"));
    }
    for name in ["UPDATE_POLICY", "UPDATE_POLICY_V2"] {
        rows.push(missing(name, json!({"policyId": unknown_id}), "policy"));
        rows.push(invalid(name, json!({"policyCondition": "activity.kind"}), condition));
    }
    rows
}
