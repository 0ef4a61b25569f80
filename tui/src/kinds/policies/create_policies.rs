//! Adds several policies.

use super::rule::{Rule, count_policies};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("CREATE_POLICIES", "Create policies", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let policies = parameters.list("policies")?;
    let mut sentences = vec![format!("Add {}.", count_policies(policies.len()))];
    let mut description = Description::new(count_policies(policies.len()), String::new());
    for policy in &policies {
        let rule = Rule::of(policy)?;
        sentences.push(rule.added(policy)?);
        let name = quoted(policy.text("policyName")?);
        rule.add_parts(&format!(" of {name}"), &mut description);
        rule.add_description(&format!("{name} in words"), &mut description, context);
        rule.flags(&mut description);
    }
    description.sentence = sentences.join(" ");
    description.change_added("policies", context.organization.policies.len(), policies.len());
    Ok(description)
}
