//! Invitations and their status.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::{Invitation, InvitationMail};

use crate::kinds::ReviewContext;
use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::messages::{is_lost, mail_text};
use crate::text::{clean, date_time, quoted};

impl Listed for Invitation {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.invitations
    }

    fn item(&self, data: &SectionData<'_>) -> Item {
        let context = ReviewContext::of(data.detail);
        let status = match self.status.as_str() {
            "INVITATION_STATUS_CREATED" => "open".to_owned(),
            "INVITATION_STATUS_ACCEPTED" => "accepted".to_owned(),
            "INVITATION_STATUS_REVOKED" => "revoked".to_owned(),
            other => clean(other),
        };
        let mail = mail(self, data.detail);
        let is_lost = status == "open" && mail.is_some_and(|mail| is_lost(&mail.event_type));
        let access = clean(self.access_type.trim_start_matches("ACCESS_TYPE_"));
        let mut lines = vec![
            format!("id        {} sent {}", self.invitation_id, date_time(self.created_at.millis())),
            format!("to        {}", clean(&self.receiver_email)),
            format!("from      {}", context.user_named(&self.sender_user_id.to_string())),
            format!("status    {status} since {}   access {access}", date_time(self.updated_at.millis())),
        ];
        lines.extend(mail.map(|mail| format!("mail      {}", mail_text(mail, Some(data.now)))));
        lines.extend(
            self.receiver_user_tags
                .iter()
                .map(|tag| format!("tag       {}", context.tag_named(&tag.to_string()))),
        );
        if status == "open" {
            lines.push(
                "revoke    DELETE_INVITATION with its id makes the invitation useless at once".to_owned(),
            );
        }
        let shown = if is_lost { "[!] bounced" } else { &status };
        let row = cells([(&self.receiver_user_name, 18), (shown, 11)], &self.receiver_email);
        Item::new(&self.receiver_user_name, row, lines)
    }

    fn line(&self, organization: &OrganizationDetail) -> Row {
        let status = clean(self.status.trim_start_matches("INVITATION_STATUS_"));
        let (name, address) = (quoted(&self.receiver_user_name), clean(&self.receiver_email));
        let sent = date_time(self.created_at.millis());
        let mark = |mail: &InvitationMail| if is_lost(&mail.event_type) { "[!] " } else { "" };
        let mail = match mail(self, organization) {
            Some(mail) => format!("created {sent}, {}mail {}", mark(mail), mail_text(mail, None)),
            None => format!("sent {sent}"),
        };
        ("invited", format!("{} {status} {name} {address} {mail}", self.invitation_id))
    }
}

/// Returns what became of the mail with an invitation, if it is recorded.
fn mail<'a>(invitation: &Invitation, organization: &'a OrganizationDetail) -> Option<&'a InvitationMail> {
    organization.invitation_mails.iter().find(|mail| mail.invitation_id == invitation.invitation_id)
}
