//! Queries of settings: webhook endpoints, session profiles, smart contract interfaces, IP allowlists.

use quorate_common::ids::{SessionProfileId, SmartContractInterfaceId};
use quorate_common::json::Document;
use serde::Deserialize;

use super::{QueryContext, one, read};
use crate::error::{Corrupt, Missing, RequestError};
use crate::model::{SessionProfile, SmartContractInterface};
use crate::records;

/// Answers with all webhook endpoints, oldest first.
pub(super) fn list_webhook_endpoints(
    context: &QueryContext<'_>,
    _: &Document,
) -> Result<Vec<u8>, RequestError> {
    let mut endpoints: Vec<_> = context.organization.webhook_endpoints.iter().collect();
    endpoints.sort_by_key(|endpoint| (endpoint.created, endpoint.id));
    let id = context.id();
    one("webhookEndpoints", &endpoints.into_iter().map(|endpoint| endpoint.wire(id)).collect::<Vec<_>>())
}

/// Returns the profiles that sessions of an organization may use: its own, or those of its parent.
fn session_profiles(context: &QueryContext<'_>) -> Result<Vec<SessionProfile>, Corrupt> {
    let own = context.organization.session_profiles.iter().cloned();
    let Some(parent) = context.organization.head.parent else { return Ok(own.collect()) };
    let parent = context.world.organization(parent)?;
    Ok(parent.map(|parent| parent.session_profiles.iter().cloned().collect()).unwrap_or_default())
}

/// Answers with one session profile.
pub(super) fn get_session_profile(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        session_profile_id: SessionProfileId,
    }
    let query: Query = read(value)?;
    let found = session_profiles(context)?.into_iter().find(|profile| profile.id == query.session_profile_id);
    one("sessionProfile", &found.ok_or(Missing::Other("session profile"))?.wire())
}

/// Answers with all session profiles, oldest first.
pub(super) fn get_session_profiles(
    context: &QueryContext<'_>,
    _: &Document,
) -> Result<Vec<u8>, RequestError> {
    let mut profiles = session_profiles(context)?;
    profiles.sort_by_key(|profile| (profile.created, profile.id));
    one("sessionProfiles", &profiles.iter().map(SessionProfile::wire).collect::<Vec<_>>())
}

/// Answers with one smart contract interface and its text.
pub(super) fn get_smart_contract_interface(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        smart_contract_interface_id: SmartContractInterfaceId,
    }
    let query: Query = read(value)?;
    let found = context.organization.smart_contract_interfaces.get(query.smart_contract_interface_id);
    let found = found.ok_or(Missing::Other("smart contract interface"))?;
    let interface = with_text(context, found)?.ok_or(Missing::Other("smart contract interface"))?;
    one("smartContractInterface", &interface)
}

/// Answers with all smart contract interfaces and their texts, oldest first.
pub(super) fn list_smart_contract_interfaces(
    context: &QueryContext<'_>,
    _: &Document,
) -> Result<Vec<u8>, RequestError> {
    let mut interfaces: Vec<_> = context.organization.smart_contract_interfaces.iter().collect();
    interfaces.sort_by_key(|interface| (interface.created, interface.id));
    let interfaces = interfaces.into_iter().filter_map(|interface| with_text(context, interface).transpose());
    one("smartContractInterfaces", &interfaces.collect::<Result<Vec<_>, _>>()?)
}

/// Returns an interface with its text, or `None` if the text was deleted since the snapshot was read.
fn with_text(
    context: &QueryContext<'_>,
    interface: &SmartContractInterface,
) -> Result<Option<quorate_common::wire::SmartContractInterface>, Corrupt> {
    let text = records::interface_text(context.world.records(), context.id(), interface.id)?;
    Ok(text.map(|text| interface.wire(context.id(), text)))
}

/// Answers with the IP allowlist of the organization, or of one API key.
pub(super) fn get_ip_allowlist(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        public_key: Option<String>,
    }
    let query: Query = read(value)?;
    let key = query.public_key.filter(|key| !key.is_empty()).map(|key| key.to_ascii_lowercase());
    let list = context.organization.ip_allowlist(key.as_deref()).ok_or(Missing::Other("IP allowlist"))?;
    one("allowlist", &list.wire(context.id(), key))
}
