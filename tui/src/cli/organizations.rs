//! `quorate org ls|get`.

use std::fmt::Write as _;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use serde_json::json;

use super::arguments::OrgCommand;
use super::table::{self, Table};
use crate::failure::Result;
use crate::kinds::LINES;
use crate::output::Answer;
use crate::session::{Session, organization_named, pin_keys};
use crate::text::{clean, rfc3339};

pub(super) async fn run(session: &Session, command: &OrgCommand) -> Result<Answer> {
    session.daemon_status().await?;
    match command {
        OrgCommand::Ls { parent, contact } => {
            // Without a pinned organization, the user cannot be checked.
            if session.identity.viewer.organization.is_some() {
                session.organization().await?;
            }
            let parent = match (parent, contact) {
                (None, Some(_)) => Some(session.organization_id().await?),
                (Some(parent), _) => Some(organization_named(&session.client, parent).await?),
                (None, None) => None,
            };
            list(session, parent, contact.as_deref()).await
        }
        OrgCommand::Get { id } => {
            let organization = match id {
                Some(id) => {
                    session.client.organization(organization_named(&session.client, id).await?).await?
                }
                None => session.organization().await?,
            };
            pin_keys(&session.folders, &organization)?;
            Ok(Answer::one(json!(organization), text(&organization)))
        }
    }
}

async fn list(session: &Session, parent: Option<OrganizationId>, contact: Option<&str>) -> Result<Answer> {
    let mut heads = Vec::new();
    let mut after = None;
    loop {
        let page = match (parent, contact) {
            (Some(parent), Some(contact)) => session.client.with_contact(parent, contact, after).await?,
            _ => session.client.organizations(parent, after).await?,
        };
        heads.extend(page.organizations);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let rows = heads.iter().map(|head| {
        let quorum = &head.root_quorum;
        let parent = head.parent_organization_id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let cells = [
            head.organization_name.clone(),
            head.organization_id.to_string(),
            format!("{} of {}", quorum.threshold, quorum.user_ids.len()),
            head.registration().unwrap_or("-").to_owned(),
            head.version.to_string(),
            rfc3339(head.created_at.millis()),
            parent,
        ];
        table::row(json!(head), &head.organization_id, cells)
    });
    Ok(Table {
        noun: ("organization", "organizations"),
        columns: &["NAME", "ID", "ROOT QUORUM", "REGISTERED"],
        wide: &["VERSION", "CREATED", "PARENT"],
        rows: rows.collect(),
        none: "No organizations.",
        more: None,
    }
    .answer())
}

/// Formats an organization as lines: the kind of record, its id and its name.
fn text(organization: &OrganizationDetail) -> String {
    let head = &organization.head;
    let mut out = format!(
        "{} {}\nroot quorum {} of {}, version {}\n",
        clean(&head.organization_name),
        head.organization_id,
        head.root_quorum.threshold,
        head.root_quorum.user_ids.len(),
        head.version
    );
    if let Some(registration) = head.registration() {
        let _ = writeln!(out, "{registration}: anybody could create this organization over the API");
    }
    for (what, description) in LINES.iter().flat_map(|lines| lines(organization)) {
        let _ = writeln!(out, "{what:<9} {description}");
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use super::*;
    use crate::testing::Fixture;

    #[test]
    fn text_lists_every_record() {
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!("organization", text(&Fixture::new(3, 2).with_all_records()));
        });
    }

    #[test]
    fn the_sample_organization_has_every_record() {
        let sample = json!(Fixture::new(3, 2).with_all_records());
        let empty = |name: &str| sample[name].as_array().is_some_and(Vec::is_empty);
        let members = sample.as_object().unwrap().keys().map(String::as_str);
        let absent: Vec<&str> = members.filter(|name| empty(name)).collect();
        assert_eq!(absent, ["features", "policies"], "tests add these where they need them");
    }
}
