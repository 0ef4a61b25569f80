//! Sections for invitations, webhook endpoints, session profiles and smart contract interfaces.

use quorate_common::wire::{Invitation, SessionProfile, SmartContractInterface, WebhookEndpoint};

use super::item::{Item, Shown, cells};
use crate::kinds::Scene;
use crate::text::{clean, date_time, duration, quoted};

pub(super) fn invitations(shown: &Shown<'_>) -> Vec<Item> {
    let scene = Scene::of(shown.detail);
    let item = |one: &Invitation| {
        let status = match one.status.as_str() {
            "INVITATION_STATUS_CREATED" => "open".to_owned(),
            "INVITATION_STATUS_ACCEPTED" => "accepted".to_owned(),
            "INVITATION_STATUS_REVOKED" => "revoked".to_owned(),
            other => clean(other),
        };
        let access = clean(one.access_type.trim_start_matches("ACCESS_TYPE_"));
        let mut lines = vec![
            format!("id        {} sent {}", one.invitation_id, date_time(one.created_at.millis())),
            format!("to        {}", clean(&one.receiver_email)),
            format!("from      {}", scene.user_named(&one.sender_user_id.to_string())),
            format!("status    {status} since {}   access {access}", date_time(one.updated_at.millis())),
        ];
        lines.extend(
            one.receiver_user_tags
                .iter()
                .map(|tag| format!("tag       {}", scene.tag_named(&tag.to_string()))),
        );
        let row = cells([(&one.receiver_user_name, 18), (&status, 10)], &one.receiver_email);
        Item::new(&one.receiver_user_name, row, lines)
    };
    shown.detail.invitations.iter().map(item).collect()
}

pub(super) fn endpoints(shown: &Shown<'_>) -> Vec<Item> {
    let item = |one: &WebhookEndpoint| {
        let state = if one.is_active { "active" } else { "inactive" };
        let mut lines =
            vec![format!("id        {}  {state}", one.endpoint_id), format!("URL       {}", clean(&one.url))];
        for subscription in &one.subscriptions {
            let counts = if subscription.is_active == Some(false) { "  (inactive)" } else { "" };
            lines.push(format!("events    {}{counts}", clean(&subscription.event_type)));
            if let Some(filters) = &subscription.filters_json {
                lines.push(format!("          the filters {} have no effect", quoted(filters)));
            }
        }
        if one.subscriptions.is_empty() {
            lines.push("events    none".to_owned());
        }
        let row = cells([(&one.name, 18), (state, 8)], &one.url);
        Item::new(&one.name, row, lines)
    };
    shown.detail.webhook_endpoints.iter().map(item).collect()
}

pub(super) fn profiles(shown: &Shown<'_>) -> Vec<Item> {
    let item = |one: &SessionProfile| {
        let life = match one.expiration_seconds.as_deref().map(str::parse::<u64>) {
            None => "no limit of its own".to_owned(),
            Some(Ok(seconds)) => format!("at most {}", duration(seconds.saturating_mul(1000))),
            Some(Err(_)) => "invalid lifetime".to_owned(),
        };
        let notes = one.notes.as_deref().filter(|notes| !notes.is_empty());
        let lines = vec![
            format!("id        {} added {}", one.session_profile_id, date_time(one.created_at.millis())),
            format!("scope     {}", clean(&one.scope)),
            format!("lifetime  {life}"),
            format!("notes     {}", notes.map_or_else(|| "none".to_owned(), clean)),
        ];
        let row = cells([(&one.session_profile_name, 24)], &life);
        Item::new(&one.session_profile_name, row, lines)
    };
    shown.detail.session_profiles.iter().map(item).collect()
}

/// Returns the smart contract interfaces, without their texts.
pub(super) fn interfaces(shown: &Shown<'_>) -> Vec<Item> {
    let item = |one: &SmartContractInterface| {
        let kind = clean(one.interface_type.trim_start_matches("SMART_CONTRACT_INTERFACE_TYPE_"));
        let notes = if one.notes.is_empty() { "none".to_owned() } else { clean(&one.notes) };
        let lines = vec![
            format!(
                "id        {} added {}",
                one.smart_contract_interface_id,
                date_time(one.created_at.millis())
            ),
            format!("contract  {kind} {}", clean(&one.smart_contract_address)),
            format!("notes     {notes}"),
        ];
        let row = cells([(&one.label, 18), (&kind, 8)], &one.smart_contract_address);
        Item::new(&one.label, row, lines)
    };
    shown.detail.smart_contract_interfaces.iter().map(item).collect()
}
