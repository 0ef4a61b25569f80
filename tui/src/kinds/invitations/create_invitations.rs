//! Invites people by mail to become users.

use std::fmt::Write as _;

use quorate_common::wire::Invitation;
use quorate_policy::Property;

use crate::kinds::prelude::*;
use crate::kinds::shared::read_by_policies::{flag_name, flag_tags};

/// Status of an invitation that is not used yet.
const OPEN: &str = "INVITATION_STATUS_CREATED";

pub(super) const KIND: Kind = Kind::new("CREATE_INVITATIONS", "Invite users", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
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
        let _ = write!(sentence, " {}", invitation(one, context)?);
        add_flags(one, context, &mut description)?;
    }
    let is_open = |one: &&Invitation| one.status == OPEN;
    let before = context.organization.invitations.iter().filter(is_open).count();
    description.change_added("open invitations", before, invited.len());
    let text = "Anyone who reads such a mail first can become the user instead of the intended person.";
    description.flag_medium("secret-by-mail", text);
    flag_name(Property::UserName, &mut description, context);
    flag_name(Property::UserEmail, &mut description, context);
    description.brief = listed(names);
    description.sentence = sentence;
    Ok(description)
}

/// Returns the sentences that describe an invitation.
fn invitation(one: &Reader<'_>, context: &ReviewContext<'_>) -> Result<String> {
    let access = one.text("accessType")?;
    let mut text = format!(
        "The invitation of {} goes to {} in the name of {}. The access type {} has no effect.",
        quoted(one.text("receiverUserName")?),
        quoted(one.text("receiverUserEmail")?),
        context.user_named(one.text("senderUserId")?),
        clean(access.strip_prefix("ACCESS_TYPE_").unwrap_or(access))
    );
    let tags = one.texts("receiverUserTags")?;
    if !tags.is_empty() {
        let tags = listed(tags.iter().map(|tag| context.tag_named(tag)));
        let _ = write!(text, " The new user is tagged {tags}.");
    }
    Ok(text)
}

fn add_flags(one: &Reader<'_>, context: &ReviewContext<'_>, description: &mut Description) -> Result<()> {
    let name = one.text("receiverUserName")?;
    let address = one.text("receiverUserEmail")?;
    let sender = one.text("senderUserId")?;
    let tags = one.texts("receiverUserTags")?;
    if !tags.is_empty() {
        flag_tags(Property::UserTags, &tags, description, context);
        let tags = listed(tags.iter().map(|tag| context.tag_named(tag)));
        let text = format!("{} gets every right that policies give to {tags} at once.", quoted(name));
        description.flag_medium("joins-tag", text);
    }
    description.flag_same_user(name, context);
    let same =
        |known: &&Invitation| known.receiver_email.eq_ignore_ascii_case(address) && known.status == OPEN;
    let again = context.organization.invitations.iter().filter(same).count();
    if again > 0 {
        let (invitations, address) = (count(again, "invitation"), quoted(address));
        let are = if again == 1 { "is" } else { "are" };
        let text = format!("The address is already invited: {invitations} to {address} {are} open.");
        description.flag_medium("invited-already", text);
    }
    if context.user(sender).is_none() {
        description.flag_missing("unknown-user", &context.user_named(sender));
    } else if context.is_proposed_by_other(sender) {
        let named = context.user_named(sender);
        let text = format!("The mail misleads its reader: it names {named}, who did not propose this.");
        description.flag_medium("invites-for-other", text);
    }
    Ok(())
}
