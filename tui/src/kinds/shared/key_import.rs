//! Descriptions of the import of keys, which only the daemon can decrypt.

use crate::kinds::prelude::*;

/// Describes the creation of a key to which `what` can be encrypted.
pub(in crate::kinds) fn describe_preparation(
    what: &str,
    parameters: &Reader<'_>,
    context: &ReviewContext<'_>,
) -> Result<Description> {
    let id = parameters.text("userId")?;
    let who = context.user_named(id);
    let sentence =
        format!("Create a key to which {who} can encrypt {what} within 24 hours. This imports nothing yet.");
    Ok(Description::new(context.user_short(id), sentence))
}

/// Flags that a copy of an imported key may exist elsewhere.
pub(in crate::kinds) fn flag_external_copy(description: &mut Description) {
    description.flag_medium(
        "copy-elsewhere",
        "The person who created the key may keep a copy and sign without this service.",
    );
}

/// Returns what is shown in place of an encrypted text.
#[expect(clippy::unnecessary_wraps, reason = "the type of all replacements")]
pub(in crate::kinds) fn encrypted(text: &str) -> Option<String> {
    Some(format!("{}, which only the daemon can decrypt", count(text.len(), "character")))
}
