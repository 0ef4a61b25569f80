//! Invites people by mail to become users.

use std::fmt::Write as _;

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreateInvitations;

impl Kind for CreateInvitations {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_INVITATIONS",
            intent: "createInvitationsIntent",
            schema: "invitations[]:Invitation",
        }]
    }

    fn title(&self) -> &'static str {
        "Invite users"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let invited = parameters.list("invitations")?;
        let mut names = Vec::new();
        let mut sentence = format!(
            "Invite {} by mail. Each mail holds a secret that makes its reader a user of this organization.",
            if invited.len() == 1 { "1 person".to_owned() } else { format!("{} people", invited.len()) }
        );
        let mut description = Description::new(String::new(), String::new());
        for one in &invited {
            let (name, address) = (one.text("receiverUserName")?, one.text("receiverUserEmail")?);
            names.push(format!("{} at {}", quoted(name), clean(address)));
            let _ = write!(sentence, " {}", invitation(one, scene)?);
            add_flags(one, scene, &mut description)?;
        }
        let before = open_invitations(scene);
        let after = before.saturating_add(invited.len());
        description.change("open invitations", before.to_string(), after.to_string(), "");
        let text = "Anyone who reads such a mail first can become the user instead of the intended person.";
        description.flag(Level::Med, "secret-by-mail", text);
        description.brief = listed(names);
        description.sentence = sentence;
        Ok(description)
    }
}

/// Returns the number of invitations that are still open.
fn open_invitations(scene: &Scene<'_>) -> usize {
    let is_open = |one: &&quorate_common::wire::Invitation| one.status == "INVITATION_STATUS_CREATED";
    scene.organization.invitations.iter().filter(is_open).count()
}

/// Returns the sentences that describe an invitation.
fn invitation(one: &Reader<'_>, scene: &Scene<'_>) -> Result<String, Undecodable> {
    let access = one.text("accessType")?;
    let mut text = format!(
        "The invitation of {} goes to {} in the name of {}. The access type {} has no effect.",
        quoted(one.text("receiverUserName")?),
        quoted(one.text("receiverUserEmail")?),
        scene.user_named(one.text("senderUserId")?),
        clean(access.strip_prefix("ACCESS_TYPE_").unwrap_or(access))
    );
    let tags = one.texts("receiverUserTags")?;
    if !tags.is_empty() {
        let tags = listed(tags.iter().map(|tag| scene.tag_named(tag)));
        let _ = write!(text, " The new user is tagged {tags}.");
    }
    Ok(text)
}

fn add_flags(one: &Reader<'_>, scene: &Scene<'_>, description: &mut Description) -> Result<(), Undecodable> {
    let name = one.text("receiverUserName")?;
    let address = one.text("receiverUserEmail")?;
    let sender = one.text("senderUserId")?;
    let tags = one.texts("receiverUserTags")?;
    if !tags.is_empty() {
        let tags = listed(tags.iter().map(|tag| scene.tag_named(tag)));
        let text = format!("{} gets every right that policies give to {tags} at once.", quoted(name));
        description.flag(Level::Med, "joins-tag", text);
    }
    if let Some(known) = scene.organization.users.iter().find(|known| known.user_name == name) {
        let text =
            format!("Easy to confuse: a user named {} already exists ({}).", quoted(name), known.user_id);
        description.flag(Level::Med, "same-name", text);
    }
    let same = |known: &&quorate_common::wire::Invitation| {
        known.receiver_email.eq_ignore_ascii_case(address) && known.status == "INVITATION_STATUS_CREATED"
    };
    let again = scene.organization.invitations.iter().filter(same).count();
    if again > 0 {
        let text = format!(
            "The address is already invited: {} to {} {} open.",
            count(again, "invitation"),
            quoted(address),
            if again == 1 { "is" } else { "are" }
        );
        description.flag(Level::Med, "invited-already", text);
    }
    if scene.user(sender).is_none() {
        let text = format!("{} does not exist in this organization now.", scene.user_named(sender));
        description.flag(Level::Med, "unknown-user", text);
    } else if scene.proposer.is_some_and(|proposer| !proposer.to_string().eq_ignore_ascii_case(sender)) {
        let text = format!(
            "The mail misleads its reader: it names {}, who did not propose this.",
            scene.user_named(sender)
        );
        description.flag(Level::Med, "invites-for-other", text);
    }
    Ok(())
}
