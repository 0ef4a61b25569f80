//! What the descriptions of kinds that send mail or SMS share.

use crate::kinds::prelude::*;

/// Flags what the message contains besides the code: a link or a text of the proposer, and where replies go.
pub(in crate::kinds) fn flag_message(parameters: &Reader<'_>, description: &mut Description) -> Result<()> {
    if let Some(customization) = parameters.object("emailCustomization")?
        && let Some(link) = customization.maybe_text("magicLinkTemplate")?
    {
        let text = format!("The mail contains a link that sends the secret to {}.", quoted(link));
        description.flag_medium("link", text);
    }
    if let Some(customization) = parameters.object("smsCustomization")?
        && let Some(template) = customization.maybe_text("template")?
    {
        description.flag_medium("message-text", format!("The SMS has the text {}.", quoted(template)));
    }
    if let Some(address) = parameters.maybe_text("replyToEmailAddress")? {
        description.flag_low("reply-address", format!("Replies to the mail go to {}.", quoted(address)));
    }
    Ok(())
}
