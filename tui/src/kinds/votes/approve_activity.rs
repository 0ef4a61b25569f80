//! An approval of another activity.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("APPROVE_ACTIVITY", "Approve activity", describe);

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let fingerprint = clean(parameters.text("fingerprint")?);
    Ok(Description::new(
        format!("approval of {fingerprint}"),
        format!("Approve the activity with the fingerprint {fingerprint}."),
    ))
}
