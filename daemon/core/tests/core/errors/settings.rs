//! Samples and expected errors of kinds that change the settings of an organization or delete it.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person, public_key};
use crate::samples;

/// Returns valid parameters of a type of this module. The user whose credentials change is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, _: &Person) -> Option<Value> {
    Some(match name {
        "ACCEPT_INVITATION" => json!({"invitationId": fixture.invitation, "userId": fixture.invited.user,
            "authenticator": samples::authenticator_v1("guest", fixture.invited.user)}),
        "ACCEPT_INVITATION_V2" => json!({"invitationId": fixture.invitation, "userId": fixture.invited.user,
            "authenticator": samples::authenticator("guest")}),
        "ACTIVATE_BILLING_TIER" => json!({"productId": "product"}),
        "CREATE_ORGANIZATION" => json!({"organizationName": "new", "rootEmail": "registrant@new.example",
            "rootAuthenticator": samples::authenticator_v1("registrant", fixture.registrant.user), "rootUserId": fixture.registrant.user}),
        "CREATE_ORGANIZATION_V2" => json!({"organizationName": "new", "rootEmail": "registrant@new.example",
            "rootAuthenticator": samples::authenticator("registrant"), "rootUserId": fixture.registrant.user}),
        "CREATE_INVITATIONS" => json!({"invitations": [{"receiverUserName": "fresh",
            "receiverUserEmail": "fresh@house.example", "receiverUserTags": [fixture.user_tag],
            "accessType": "ACCESS_TYPE_ALL", "senderUserId": fixture.roots[0].user}]}),
        "DISABLE_AUTH_PROXY" | "ENABLE_AUTH_PROXY" => json!({}),
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
            json!({"number": samples::CARD, "cvv": "917", "expiryMonth": "12", "expiryYear": "2030",
            "cardHolderName": "Holder", "cardHolderEmail": "holder@house.example"})
        }
        "SET_PAYMENT_METHOD_V2" => json!({"paymentMethodId": "fresh", "cardHolderName": "Holder",
            "cardHolderEmail": "holder@house.example"}),
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{
        AlreadyExists, InvalidArgument, NotFound, PermissionDenied, ResourceExhausted, Unauthenticated,
        Unimplemented,
    };
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    let root = |name, changes, code, message: &str| -> Row {
        (name, Sender::Root, changes, code, None, message.to_owned())
    };
    let invalid = |name, changes, message: &str| root(name, changes, InvalidArgument, message);
    let missing =
        |name, changes, noun: &str| root(name, changes, NotFound, &format!("no {noun} found with "));
    let closed = |name, what: &str| -> Row {
        let reason = Some("INVALID_ACTIVITY_CALLER");
        (name, Sender::Child, json!({}), InvalidArgument, reason, format!("sub-organizations cannot {what}"))
    };
    let invitation = |member: &str, value: Value| {
        let parameters = samples::parameters("ACTIVITY_TYPE_CREATE_INVITATIONS", fixture, &fixture.spare);
        let good = parameters["invitations"][0].clone();
        let (mut bad, mut other) = (good.clone(), good);
        bad[member] = value;
        other["receiverUserEmail"] = json!("other@house.example");
        json!({"invitations": [other, bad]})
    };
    let blocks = |count: u8| {
        let blocks: Vec<_> = (0..count).map(|one| json!({"cidr": format!("192.0.2.{one}/32")})).collect();
        json!({"rules": blocks})
    };
    let unknown_user = format!("unable to find user {unknown_id} in organization {}", fixture.id);
    let existing_address = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";
    let ethereum = "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM";
    let subscribe = |event: &str| json!({"subscriptions": [{"eventType": event}]});
    vec![
        root("CREATE_INVITATIONS", invitation("senderUserId", json!(unknown_id)), NotFound, &unknown_user),
        invalid(
            "CREATE_INVITATIONS",
            invitation("senderUserId", json!(fixture.spare.user)),
            "invalid request body: `senderUserId` must be the user who submits the request",
        ),
        missing(
            "CREATE_INVITATIONS",
            invitation("receiverUserTags", json!([fixture.private_key_tag])),
            "user tag",
        ),
        invalid(
            "CREATE_INVITATIONS",
            json!({"invitations": []}),
            "invalid request body: `invitations` must not",
        ),
        invalid(
            "CREATE_INVITATIONS",
            invitation("receiverUserEmail", json!("other@house.example")),
            "invalid request body: `invitations` contains a duplicate element",
        ),
        invalid(
            "CREATE_INVITATIONS",
            invitation("accessType", json!("ACCESS_TYPE_NONE")),
            "invalid request body",
        ),
        (
            "CREATE_ORGANIZATION",
            Sender::Registrant,
            json!({"rootUserId": fixture.spare.user}),
            InvalidArgument,
            None,
            "invalid request body: the `userId` of an authenticator must be that of the request".to_owned(),
        ),
        (
            "CREATE_ORGANIZATION_V2",
            Sender::Registrant,
            json!({"rootUserId": "00000000-0000-0000-0000-000000000000"}),
            InvalidArgument,
            None,
            "invalid request body: `rootUserId`: expected an id other than zero".to_owned(),
        ),
        (
            "CREATE_ORGANIZATION_V2",
            Sender::Registrant,
            json!({"rootAuthenticator": samples::authenticator("other")}),
            Unauthenticated,
            Some("SIGNATURE_INVALID"),
            "a new organization must be stamped with the passkey that it registers".to_owned(),
        ),
        missing("DELETE_INVITATION", json!({"invitationId": unknown_id}), "invitation"),
        (
            "ACCEPT_INVITATION",
            Sender::Invited,
            json!({"invitationId": unknown_id}),
            PermissionDenied,
            Some("REQUEST_NOT_AUTHORIZED"),
            "request not authorized".to_owned(),
        ),
        (
            "ACCEPT_INVITATION_V2",
            Sender::Invited,
            json!({"userId": fixture.spare.user}),
            AlreadyExists,
            None,
            "user ID is already in use in this organization".to_owned(),
        ),
        (
            "ACCEPT_INVITATION_V2",
            Sender::Invited,
            json!({"authenticator": samples::authenticator("spare")}),
            AlreadyExists,
            None,
            "credential ID is already registered".to_owned(),
        ),
        invalid("CREATE_WEBHOOK_ENDPOINT", json!({"url": "http://hooks.example.org"}), "invalid webhook URL"),
        root(
            "CREATE_WEBHOOK_ENDPOINT",
            json!({"name": "endpoint"}),
            AlreadyExists,
            "webhook endpoint name must be unique",
        ),
        invalid("CREATE_WEBHOOK_ENDPOINT", subscribe("ACTIVITY"), "invalid request body: `eventType`"),
        root(
            "CREATE_WEBHOOK_ENDPOINT",
            subscribe("BALANCE_CONFIRMED_UPDATES"),
            Unimplemented,
            "unimplemented: webhooks for BALANCE_CONFIRMED_UPDATES",
        ),
        missing("UPDATE_WEBHOOK_ENDPOINT", json!({"endpointId": unknown_id}), "webhook endpoint"),
        invalid("UPDATE_WEBHOOK_ENDPOINT", json!({"url": "file:///etc/passwd"}), "invalid webhook URL"),
        missing("DELETE_WEBHOOK_ENDPOINT", json!({"endpointId": fixture.user_tag}), "webhook endpoint"),
        invalid(
            "CREATE_SESSION_PROFILE",
            json!({"scope": "activity.kind =="}),
            "invalid session profile scope",
        ),
        invalid(
            "CREATE_SESSION_PROFILE",
            json!({"scope": " "}),
            "invalid request body: `scope` must not be empty",
        ),
        root(
            "CREATE_SESSION_PROFILE",
            json!({"sessionProfileName": "signer"}),
            AlreadyExists,
            "session profile name must be unique",
        ),
        closed("CREATE_SESSION_PROFILE", "create session profiles"),
        closed("ENABLE_AUTH_PROXY", "enable the authentication proxy"),
        invalid("DISABLE_AUTH_PROXY", json!({}), "the authentication proxy is not enabled"),
        invalid(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractAddress": existing_address}),
            "invalid request body: `smartContractAddress`",
        ),
        invalid(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractAddress": existing_address, "type": ethereum, "smartContractInterface": "[]"}),
            "smart contract address already has an interface",
        ),
        invalid(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractInterface": "[{]"}),
            "invalid request body: `smartContractInterface`: not JSON",
        ),
        invalid(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractInterface": "{\"instructions\": []}"}),
            "invalid request body: `smartContractInterface`: not an IDL: the list `types` is missing",
        ),
        invalid(
            "CREATE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractAddress": "0x00000000000000000000000000000000000000AA", "type": ethereum,
                "smartContractInterface": "[{\"type\": \"function\", \"name\": \"f\", \"inputs\": [{\"type\": \"money\"}]}]"}),
            "invalid request body: `smartContractInterface`: entry 1: a parameter has an unknown type",
        ),
        missing(
            "DELETE_SMART_CONTRACT_INTERFACE",
            json!({"smartContractInterfaceId": unknown_id}),
            "smart contract interface",
        ),
        invalid(
            "SET_IP_ALLOWLIST",
            json!({"rules": [{"cidr": "192.0.2.0/24"}, {"cidr": "192.0.2/24"}]}),
            "invalid CIDR at index 1: \"192.0.2/24\"",
        ),
        invalid(
            "SET_IP_ALLOWLIST",
            json!({"rules": [{"cidr": "10.0.0.0/19"}]}),
            "invalid CIDR at index 0: \"10.0.0.0/19\": must not be wider than /20",
        ),
        root(
            "SET_IP_ALLOWLIST",
            blocks(11),
            ResourceExhausted,
            "organization has reached its limit of 10 IP",
        ),
        missing("SET_IP_ALLOWLIST", json!({"publicKey": public_key(99)}), "api key"),
        closed("SET_IP_ALLOWLIST", "have IP allowlists"),
        missing("REMOVE_IP_ALLOWLIST", json!({"publicKey": null}), "IP allowlist"),
        invalid(
            "SET_PAYMENT_METHOD",
            json!({"number": "4242 4242"}),
            "invalid request body: `parameters.number`",
        ),
        invalid(
            "SET_PAYMENT_METHOD_V2",
            json!({"paymentMethodId": ""}),
            "invalid request body: `paymentMethodId`",
        ),
        missing("DELETE_PAYMENT_METHOD", json!({"paymentMethodId": "other"}), "payment method"),
        invalid("ACTIVATE_BILLING_TIER", json!({"productId": null}), "invalid request body: missing field"),
        closed("DELETE_ORGANIZATION", "delete organizations"),
        (
            "DELETE_ORGANIZATION",
            Sender::Bare,
            json!({"organizationId": fixture.id}),
            InvalidArgument,
            None,
            "invalid request body: `parameters.organizationId` must be the organization acted upon"
                .to_owned(),
        ),
        invalid(
            "DELETE_ORGANIZATION",
            json!({"organizationId": fixture.id}),
            "organization has sub-organizations",
        ),
        invalid("DELETE_SUB_ORGANIZATION", json!({}), "organization is not a sub-organization"),
    ]
}
