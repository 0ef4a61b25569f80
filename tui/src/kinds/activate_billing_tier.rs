//! Records the product that is paid for.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct ActivateBillingTier;

impl Kind for ActivateBillingTier {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_ACTIVATE_BILLING_TIER",
            intent: "activateBillingTierIntent",
            schema: "productId orbPlanId",
        }]
    }

    fn title(&self) -> &'static str {
        "Activate billing tier"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let product = parameters.text("productId")?;
        let plan = parameters.maybe_text("orbPlanId")?;
        let plan = plan.map_or_else(String::new, |plan| format!(" The plan {} is not stored.", quoted(plan)));
        let mut description = Description::new(
            quoted(product),
            format!(
                "Record the product {} as the billing tier. Nothing is charged, and nothing depends on \
                 it.{plan}",
                quoted(product)
            ),
        );
        let now = scene.organization.billing_tier.as_deref().map_or_else(|| "none".to_owned(), clean);
        description.change("billing tier", now, clean(product), "");
        Ok(description)
    }
}
