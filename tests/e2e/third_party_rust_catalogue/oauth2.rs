//! Credentials of OAuth 2.0 providers. The daemon of the catalogue issues no ID tokens.

use hyper::Method;
use qos_p256::encrypt::P256EncryptPublic;
use serde_json::json;

use super::{Participants, assert_refused, text};

pub(super) async fn credentials(Participants { daemon, alice, .. }: &Participants) {
    let keys = daemon.root(0).call(Method::GET, "/public/v1/discovery/quorum-key", &[], b"").await.success();
    let key = const_hex::decode(&text(&keys["quorumPublicKeys"])[..130]).expect("hex");
    let key = P256EncryptPublic::from_bytes(&key).expect("a point");
    let encrypted = |secret: &str| const_hex::encode(key.encrypt(secret.as_bytes()).expect("an envelope"));
    let (first, second) = (encrypted("first"), encrypted("second"));
    let created = submit!(alice, create_oauth2_credential, {"provider": "OAUTH2_PROVIDER_X", "clientId": "client",
        "encryptedClientSecret": first});
    let id = text(&created["oauth2CredentialId"]);
    assert_eq!(created, json!({"oauth2CredentialId": id}));
    let mut credential = json!({"oauth2CredentialId": id, "organizationId": alice.organization,
        "provider": "OAUTH2_PROVIDER_X", "clientId": "client", "encryptedClientSecret": first,
        "createdAt": "time", "updatedAt": "time"});
    assert_eq!(fetch!(alice, list_oauth2_credentials, {}), json!({"oauth2Credentials": [credential]}));
    let updated = submit!(alice, update_oauth2_credential, {"oauth2CredentialId": id, "clientId": "112233",
        "provider": "OAUTH2_PROVIDER_DISCORD", "encryptedClientSecret": second});
    assert_eq!(updated, json!({"oauth2CredentialId": id}));
    credential["provider"] = json!("OAUTH2_PROVIDER_DISCORD");
    (credential["clientId"], credential["encryptedClientSecret"]) = (json!("112233"), json!(second));
    let shown = fetch!(alice, get_oauth2_credential, {"oauth2CredentialId": id});
    assert_eq!(shown, json!({"oauth2Credential": credential}));
    let exchange = try_submit!(alice, oauth2_authenticate, {"oauth2CredentialId": id, "authCode": "code",
        "redirectUri": "https://app.example/callback", "codeVerifier": "verifier", "nonce": "nonce"});
    assert_refused(exchange, 400, "this service is not configured for OAuth 2.0");
    let deleted = submit!(alice, delete_oauth2_credential, {"oauth2CredentialId": id});
    assert_eq!(deleted, json!({"oauth2CredentialId": id}));
    assert_eq!(fetch!(alice, list_oauth2_credentials, {}), json!({"oauth2Credentials": []}));
}
