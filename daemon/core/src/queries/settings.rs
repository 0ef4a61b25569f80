//! What is set of an organization: webhook endpoints, session profiles, smart contract interfaces, IP allowlists.

use quorate_common::ids::{SessionProfileId, SmartContractInterfaceId};
use quorate_common::json::Document;
use serde::Deserialize;

use super::{Asked, one, read};
use crate::model::{SessionProfile, SmartContractInterface};
use crate::records;
use crate::refusal::{Corrupt, Missing, Refusal};

/// All webhook endpoints, oldest first.
pub(super) fn list_webhook_endpoints(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    let mut endpoints: Vec<_> = asked.organization.webhook_endpoints.iter().collect();
    endpoints.sort_by_key(|endpoint| (endpoint.created, endpoint.id));
    let id = asked.id();
    one("webhookEndpoints", &endpoints.into_iter().map(|endpoint| endpoint.wire(id)).collect::<Vec<_>>())
}

/// The profiles that sessions of an organization may name: its own, or those of its parent.
fn session_profiles(asked: &Asked<'_>) -> Result<Vec<SessionProfile>, Corrupt> {
    let own = asked.organization.session_profiles.iter().cloned();
    let Some(parent) = asked.organization.head.parent else { return Ok(own.collect()) };
    let parent = asked.world.organization(parent)?;
    Ok(parent.map(|parent| parent.session_profiles.iter().cloned().collect()).unwrap_or_default())
}

/// One session profile.
pub(super) fn get_session_profile(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        session_profile_id: SessionProfileId,
    }
    let query: Query = read(value)?;
    let found = session_profiles(asked)?.into_iter().find(|profile| profile.id == query.session_profile_id);
    one("sessionProfile", &found.ok_or(Missing::Thing("session profile"))?.wire())
}

/// All session profiles, oldest first.
pub(super) fn get_session_profiles(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    let mut profiles = session_profiles(asked)?;
    profiles.sort_by_key(|profile| (profile.created, profile.id));
    one("sessionProfiles", &profiles.iter().map(SessionProfile::wire).collect::<Vec<_>>())
}

/// One smart contract interface with its text.
pub(super) fn get_smart_contract_interface(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        smart_contract_interface_id: SmartContractInterfaceId,
    }
    let query: Query = read(value)?;
    let found = asked.organization.smart_contract_interfaces.get(query.smart_contract_interface_id);
    let found = found.ok_or(Missing::Thing("smart contract interface"))?;
    let whole = whole(asked, found)?.ok_or(Missing::Thing("smart contract interface"))?;
    one("smartContractInterface", &whole)
}

/// All smart contract interfaces with their texts, oldest first.
pub(super) fn list_smart_contract_interfaces(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    let mut interfaces: Vec<_> = asked.organization.smart_contract_interfaces.iter().collect();
    interfaces.sort_by_key(|interface| (interface.created, interface.id));
    let whole = interfaces.into_iter().filter_map(|interface| whole(asked, interface).transpose());
    one("smartContractInterfaces", &whole.collect::<Result<Vec<_>, _>>()?)
}

fn whole(
    asked: &Asked<'_>,
    interface: &SmartContractInterface,
) -> Result<Option<quorate_common::wire::SmartContractInterface>, Corrupt> {
    let text = records::interface_text(asked.world.records(), asked.id(), interface.id)?;
    Ok(text.map(|text| interface.wire(asked.id(), text)))
}

/// The IP allowlist of the organization, or of one API key.
pub(super) fn get_ip_allowlist(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        public_key: Option<String>,
    }
    let query: Query = read(value)?;
    let key = query.public_key.filter(|key| !key.is_empty()).map(|key| key.to_ascii_lowercase());
    let list = asked.organization.ip_allowlist(key.as_deref()).ok_or(Missing::Thing("IP allowlist"))?;
    one("allowlist", &list.wire(asked.id(), key))
}
