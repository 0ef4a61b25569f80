//! A rejection of another activity.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("REJECT_ACTIVITY", "Reject activity", describe);

fn describe(parameters: &Reader<'_>, _: &ReviewContext<'_>) -> Result<Description> {
    let fingerprint = clean(parameters.text("fingerprint")?);
    Ok(Description::new(
        format!("rejection of {fingerprint}"),
        format!("Reject the activity with the fingerprint {fingerprint}. One rejection is final."),
    ))
}
