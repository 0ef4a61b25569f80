//! Records which product is paid for.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct ActivateBillingTier;

impl Kind for ActivateBillingTier {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_ACTIVATE_BILLING_TIER",
            intent: "activateBillingTierIntent",
            shape: "productId orbPlanId",
        }]
    }

    fn title(&self) -> &'static str {
        "Activate billing tier"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let product = parameters.text("productId")?;
        let plan = parameters.maybe_text("orbPlanId")?;
        let plan = plan.map_or_else(String::new, |plan| format!(" The plan {} is not kept.", quoted(plan)));
        let mut story = Story::new(
            quoted(product),
            format!(
                "Record the product {} as the billing tier. Nothing is charged, and nothing depends on it.{plan}",
                quoted(product)
            ),
        );
        let now = scene.organization.billing_tier.as_deref().map_or_else(|| "none".to_owned(), clean);
        story.change("billing tier", now, clean(product), "");
        Ok(story)
    }
}
