//! The settings of an organization in the format of the wire.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::sorted;
use crate::model::world::{Allowlist, Block, ContractInterface, Invitation, InvitationStatus};
use crate::model::world::{Organization, SessionProfile, Subscription, WebhookEndpoint};

pub(in crate::model) fn webhook_endpoints(organization: &Organization) -> Value {
    sorted(organization.webhook_endpoints.iter().map(|endpoint| webhook_endpoint(&organization.id, endpoint)))
}

pub(in crate::model) fn webhook_endpoint(organization: &str, endpoint: &WebhookEndpoint) -> Value {
    json!({
        "endpointId": endpoint.id,
        "organizationId": organization,
        "url": endpoint.url,
        "name": endpoint.name,
        "isActive": endpoint.is_active,
        "subscriptions": sorted(endpoint.subscriptions.iter().map(subscription)),
    })
}

/// Returns a subscription as in requests and answers.
pub(in crate::model) fn subscription(subscription: &Subscription) -> Value {
    let mut view = json!({ "eventType": subscription.event });
    if let Some(filters) = subscription.filters {
        view["filtersJson"] = json!(filters);
    }
    if let Some(is_active) = subscription.is_active {
        view["isActive"] = json!(is_active);
    }
    view
}

pub(in crate::model) fn session_profiles(profiles: &[SessionProfile]) -> Value {
    sorted(profiles.iter().map(session_profile))
}

pub(in crate::model) fn session_profile(profile: &SessionProfile) -> Value {
    let mut view = json!({
        "sessionProfileId": profile.id,
        "sessionProfileName": profile.name,
        "scope": profile.scope,
    });
    if let Some(seconds) = profile.expiration_seconds {
        view["expirationSeconds"] = json!(seconds);
    }
    if let Some(notes) = profile.notes {
        view["notes"] = json!(notes);
    }
    view
}

pub(in crate::model) fn contract_interfaces(organization: &Organization) -> Value {
    let interfaces = organization.contract_interfaces.iter();
    sorted(interfaces.map(|interface| contract_interface(&organization.id, interface)))
}

pub(in crate::model) fn contract_interface(organization: &str, interface: &ContractInterface) -> Value {
    json!({
        "organizationId": organization,
        "smartContractInterfaceId": interface.id,
        "smartContractAddress": interface.address,
        "smartContractInterface": interface.text,
        "type": format!("SMART_CONTRACT_INTERFACE_TYPE_{}", interface.chain),
        "label": interface.label,
        "notes": interface.notes,
    })
}

/// Returns references to all smart contract interfaces, as in the organization.
pub(in crate::model) fn contract_references(organization: &Organization) -> Value {
    sorted(organization.contract_interfaces.iter().map(|interface| {
        json!({
            "smartContractInterfaceId": interface.id,
            "smartContractAddress": interface.address,
            "digest": const_hex::encode(Sha256::digest(&interface.text)),
        })
    }))
}

/// Returns the IP allowlist of the organization or of a key. The list of a key is always enabled.
pub(in crate::model) fn allowlist(organization: &str, public_key: Option<&str>, list: &Allowlist) -> Value {
    let block = |block: &Block| match &block.label {
        Some(label) => json!({ "cidr": block.network, "label": label }),
        None => json!({ "cidr": block.network }),
    };
    let mut view = json!({
        "organizationId": organization,
        "rules": sorted(list.blocks.iter().map(block)),
        "onEvaluationError": list.on_error,
    });
    match public_key {
        Some(public_key) => view["publicKey"] = json!(public_key),
        None => view["enabled"] = json!(list.is_enabled),
    }
    view
}

/// Returns all invitations with any status.
pub(in crate::model) fn invitations(organization: &Organization) -> Value {
    sorted(organization.invitations.iter().map(invitation))
}

fn invitation(invitation: &Invitation) -> Value {
    let status = match invitation.status {
        InvitationStatus::Created => "INVITATION_STATUS_CREATED",
        InvitationStatus::Accepted => "INVITATION_STATUS_ACCEPTED",
        InvitationStatus::Revoked => "INVITATION_STATUS_REVOKED",
    };
    json!({
        "invitationId": invitation.id,
        "receiverUserName": invitation.name,
        "receiverEmail": invitation.email,
        "receiverUserTags": invitation.tags,
        "accessType": invitation.access,
        "status": status,
        "senderUserId": invitation.sender,
    })
}
