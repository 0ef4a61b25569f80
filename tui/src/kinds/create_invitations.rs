//! Invites people by mail to become users.

use std::fmt::Write as _;

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreateInvitations;

impl Kind for CreateInvitations {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_INVITATIONS",
            intent: "createInvitationsIntent",
            shape: "invitations[]:Invitation",
        }]
    }

    fn title(&self) -> &'static str {
        "Invite users"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let invited = parameters.list("invitations")?;
        let mut names = Vec::new();
        let mut sentence = format!(
            "Invite {} by mail. Each mail holds a secret that makes its reader a user of this organization.",
            if invited.len() == 1 { "1 person".to_owned() } else { format!("{} people", invited.len()) }
        );
        let mut story = Story::new(String::new(), String::new());
        for one in &invited {
            let (name, address) = (one.text("receiverUserName")?, one.text("receiverUserEmail")?);
            names.push(format!("{} at {}", quoted(name), clean(address)));
            let _ = write!(sentence, " {}", invitation(one, scene)?);
            remarks(one, scene, &mut story)?;
        }
        let before = waiting(scene);
        let after = before.saturating_add(invited.len());
        story.change("open invitations", before.to_string(), after.to_string(), "");
        let text = "whoever reads such a mail first can become the user in place of the one who is meant";
        story.flag(Level::Med, "secret-by-mail", text);
        story.brief = listed(names);
        story.sentence = sentence;
        Ok(story)
    }
}

/// Invitations that wait to be accepted.
fn waiting(scene: &Scene<'_>) -> usize {
    let waits = |one: &&quorate_common::wire::Invitation| one.status == "INVITATION_STATUS_CREATED";
    scene.organization.invitations.iter().filter(waits).count()
}

/// One invitation as sentences.
fn invitation(one: &Reader<'_>, scene: &Scene<'_>) -> Result<String, Undecodable> {
    let access = one.text("accessType")?;
    let mut told = format!(
        "{} is written to at {}, in the name of {}, for the access {} (a note that limits nothing).",
        quoted(one.text("receiverUserName")?),
        quoted(one.text("receiverUserEmail")?),
        scene.user_named(one.text("senderUserId")?),
        clean(access.strip_prefix("ACCESS_TYPE_").unwrap_or(access))
    );
    let tags = one.texts("receiverUserTags")?;
    if !tags.is_empty() {
        let tags = listed(tags.iter().map(|tag| scene.tag_named(tag)));
        let _ = write!(told, " The new user is tagged {tags}.");
    }
    Ok(told)
}

fn remarks(one: &Reader<'_>, scene: &Scene<'_>, story: &mut Story) -> Result<(), Undecodable> {
    let name = one.text("receiverUserName")?;
    let address = one.text("receiverUserEmail")?;
    let sender = one.text("senderUserId")?;
    let tags = one.texts("receiverUserTags")?;
    if !tags.is_empty() {
        let tags = listed(tags.iter().map(|tag| scene.tag_named(tag)));
        let text = format!("{} can do at once whatever policies give to {tags}", quoted(name));
        story.flag(Level::Med, "joins-tag", text);
    }
    if let Some(known) = scene.organization.users.iter().find(|known| known.user_name == name) {
        let text = format!("there is a user named {} already: {}", quoted(name), known.user_id);
        story.flag(Level::Med, "same-name", text);
    }
    let same = |known: &&quorate_common::wire::Invitation| {
        known.receiver_email.eq_ignore_ascii_case(address) && known.status == "INVITATION_STATUS_CREATED"
    };
    let again = scene.organization.invitations.iter().filter(same).count();
    if again > 0 {
        let text = format!("{} to {} is open already", count(again, "invitation"), quoted(address));
        story.flag(Level::Med, "invited-already", text);
    }
    if scene.user(sender).is_none() {
        let text = format!("{} is not in this organization now", scene.user_named(sender));
        story.flag(Level::Med, "unknown-user", text);
    } else if scene.asker.is_some_and(|asker| !asker.to_string().eq_ignore_ascii_case(sender)) {
        let text =
            format!("the mail says that {} invites, who did not ask for this", scene.user_named(sender));
        story.flag(Level::Med, "invites-for-other", text);
    }
    Ok(())
}
