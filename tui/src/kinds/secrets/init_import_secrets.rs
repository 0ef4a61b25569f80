//! Creates keys to which secrets can be encrypted for their import.

use super::secret;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("INIT_IMPORT_SECRETS", "Prepare import of secrets", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    secret::check_encryption(parameters)?;
    let number = usize::try_from(parameters.number("numSecrets")?).unwrap_or(usize::MAX);
    let sentence = format!(
        "Create {} to which {} can encrypt {} within 24 hours. This imports nothing yet.",
        count(number, "key"),
        context.proposer_named(),
        if number == 1 { "one secret" } else { "one secret each" }
    );
    Ok(Description::new(count(number, "secret"), sentence))
}
