//! Records the product that is paid for.

use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("ACTIVATE_BILLING_TIER", "Activate billing tier", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
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
    let now = context.organization.billing_tier.as_deref().map_or_else(|| "none".to_owned(), clean);
    description.change("billing tier", now, clean(product));
    Ok(description)
}
