//! Tests of the descriptions of invitations, endpoints, profiles, interfaces, allowlists, payment, and the
//! creation and deletion of organizations.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use serde_json::{Value, json};

use super::{TAG, check, check_in, passkey, sample_organization};
use crate::kinds::{ReviewContext, decode};
use crate::testing::Fixture;

const NOBODY: &str = "00000000-0000-4000-8000-000000000009";

/// Returns the id of a record of the sample organization.
fn id(byte: u8) -> Value {
    let byte = format!("{byte:02x}");
    json!(format!("{0}-{1}-{1}-{1}-{2}", byte.repeat(4), byte.repeat(2), byte.repeat(6)))
}

#[test]
fn invitations() {
    let invitation = |name: &str, address: &str, sender: Value| {
        json!({"receiverUserName": name, "receiverUserEmail": address, "receiverUserTags": [],
            "accessType": "ACCESS_TYPE_WEB", "senderUserId": sender})
    };
    let mut tagged = invitation("mi\u{202e}ra", "LEE@acme.example", json!(Fixture::user(1)));
    tagged["receiverUserTags"] = json!([TAG]);
    let first = invitation("mira", "m@acme.example", json!(Fixture::user(0)));
    check(
        "invitations",
        &[
            ("CREATE_INVITATIONS", json!({"invitations": [first]})),
            (
                "CREATE_INVITATIONS",
                json!({"invitations": [tagged, invitation("b", "b@acme.example", json!(NOBODY))]}),
            ),
            ("DELETE_INVITATION", json!({"invitationId": id(0x81)})),
            ("DELETE_INVITATION", json!({"invitationId": id(0x82)})),
            ("DELETE_INVITATION", json!({"invitationId": NOBODY})),
        ],
    );
    let old = json!({"authenticatorName": "old", "userId": NOBODY, "challenge": "c", "attestation": {"id": "i",
        "type": "public-key", "rawId": "i", "response": {"clientDataJson": "d", "attestationObject": "o", "transports": []},
        "clientExtensionResults": {}}});
    check(
        "accept_invitation",
        &[
            (
                "ACCEPT_INVITATION",
                json!({"invitationId": NOBODY, "userId": Fixture::user(4), "authenticator": old}),
            ),
            (
                "ACCEPT_INVITATION_V2",
                json!({"invitationId": id(0x81), "userId": Fixture::user(4), "authenticator": passkey()}),
            ),
        ],
    );
}

#[test]
fn created_organizations() {
    let old = json!({"authenticatorName": "old", "userId": NOBODY, "challenge": "c", "attestation": {"id": "i",
        "type": "public-key", "rawId": "i", "response": {"clientDataJson": "d", "attestationObject": "o", "transports": []},
        "clientExtensionResults": {}}});
    let named = |passkey: Value| json!({"organizationName": "ac\u{202e}me", "rootEmail": "m@acme.example", "rootAuthenticator": passkey});
    let mut with_user_id = named(old);
    with_user_id["rootUserId"] = json!(NOBODY);
    check(
        "create_organization",
        &[("CREATE_ORGANIZATION", with_user_id), ("CREATE_ORGANIZATION_V2", named(passkey()))],
    );
}

#[test]
fn webhook_endpoints() {
    let activities = json!({"eventType": "ACTIVITY_UPDATES", "filtersJson": "{\"types\":[]}"});
    let silent = json!({"eventType": "ACTIVITY_UPDATES", "isActive": false});
    check(
        "create_webhook_endpoint",
        &[
            (
                "CREATE_WEBHOOK_ENDPOINT",
                json!({"url": "https://hooks.acme.example/a", "name": "audit", "subscriptions": [activities]}),
            ),
            (
                "CREATE_WEBHOOK_ENDPOINT",
                json!({"url": "http://hooks.acme.example@evil.example/", "name": "ops", "subscriptions": [silent]}),
            ),
        ],
    );
    check(
        "update_webhook_endpoint",
        &[
            (
                "UPDATE_WEBHOOK_ENDPOINT",
                json!({"endpointId": id(0x83), "url": "https://evil.example/quorate", "name": "ops", "isActive": true}),
            ),
            (
                "UPDATE_WEBHOOK_ENDPOINT",
                json!({"endpointId": id(0x83), "url": "https://HOOKS.acme.example/other", "isActive": false}),
            ),
            ("UPDATE_WEBHOOK_ENDPOINT", json!({"endpointId": NOBODY, "url": "http://a", "name": "ops"})),
            ("UPDATE_WEBHOOK_ENDPOINT", json!({"endpointId": id(0x83)})),
            ("DELETE_WEBHOOK_ENDPOINT", json!({"endpointId": id(0x83)})),
            ("DELETE_WEBHOOK_ENDPOINT", json!({"endpointId": NOBODY})),
        ],
    );
}

#[test]
fn profiles_and_interfaces() {
    check(
        "create_session_profile",
        &[
            (
                "CREATE_SESSION_PROFILE",
                json!({"sessionProfileName": "signing", "scope": "activity.kind == 'SIGN_RAW_PAYLOAD'",
                    "expirationSeconds": "900", "notes": "for the shop"}),
            ),
            ("CREATE_SESSION_PROFILE", json!({"sessionProfileName": "payouts", "scope": "true"})),
            (
                "CREATE_SESSION_PROFILE",
                json!({"sessionProfileName": "b", "scope": "activity.kind == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2'"}),
            ),
            ("CREATE_SESSION_PROFILE", json!({"sessionProfileName": "a", "scope": "nonsense =="})),
        ],
    );
    let long = format!("[{}]", vec![r#"{"type": "function", "name": "transfer"}"#; 10_000].join(",\n"));
    let interface = |text: &str, address: &str, network: &str| {
        json!({"smartContractAddress": address, "smartContractInterface": text,
            "type": format!("SMART_CONTRACT_INTERFACE_TYPE_{network}"), "label": "USDC", "notes": ""})
    };
    check(
        "create_smart_contract_interface",
        &[
            (
                "CREATE_SMART_CONTRACT_INTERFACE",
                interface(&long, "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "ETHEREUM"),
            ),
            (
                "CREATE_SMART_CONTRACT_INTERFACE",
                interface("{}", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "SOLANA"),
            ),
            (
                "CREATE_SMART_CONTRACT_INTERFACE",
                interface(&long.replace("transfer", "a\u{202e}b"), "0x", "NEW"),
            ),
            ("DELETE_SMART_CONTRACT_INTERFACE", json!({"smartContractInterfaceId": id(0x85)})),
            ("DELETE_SMART_CONTRACT_INTERFACE", json!({"smartContractInterfaceId": NOBODY})),
        ],
    );
}

#[test]
fn ip_allowlists() {
    let key = |user: usize| json!(Fixture::stamper(user).public_key());
    let office = json!({"cidr": "203.0.113.7/24", "label": "office"});
    let (home, street) = (json!({"cidr": "192.0.2.1"}), json!({"cidr": "the street"}));
    let rows = [
        ("SET_IP_ALLOWLIST", json!({})),
        ("SET_IP_ALLOWLIST", json!({"enabled": true, "rules": [office, office, home]})),
        ("SET_IP_ALLOWLIST", json!({"enabled": false, "rules": [office], "onEvaluationError": "ALLOW"})),
        ("SET_IP_ALLOWLIST", json!({"publicKey": key(1), "enabled": false, "rules": [home, street]})),
        ("SET_IP_ALLOWLIST", json!({"publicKey": key(1), "rules": []})),
        ("SET_IP_ALLOWLIST", json!({"publicKey": "02ab", "rules": [home]})),
        ("SET_IP_ALLOWLIST", json!({"rules": [{"cidr": "127.0.0.0/8"}, office]})),
        ("REMOVE_IP_ALLOWLIST", json!({})),
        ("REMOVE_IP_ALLOWLIST", json!({"publicKey": key(1)})),
        ("REMOVE_IP_ALLOWLIST", json!({"publicKey": key(0)})),
    ];
    check("ip_allowlist", &rows);
    let mut open = sample_organization();
    open.ip_allowlists.clear();
    check_in(&open, "ip_allowlist_first", &rows[..4]);
}

#[test]
fn payment() {
    let card = |number: &str, code: &str| {
        json!({"number": number, "cvv": code, "expiryMonth": "01", "expiryYear": "2030",
            "cardHolderEmail": "m@acme.example", "cardHolderName": "Mira"})
    };
    let by_id =
        json!({"paymentMethodId": "pm_2", "cardHolderEmail": "m@acme.example", "cardHolderName": "Mira"});
    let rows = [
        ("SET_PAYMENT_METHOD", card("4242424242421234", "123")),
        ("SET_PAYMENT_METHOD", card("************1234", "***")),
        ("SET_PAYMENT_METHOD_V2", by_id),
        ("DELETE_PAYMENT_METHOD", json!({})),
        ("DELETE_PAYMENT_METHOD", json!({"paymentMethodId": "pm_2"})),
        ("ACTIVATE_BILLING_TIER", json!({"productId": "product-2", "orbPlanId": "plan"})),
    ];
    check("payment", &rows);
    let organization = Fixture::new(3, 2).organization();
    check_in(&organization, "payment_first", &rows[2..]);
}

#[test]
fn deleted_organizations() {
    let mut copied = sample_organization();
    copied.wallets[0].exported = true;
    copied.private_keys.clear();
    let rows = [
        ("DELETE_ORGANIZATION", json!({"organizationId": Fixture::id()})),
        ("DELETE_ORGANIZATION", json!({"organizationId": NOBODY})),
        ("DELETE_SUB_ORGANIZATION", json!({})),
        ("DELETE_SUB_ORGANIZATION", json!({"deleteWithoutExport": true})),
    ];
    check("organizations_that_go", &rows);
    check_in(&copied, "organizations_with_copies", &rows[2..]);
    let mut many = sample_organization();
    many.head.organization_name = "\u{65e5}\u{672c}".to_owned();
    many.wallets = vec![many.wallets[0].clone(); 7];
    check_in(&many, "organization_with_many_keys", &rows[3..]);
}

#[test]
fn card_numbers_are_never_shown() {
    let organization = sample_organization();
    let context = ReviewContext::of(&organization);
    let card = json!({"number": "4242424242421234", "cvv": "987", "expiryMonth": "01", "expiryYear": "2030",
        "cardHolderEmail": "m@acme.example", "cardHolderName": "Mira"});
    let decoded = decode("ACTIVITY_TYPE_SET_PAYMENT_METHOD", &card, &context);
    let shown = format!("{:?} {:?}", decoded.description, decoded.fields);
    assert!(
        shown.contains("************1234") && !shown.contains("24212") && !shown.contains("987"),
        "{shown}"
    );
    assert_eq!(decoded.abridged, ["number", "cvv"]);
    let mut odd = card;
    odd["number"] = json!("42\u{202e}42");
    assert_eq!(decode("ACTIVITY_TYPE_SET_PAYMENT_METHOD", &odd, &context).abridged, ["cvv"]);
}
