//! Removes an IP allowlist.

use super::allowlist::{Target, state};
use super::block::Rule;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("REMOVE_IP_ALLOWLIST", "Remove IP allowlist", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let target = Target::of(parameters)?;
    let target_text = target.named(context);
    let effect = target.removal_effect();
    let mut description = Description::new(
        target.brief(context),
        format!("Remove the list of addresses that requests of {target_text} may come from. {effect}"),
    );
    let now = target.now(context);
    let before = now.map_or_else(|| "none".to_owned(), |list| state(list.enabled, list.rules.len()));
    description.change("list", before, "none");
    let blocks = now.map(|list| list.rules.as_slice()).unwrap_or_default();
    if !blocks.is_empty() {
        let removed = blocks.iter().map(|rule| Rule::new(&rule.cidr, rule.label.as_deref()).describe());
        description.change("removed blocks", listed(removed), "-");
    }
    let text = match target.key {
        Some(_) => "The API key then works from every address that the list of the organization admits.",
        None => "Every credential can then be used from anywhere.",
    };
    description.flag_medium("allowlist-off", text);
    if now.is_none() {
        description.flag_medium("unknown-allowlist", "There is no such list now.");
    }
    target.flag_unknown_key(context, &mut description);
    Ok(description)
}
