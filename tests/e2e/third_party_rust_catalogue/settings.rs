//! Webhook endpoints, session profiles, contract interfaces and IP allowlists.

use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_tests::receiver::Receiver;
use serde_json::json;
use turnkey_enclave_encrypt::AuthenticationClient;

use super::{Participants, assert_refused, text};
use crate::third_party_rust::client;

pub(super) async fn webhook_endpoints(Participants { alice, .. }: &Participants) {
    let receiver = Receiver::start().await;
    let url = receiver.url("/rust");
    let result = submit!(alice, create_webhook_endpoint, {"name": "rust", "url": url, "subscriptions": [
        {"eventType": "ACTIVITY_UPDATES", "filtersJson": "{}", "isActive": true}]});
    let id = text(&result["endpointId"]);
    let mut endpoint = json!({"endpointId": id, "organizationId": alice.organization, "url": url, "name": "rust",
        "isActive": true, "subscriptions": [
            {"eventType": "ACTIVITY_UPDATES", "filtersJson": "{}", "isActive": true}]});
    assert_eq!(result, json!({"endpointId": id, "webhookEndpoint": endpoint}));
    assert_eq!(fetch!(alice, list_webhook_endpoints, {}), json!({"webhookEndpoints": [endpoint]}));

    (endpoint["name"], endpoint["isActive"]) = (json!("rust renamed"), json!(false));
    let updated = submit!(alice, update_webhook_endpoint, {"endpointId": id, "name": "rust renamed", "isActive": false});
    assert_eq!(updated, json!({"endpointId": id, "webhookEndpoint": endpoint}));
    assert_eq!(fetch!(alice, list_webhook_endpoints, {}), json!({"webhookEndpoints": [endpoint]}));
    assert_eq!(submit!(alice, delete_webhook_endpoint, {"endpointId": id}), json!({"endpointId": id}));
    assert_eq!(fetch!(alice, list_webhook_endpoints, {}), json!({"webhookEndpoints": []}));
}

pub(super) async fn session_profiles(Participants { alice, .. }: &Participants) {
    let result = submit!(alice, create_session_profile, {"sessionProfileName": "rust", "notes": "noted",
        "scope": "activity.kind == 'CREATE_WALLET'", "expirationSeconds": "600"});
    let id = text(&result["sessionProfileId"]);
    assert_eq!(result, json!({"sessionProfileId": id}));
    let profile = json!({"sessionProfileId": id, "sessionProfileName": "rust", "notes": "noted",
        "scope": "activity.kind == 'CREATE_WALLET'", "expirationSeconds": "600", "createdAt": "time",
        "updatedAt": "time"});
    let shown = fetch!(alice, get_session_profile, {"sessionProfileId": id});
    assert_eq!(shown, json!({"sessionProfile": profile}));
    assert_eq!(fetch!(alice, get_session_profiles, {}), json!({"sessionProfiles": [profile]}));
}

pub(super) async fn sessions(Participants { daemon, alice, .. }: &Participants) {
    let who = fetch!(alice, get_whoami, {});
    let key =
        |number: u8| Stamper::new(ApiKeyCurve::P256, &[number; 32]).expect("a key").public_key().to_owned();
    let login = submit!(alice, stamp_login, {"publicKey": key(7), "expirationSeconds": "600", "invalidateExisting": true});
    assert_eq!(text(&login["session"]).split('.').count(), 3);
    let holder =
        |secret: &[u8]| alice.sibling(client(daemon, &const_hex::encode(secret)), &alice.organization);
    let session = holder(&[7; 32]);
    assert_eq!(fetch!(session, get_whoami, {}), who);
    let mut receiver = AuthenticationClient::new();
    let target = receiver.target_public_key().expect("a target key");
    let opened = submit!(alice, create_read_write_session, {"targetPublicKey": target, "apiKeyName": "rust"});
    let secret = receiver.decrypt(text(&opened["credentialBundle"])).expect("a bundle");
    let session = holder(&secret);
    assert_eq!(fetch!(session, get_whoami, {}), who);
    for member in ["organizationId", "organizationName", "userId", "username"] {
        assert_eq!(opened[member], who[member], "{member}");
    }
    let read_only = submit!(alice, create_read_only_session, {});
    assert_eq!((&read_only["userId"], text(&read_only["session"]).len()), (&who["userId"], 64));
}

pub(super) async fn contracts(Participants { alice, .. }: &Participants) {
    let result = submit!(alice, create_smart_contract_interface, {"label": "rust", "notes": "noted",
        "smartContractAddress": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
        "smartContractInterface": "{\"instructions\":[],\"types\":[]}", "type": "SMART_CONTRACT_INTERFACE_TYPE_SOLANA"});
    let id = text(&result["smartContractInterfaceId"]);
    assert_eq!(result, json!({"smartContractInterfaceId": id}));
    let contract = json!({"smartContractInterfaceId": id, "organizationId": alice.organization, "label": "rust",
        "notes": "noted", "smartContractAddress": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
        "smartContractInterface": "{\"instructions\":[],\"types\":[]}", "type": "SMART_CONTRACT_INTERFACE_TYPE_SOLANA",
        "createdAt": "time", "updatedAt": "time"});
    let shown = fetch!(alice, get_smart_contract_interface, {"smartContractInterfaceId": id});
    assert_eq!(shown, json!({"smartContractInterface": contract}));
    let shown = fetch!(alice, get_smart_contract_interfaces, {});
    assert_eq!(shown, json!({"smartContractInterfaces": [contract]}));
    let deleted = submit!(alice, delete_smart_contract_interface, {"smartContractInterfaceId": id});
    assert_eq!(deleted, json!({"smartContractInterfaceId": id}));
    let shown = fetch!(alice, get_smart_contract_interfaces, {});
    assert_eq!(shown, json!({"smartContractInterfaces": []}));
}

pub(super) async fn allowlists(Participants { daemon, alice, bob }: &Participants) {
    let key = &daemon.credentials().root_users[1].public_key;
    // Allowlists of keys apply while the organization has an enabled one.
    let set = submit!(alice, set_ip_allowlist, {"enabled": true, "onEvaluationError": "ALLOW", "rules": [
        {"cidr": "127.0.0.1/32", "label": "here"}]});
    assert_eq!(set, json!({}));
    let mut shown = fetch!(alice, get_ip_allowlist, {});
    let created = shown["allowlist"]["rules"][0]["createdAt"].take();
    assert!(text(&created).parse::<u64>().is_ok(), "{created} is not a time");
    let rule = json!({"cidr": "127.0.0.1/32", "label": "here", "createdAt": null});
    assert_eq!(
        shown,
        json!({"allowlist": {"organizationId": alice.organization, "enabled": true,
            "onEvaluationError": "ALLOW", "rules": [rule]}})
    );

    let other_block = json!([{"cidr": "192.0.2.0/24"}]);
    let set = submit!(alice, set_ip_allowlist, {"publicKey": key, "onEvaluationError": "DENY", "rules": other_block});
    assert_eq!(set, json!({}));
    let shown = fetch!(alice, get_ip_allowlist, {"publicKey": key});
    let created = text(&shown["allowlist"]["rules"][0]["createdAt"]);
    assert_eq!(
        shown,
        json!({"allowlist": {"organizationId": alice.organization, "publicKey": key,
            "onEvaluationError": "DENY", "rules": [{"cidr": "192.0.2.0/24", "createdAt": created}]}})
    );
    assert_refused(try_fetch!(bob, get_whoami, {}), 403, "request IP address is not in the IP allowlist");
    assert_eq!(submit!(alice, remove_ip_allowlist, {"publicKey": key}), json!({}));
    assert_eq!(fetch!(bob, get_whoami, {})["userId"], daemon.root_id(1));
    assert_refused(
        try_fetch!(alice, get_ip_allowlist, {"publicKey": key}),
        404,
        "no IP allowlist found with ",
    );
    assert_eq!(submit!(alice, remove_ip_allowlist, {}), json!({}));
    assert_refused(try_fetch!(alice, get_ip_allowlist, {}), 404, "no IP allowlist found with ");
}
