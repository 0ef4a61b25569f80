//! Users, their tags and their credentials.

use quorate_tests::keys::Key;
use quorate_tests::passkey::Passkey;
use serde_json::{Value, json};

use super::{Participants, assert_refused, listed, text};

fn api_key(name: &str) -> Value {
    json!({"apiKeyName": name, "publicKey": Key::named(name).public_key(), "curveType": "API_KEY_CURVE_P256"})
}

pub(super) async fn users(Participants { daemon, alice, .. }: &Participants) {
    let (first, second) = (daemon.root_id(0), daemon.root_id(1));
    let created = submit!(alice, create_users, {"users": [{"userName": "third", "apiKeys": [api_key("third")],
        "authenticators": [], "oauthProviders": [], "userTags": []}]});
    let id = text(&created["userIds"][0]);
    assert_eq!(created, json!({"userIds": [id]}));

    let done = json!({"userId": id});
    let updated = submit!(alice, update_user, {"userId": id, "userName": "changed", "userEmail": "third@example.com",
        "userPhoneNumber": "+4915112345670", "userTagIds": []});
    assert_eq!(updated, done);
    let shown = fetch!(alice, get_user, {"userId": id});
    let members = ["userName", "userEmail", "userPhoneNumber"].map(|name| shown["user"][name].clone());
    assert_eq!(members, [json!("changed"), json!("third@example.com"), json!("+4915112345670")]);
    assert_eq!(submit!(alice, update_user_name, {"userId": id, "userName": "renamed"}), done);
    assert_eq!(submit!(alice, update_user_email, {"userId": id, "userEmail": "other@example.com"}), done);
    let phone = submit!(alice, update_user_phone_number, {"userId": id, "userPhoneNumber": "+4915112345678"});
    assert_eq!(phone, done);
    let user = &fetch!(alice, get_user, {"userId": id})["user"];
    let key = json!({"apiKeyId": user["apiKeys"][0]["apiKeyId"], "apiKeyName": "third", "createdAt": "time",
        "updatedAt": "time", "credential": {"publicKey": Key::named("third").public_key(),
            "type": "CREDENTIAL_TYPE_API_KEY_P256"}});
    assert_eq!(
        *user,
        json!({"userId": id, "userName": "renamed", "userEmail": "other@example.com", "userTags": [],
            "userPhoneNumber": "+4915112345678", "apiKeys": [key], "authenticators": [], "oauthProviders": [],
            "mfaPolicies": [], "walletAuthenticators": [], "createdAt": "time", "updatedAt": "time"})
    );

    let mut all = [first, second, id];
    all.sort_unstable();
    assert_eq!(listed(&fetch!(alice, get_users, {}), "users", "userId"), all);
    assert_eq!(submit!(alice, delete_users, {"userIds": [id]}), json!({"userIds": [id]}));
    assert_eq!(listed(&fetch!(alice, get_users, {}), "users", "userId").len(), 2);
}

pub(super) async fn tags(Participants { daemon, alice, .. }: &Participants) {
    let (first, second) = (daemon.root_id(0), daemon.root_id(1));
    let created = submit!(alice, create_user_tag, {"userTagName": "rust", "userIds": [second]});
    let tag = text(&created["userTagId"]);
    assert_eq!(created, json!({"userTagId": tag, "userIds": [second]}));
    let updated = submit!(alice, update_user_tag, {"userTagId": tag, "newUserTagName": "rust renamed",
        "addUserIds": [first], "removeUserIds": [second]});
    assert_eq!(updated, json!({"userTagId": tag}));
    assert_eq!(
        fetch!(alice, list_user_tags, {}),
        json!({"userTags": [{"tagId": tag, "tagName": "rust renamed", "tagType": "TAG_TYPE_USER",
            "createdAt": "time", "updatedAt": "time"}]})
    );
    assert_eq!(fetch!(alice, get_user, {"userId": first})["user"]["userTags"], json!([tag]));
    assert_eq!(fetch!(alice, get_user, {"userId": second})["user"]["userTags"], json!([]));
    let deleted = submit!(alice, delete_user_tags, {"userTagIds": [tag]});
    assert_eq!(deleted, json!({"userTagIds": [tag], "userIds": [first]}));
    assert_eq!(fetch!(alice, list_user_tags, {}), json!({"userTags": []}));
    assert_eq!(fetch!(alice, get_user, {"userId": first})["user"]["userTags"], json!([]));
}

pub(super) async fn api_keys(Participants { daemon, alice, .. }: &Participants) {
    let user = daemon.root_id(1);
    let mut spare = api_key("spare");
    spare["expirationSeconds"] = json!("600");
    let created = submit!(alice, create_api_keys, {"userId": user, "apiKeys": [spare]});
    let id = text(&created["apiKeyIds"][0]);
    assert_eq!(created, json!({"apiKeyIds": [id]}));
    assert_eq!(
        fetch!(alice, get_api_key, {"apiKeyId": id}),
        json!({"apiKey": {"apiKeyId": id, "apiKeyName": "spare", "expirationSeconds": "600",
            "createdAt": "time", "updatedAt": "time", "credential": {
                "publicKey": Key::named("spare").public_key(), "type": "CREDENTIAL_TYPE_API_KEY_P256"}}})
    );
    let held = fetch!(alice, get_api_keys, {"userId": user});
    let own = &daemon.credentials().root_users[1].api_key_id;
    let mut both = [own.as_str(), id];
    both.sort_unstable();
    assert_eq!(listed(&held, "apiKeys", "apiKeyId"), both);
    let deleted = submit!(alice, delete_api_keys, {"userId": user, "apiKeyIds": [id]});
    assert_eq!(deleted, json!({"apiKeyIds": [id]}));
    assert_eq!(listed(&fetch!(alice, get_api_keys, {"userId": user}), "apiKeys", "apiKeyId"), [own.as_str()]);
}

pub(super) async fn authenticators(Participants { daemon, alice, .. }: &Participants) {
    let user = daemon.root_id(1);
    let passkey = Passkey::of("rust");
    let created =
        submit!(alice, create_authenticators, {"userId": user, "authenticators": [passkey.registration()]});
    let id = text(&created["authenticatorIds"][0]);
    assert_eq!(created, json!({"authenticatorIds": [id]}));
    let shown = json!({"authenticatorId": id, "authenticatorName": "passkey", "credentialId": passkey.id(),
        "attestationType": "none", "aaguid": "AAAAAAAAAAAAAAAAAAAAAA", "model": "Security key", "createdAt": "time",
        "updatedAt": "time", "transports": ["AUTHENTICATOR_TRANSPORT_INTERNAL"],
        "credential": {"publicKey": passkey.public_key(), "type": "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR"}});
    assert_eq!(fetch!(alice, get_authenticator, {"authenticatorId": id}), json!({"authenticator": shown}));
    assert_eq!(fetch!(alice, get_authenticators, {"userId": user}), json!({"authenticators": [shown]}));
    let deleted = submit!(alice, delete_authenticators, {"userId": user, "authenticatorIds": [id]});
    assert_eq!(deleted, json!({"authenticatorIds": [id]}));
    assert_eq!(fetch!(alice, get_authenticators, {"userId": user}), json!({"authenticators": []}));
}

pub(super) async fn oauth_providers(Participants { daemon, alice, .. }: &Participants) {
    let user = daemon.root_id(1);
    let created = submit!(alice, create_oauth_providers, {"userId": user, "oauthProviders": [{"providerName": "own",
        "oidcClaims": {"iss": "https://issuer.example", "sub": "rust", "aud": "quorate"}}]});
    let id = text(&created["providerIds"][0]);
    assert_eq!(created, json!({"providerIds": [id]}));
    assert_eq!(
        fetch!(alice, get_oauth_providers, {"userId": user}),
        json!({"oauthProviders": [{"providerId": id, "providerName": "own", "issuer": "https://issuer.example",
            "subject": "rust", "audience": "quorate", "createdAt": "time", "updatedAt": "time"}]})
    );
    let deleted = submit!(alice, delete_oauth_providers, {"userId": user, "providerIds": [id]});
    assert_eq!(deleted, json!({"providerIds": [id]}));
    assert_eq!(fetch!(alice, get_oauth_providers, {"userId": user}), json!({"oauthProviders": []}));
    let token = "a.b.c";
    let target = "04".repeat(65);
    assert_refused(
        try_submit!(alice, oauth, {"oidcToken": token, "targetPublicKey": target}),
        400,
        "invalid",
    );
    let public_key = "02".repeat(33);
    let login = try_submit!(alice, oauth_login, {"oidcToken": token, "publicKey": public_key});
    assert_refused(login, 400, "invalid OIDC token");
}

pub(super) async fn mfa_policies(Participants { daemon, alice, .. }: &Participants) {
    let user = daemon.root_id(1);
    let steps = json!([{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]}]);
    let mut policy = json!({"userId": user, "mfaPolicyName": "rust", "condition": "activity.kind == 'DELETE_WALLETS'",
        "requiredAuthenticationMethods": steps, "order": 1, "notes": "noted"});
    let created = submit!(alice, create_mfa_policy, (policy));
    let id = text(&created["mfaPolicyId"]);
    policy["mfaPolicyId"] = json!(id);
    policy["mfaPolicyName"] = json!("rust renamed");
    assert_eq!(submit!(alice, update_mfa_policy, (policy)), json!({"mfaPolicyId": id}));
    let shown = fetch!(alice, get_mfa_policy, {"userId": user, "mfaPolicyId": id});
    assert_eq!(shown["mfaPolicy"]["mfaPolicyName"], "rust renamed");
    assert_eq!(shown["mfaPolicy"]["requiredAuthenticationMethods"], steps);
    let all = fetch!(alice, get_mfa_policies, {"userId": user});
    assert_eq!(all["mfaPolicies"], json!([shown["mfaPolicy"]]));
    let activities = fetch!(alice, get_activities, {"filterByStatus": [], "filterByType": []});
    let activity = text(&activities["activities"][0]["id"]);
    assert_eq!(fetch!(alice, get_mfa_status, {"activityId": activity}), json!({"mfaStatuses": []}));
    let deleted = submit!(alice, delete_mfa_policy, {"userId": user, "mfaPolicyId": id});
    assert_eq!(deleted, json!({"mfaPolicyId": id}));
}
