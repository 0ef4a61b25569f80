//! Exports secrets.

use super::secret;
use crate::kinds::prelude::*;
use crate::kinds::shared::key_export;
use crate::text::grouped;

pub(super) const KIND: Kind = Kind::new("EXPORT_SECRETS", "Export secrets", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let secrets = parameters.list("secrets")?;
    let named = secrets.iter().map(|one| secret_text(one, context)).collect::<Result<Vec<_>, _>>()?;
    let those = count(secrets.len(), "secret");
    let mut description = Description::new(
        those.clone(),
        format!(
            "Export {those}, encrypted to the target keys that are shown in full below: {}. The holder \
             of a target key then has a permanent copy.",
            listed(named)
        ),
    );
    description.flag_high("secret-exported", "The holder of the copy can read it without this service.");
    let mut targets: Vec<&str> = Vec::new();
    for one in &secrets {
        let (id, target) = (one.text("secretId")?, one.text("targetPublicKey")?);
        let named = context.secret_named(id);
        description.fact(&format!("target key of {named}, in full"), grouped(&clean(target)));
        if !targets.contains(&target) {
            key_export::flag_target(&mut description, target, context);
            targets.push(target);
        }
        description.flag_if_missing("unknown-secret", context.secret(id).is_some(), &named);
    }
    if let Some(first) = secrets.first() {
        let name = context.secret(first.text("secretId")?).and_then(|found| found.name.as_deref());
        let prompt = "the NAME of the first secret that is exported, or EXPORT if it has no name";
        description.danger(prompt, &clean(name.unwrap_or("EXPORT")));
    }
    Ok(description)
}

/// Returns the name of a secret to export, with the context that the proposer gives.
fn secret_text(one: &Reader<'_>, context: &ReviewContext<'_>) -> Result<String> {
    secret::check_encryption(one)?;
    let named = context.secret_named(one.text("secretId")?);
    Ok(match secret::pairs(one, "requestContext")? {
        Some(pairs) => format!("{named}, for which the proposer states {pairs}"),
        None => named,
    })
}
