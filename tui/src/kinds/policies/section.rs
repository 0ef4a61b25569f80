//! Policies with their expressions.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::Policy;

use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::text::{clean, date_time, quoted};

impl Listed for Policy {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.policies
    }

    fn item(&self, _: &SectionData<'_>) -> Item {
        let or_none =
            |text: &str, none: &str| if text.trim().is_empty() { none.to_owned() } else { clean(text) };
        let effect = clean(self.effect.trim_start_matches("EFFECT_"));
        let lines = vec![
            format!("policy    {}  changed {}", self.policy_id, date_time(self.updated_at.millis())),
            format!("condition {}", or_none(&self.condition, "none: any activity")),
            format!("consensus {}", or_none(&self.consensus, "none: the proposer alone")),
            format!("notes     {}", or_none(&self.notes, "none")),
        ];
        Item::new(&self.policy_name, cells([(&effect, 6)], &self.policy_name), lines)
    }

    fn line(&self, _: &OrganizationDetail) -> Row {
        let effect = clean(self.effect.trim_start_matches("EFFECT_"));
        ("policy", format!("{} {effect} {}", self.policy_id, quoted(&self.policy_name)))
    }
}
