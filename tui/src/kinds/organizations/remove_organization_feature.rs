//! Disables a feature of the organization.

use super::set_organization_feature::current;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("REMOVE_ORGANIZATION_FEATURE", "Remove feature", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let whole = parameters.text("name")?;
    let name = clean(whole.strip_prefix("FEATURE_NAME_").unwrap_or(whole));
    let mut description = Description::new(name.clone(), format!("Disable the feature {name}."));
    description.change(&name, current(context, whole), "off");
    match name.as_str() {
        "WEBHOOK" => {
            description
                .flag_medium("webhook-removed", "Activities are no longer reported to the webhook address.");
        }
        "WEBAUTHN_ORIGINS" => {
            description.flag_medium("origins", "Passkeys then work on any web site.");
        }
        _ => {}
    }
    Ok(description)
}
