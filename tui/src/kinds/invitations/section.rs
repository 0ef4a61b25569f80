//! Invitations and their status.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Invitation;

use crate::kinds::ReviewContext;
use crate::kinds::section::{Item, Row, Section, SectionData, cells};
use crate::text::{clean, date_time, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Invitations", count: |detail| detail.invitations.len(), items: invitations };

fn invitations(data: &SectionData<'_>) -> Vec<Item> {
    let context = ReviewContext::of(data.detail);
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
            format!("from      {}", context.user_named(&one.sender_user_id.to_string())),
            format!("status    {status} since {}   access {access}", date_time(one.updated_at.millis())),
        ];
        lines.extend(
            one.receiver_user_tags
                .iter()
                .map(|tag| format!("tag       {}", context.tag_named(&tag.to_string()))),
        );
        let row = cells([(&one.receiver_user_name, 18), (&status, 10)], &one.receiver_email);
        Item::new(&one.receiver_user_name, row, lines)
    };
    data.detail.invitations.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |one: &Invitation| {
        let status = clean(one.status.trim_start_matches("INVITATION_STATUS_"));
        let (name, address) = (quoted(&one.receiver_user_name), clean(&one.receiver_email));
        ("invited", format!("{} {status} {name} {address}", one.invitation_id))
    };
    organization.invitations.iter().map(line).collect()
}
