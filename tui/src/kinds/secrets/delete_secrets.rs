//! Deletes secrets.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_SECRETS", "Delete secrets", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let ids = parameters.texts("secretIds")?;
    let those = count(ids.len(), "secret");
    let named = listed(ids.iter().map(|id| context.secret_named(id)));
    let mut description =
        Description::new(those.clone(), format!("Destroy {those}: {named}. This cannot be undone."));
    description.change_removed("secrets", context.organization.secrets.len(), ids.len());
    description.flag_high(
        "no-copy",
        "The content is lost unless somebody has a copy, which this console cannot check.",
    );
    if let Some(name) = ids.first().and_then(|id| context.secret(id)?.name.as_deref()) {
        description.danger("the NAME of the first secret that is destroyed", &clean(name));
    }
    for id in ids.iter().filter(|id| context.secret(id).is_none()) {
        description.flag_missing("unknown-secret", &context.secret_named(id));
    }
    Ok(description)
}
