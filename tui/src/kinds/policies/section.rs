//! Policies with their expressions.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Policy;

use crate::kinds::section::{Item, Row, Section, SectionData, cells};
use crate::text::{clean, date_time, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Policies", count: |detail| detail.policies.len(), items: policies };

fn policies(data: &SectionData<'_>) -> Vec<Item> {
    let or_none = |text: &str, none: &str| if text.trim().is_empty() { none.to_owned() } else { clean(text) };
    let item = |policy: &Policy| {
        let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
        let lines = vec![
            format!("policy    {}  changed {}", policy.policy_id, date_time(policy.updated_at.millis())),
            format!("condition {}", or_none(&policy.condition, "none: any activity")),
            format!("consensus {}", or_none(&policy.consensus, "none: the proposer alone")),
            format!("notes     {}", or_none(&policy.notes, "none")),
        ];
        Item::new(&policy.policy_name, cells([(&effect, 6)], &policy.policy_name), lines)
    };
    data.detail.policies.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |policy: &Policy| {
        let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
        ("policy", format!("{} {effect} {}", policy.policy_id, quoted(&policy.policy_name)))
    };
    organization.policies.iter().map(line).collect()
}
