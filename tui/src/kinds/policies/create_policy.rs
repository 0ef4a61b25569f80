//! Adds a policy.

use super::rule::{Rule, translate_selectors};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("CREATE_POLICY", "Create policy", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let translated = translate_selectors(parameters)?;
    let rule = match &translated {
        Some(translated) => Rule {
            condition: translated.condition.as_deref(),
            consensus: translated.consensus.as_deref(),
            ..Rule::of(parameters)?
        },
        None => Rule::of(parameters)?,
    };
    let brief = format!("{} {}", rule.verb(), quoted(parameters.text("policyName")?));
    let mut description = Description::new(brief, rule.added(parameters)?);
    rule.add_parts("", &mut description);
    rule.add_description("in words", &mut description, context);
    description.change_added("policies", context.organization.policies.len(), 1);
    rule.flags(&mut description);
    Ok(description)
}
