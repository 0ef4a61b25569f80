//! The organization, its sub-organizations and its invitations.

use quorate_tests::keys::Key;
use serde_json::json;

use super::{Participants, assert_refused, text};
use crate::third_party_rust::client;

pub(super) async fn children(Participants { daemon, alice, .. }: &Participants) {
    let key = Key::named("rust catalogue child");
    let created = submit!(alice, create_sub_organization, {"subOrganizationName": "rust child",
        "rootQuorumThreshold": 1, "rootUsers": [{"userName": "child root", "userEmail": "child@example.com",
            "authenticators": [], "oauthProviders": [], "apiKeys": [{"apiKeyName": "first",
                "publicKey": key.public_key(), "curveType": "API_KEY_CURVE_P256"}]}],
        "wallet": {"walletName": "child wallet", "accounts": [{"curve": "CURVE_ED25519",
            "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/501'/0'/0'",
            "addressFormat": "ADDRESS_FORMAT_SOLANA"}]}});
    let (id, user) = (text(&created["subOrganizationId"]), text(&created["rootUserIds"][0]));
    let wallet = json!({"walletId": text(&created["wallet"]["walletId"]),
        "addresses": [text(&created["wallet"]["addresses"][0])]});
    assert_eq!(created, json!({"subOrganizationId": id, "rootUserIds": [user], "wallet": wallet}));

    let child = alice.sibling(client(daemon, &key.secret_hex()), id);
    let whoami = json!({"organizationId": id, "organizationName": "rust child", "userId": user,
        "username": "child root"});
    assert_eq!(fetch!(child, get_whoami, {}), whoami);
    let all = fetch!(alice, get_sub_org_ids, {"filterType": "", "filterValue": ""});
    assert_eq!(all, json!({"organizationIds": [id]}));
    let matching =
        fetch!(alice, get_sub_org_ids, {"filterType": "EMAIL", "filterValue": "child@example.com"});
    assert_eq!(matching, json!({"organizationIds": [id]}));
    // This address is not verified.
    let verified =
        fetch!(alice, get_verified_sub_org_ids, {"filterType": "EMAIL", "filterValue": "child@example.com"});
    assert_eq!(verified, json!({"organizationIds": []}));

    assert_refused(
        try_submit!(child, delete_sub_organization, {"deleteWithoutExport": false}),
        400,
        "wallet has not been exported",
    );
    let deleted = submit!(child, delete_sub_organization, {"deleteWithoutExport": true});
    assert_eq!(deleted, json!({"subOrganizationUuid": id}));
    let remaining = fetch!(alice, get_sub_org_ids, {"filterType": "", "filterValue": ""});
    assert_eq!(remaining, json!({"organizationIds": []}));
    assert_refused(try_fetch!(child, get_whoami, {}), 404, "no organization found with the given ID");
}

pub(super) async fn invitations(Participants { daemon, alice, .. }: &Participants) {
    let created = submit!(alice, create_invitations, {"invitations": [{"receiverUserName": "guest",
        "receiverUserEmail": "guest@example.org", "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB",
        "senderUserId": daemon.root_id(0)}]});
    let id = text(&created["invitationIds"][0]);
    assert_eq!(created, json!({"invitationIds": [id]}));
    // The crate has no query for invitations.
    let root = daemon.root(0);
    let status = async || {
        let shown = root.fetch("get_organization", json!({})).await;
        let one = &shown["organizationData"]["invitations"][0];
        (one["invitationId"].clone(), one["status"].clone())
    };
    assert_eq!(status().await, (json!(id), json!("INVITATION_STATUS_CREATED")));
    assert_eq!(submit!(alice, delete_invitation, {"invitationId": id}), json!({"invitationId": id}));
    assert_eq!(status().await, (json!(id), json!("INVITATION_STATUS_REVOKED")));
}

pub(super) async fn organization(Participants { daemon, alice, .. }: &Participants) {
    let features = json!([{"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": "https://rust.example"}]);
    let set = submit!(alice, set_organization_feature, {"name": "FEATURE_NAME_WEBAUTHN_ORIGINS",
        "value": "https://rust.example"});
    assert_eq!(set, json!({"features": features}));
    let quorum = json!({"threshold": 1, "userIds": [daemon.root_id(0), daemon.root_id(1)]});
    let shown = fetch!(alice, get_organization_configs, {});
    assert_eq!(shown, json!({"configs": {"features": features, "quorum": quorum}}));
    let removed = submit!(alice, remove_organization_feature, {"name": "FEATURE_NAME_WEBAUTHN_ORIGINS"});
    assert_eq!(removed, json!({"features": []}));
    assert_eq!(fetch!(alice, get_organization_configs, {})["configs"]["features"], json!([]));

    let id = &alice.organization;
    let renamed = submit!(alice, update_organization_name, {"organizationName": "rust organization"});
    assert_eq!(renamed, json!({"organizationId": id, "organizationName": "rust organization"}));
    assert_eq!(fetch!(alice, get_whoami, {})["organizationName"], "rust organization");
}
