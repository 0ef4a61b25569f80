//! The organization, its children and its invitations.

use quorate_tests::keys::Key;
use serde_json::json;

use super::{Cast, assert_refused, text};
use crate::foreign_rust::client;

pub(super) async fn children(Cast { daemon, alice, .. }: &Cast) {
    let key = Key::named("rust catalogue child");
    let made = submit!(alice, create_sub_organization, {"subOrganizationName": "rust child",
        "rootQuorumThreshold": 1, "rootUsers": [{"userName": "child root", "userEmail": "child@example.com",
            "authenticators": [], "oauthProviders": [], "apiKeys": [{"apiKeyName": "first",
                "publicKey": key.public_key(), "curveType": "API_KEY_CURVE_P256"}]}],
        "wallet": {"walletName": "child wallet", "accounts": [{"curve": "CURVE_ED25519",
            "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/501'/0'/0'",
            "addressFormat": "ADDRESS_FORMAT_SOLANA"}]}});
    let (id, user) = (text(&made["subOrganizationId"]), text(&made["rootUserIds"][0]));
    let wallet = json!({"walletId": text(&made["wallet"]["walletId"]),
        "addresses": [text(&made["wallet"]["addresses"][0])]});
    assert_eq!(made, json!({"subOrganizationId": id, "rootUserIds": [user], "wallet": wallet}));

    let child = alice.beside(client(daemon, &key.secret_hex()), id);
    let whoami = json!({"organizationId": id, "organizationName": "rust child", "userId": user,
        "username": "child root"});
    assert_eq!(ask!(child, get_whoami, {}), whoami);
    let all = ask!(alice, get_sub_org_ids, {"filterType": "", "filterValue": ""});
    assert_eq!(all, json!({"organizationIds": [id]}));
    let found = ask!(alice, get_sub_org_ids, {"filterType": "EMAIL", "filterValue": "child@example.com"});
    assert_eq!(found, json!({"organizationIds": [id]}));
    // Nobody has proven this address.
    let proven =
        ask!(alice, get_verified_sub_org_ids, {"filterType": "EMAIL", "filterValue": "child@example.com"});
    assert_eq!(proven, json!({"organizationIds": []}));

    assert_refused(
        try_submit!(child, delete_sub_organization, {"deleteWithoutExport": false}),
        400,
        "wallet has not been exported",
    );
    let deleted = submit!(child, delete_sub_organization, {"deleteWithoutExport": true});
    assert_eq!(deleted, json!({"subOrganizationUuid": id}));
    let left = ask!(alice, get_sub_org_ids, {"filterType": "", "filterValue": ""});
    assert_eq!(left, json!({"organizationIds": []}));
    assert_refused(try_ask!(child, get_whoami, {}), 404, "no organization found with the given ID");
}

pub(super) async fn invitations(Cast { daemon, alice, .. }: &Cast) {
    let made = submit!(alice, create_invitations, {"invitations": [{"receiverUserName": "guest",
        "receiverUserEmail": "guest@example.org", "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB",
        "senderUserId": daemon.root_id(0)}]});
    let id = text(&made["invitationIds"][0]);
    assert_eq!(made, json!({"invitationIds": [id]}));
    // The crate has no query that shows them.
    let root = daemon.root(0);
    let status = async || {
        let shown = root.ask("get_organization", json!({})).await;
        let one = &shown["organizationData"]["invitations"][0];
        (one["invitationId"].clone(), one["status"].clone())
    };
    assert_eq!(status().await, (json!(id), json!("INVITATION_STATUS_CREATED")));
    assert_eq!(submit!(alice, delete_invitation, {"invitationId": id}), json!({"invitationId": id}));
    assert_eq!(status().await, (json!(id), json!("INVITATION_STATUS_REVOKED")));
}

pub(super) async fn organization(Cast { daemon, alice, .. }: &Cast) {
    let features = json!([{"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": "https://rust.example"}]);
    let set = submit!(alice, set_organization_feature, {"name": "FEATURE_NAME_WEBAUTHN_ORIGINS",
        "value": "https://rust.example"});
    assert_eq!(set, json!({"features": features}));
    let quorum = json!({"threshold": 1, "userIds": [daemon.root_id(0), daemon.root_id(1)]});
    let shown = ask!(alice, get_organization_configs, {});
    assert_eq!(shown, json!({"configs": {"features": features, "quorum": quorum}}));
    let removed = submit!(alice, remove_organization_feature, {"name": "FEATURE_NAME_WEBAUTHN_ORIGINS"});
    assert_eq!(removed, json!({"features": []}));
    assert_eq!(ask!(alice, get_organization_configs, {})["configs"]["features"], json!([]));

    let id = &alice.organization;
    let renamed = submit!(alice, update_organization_name, {"organizationName": "rust organization"});
    assert_eq!(renamed, json!({"organizationId": id, "organizationName": "rust organization"}));
    assert_eq!(ask!(alice, get_whoami, {})["organizationName"], "rust organization");
}
