//! Deletes an endpoint that receives webhooks.

use crate::kinds::prelude::*;
use crate::kinds::shared::endpoint;

pub(super) const KIND: Kind = Kind::new("DELETE_WEBHOOK_ENDPOINT", "Delete webhook endpoint", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("endpointId")?;
    let named = context.endpoint_named(id);
    let known = context.endpoint(id);
    let address = known.map_or_else(String::new, |endpoint| format!(" at {}", quoted(&endpoint.url)));
    let brief = known.map_or_else(
        || named.clone(),
        |one| format!("{} at {}", quoted(&one.name), endpoint::display_host(&one.url)),
    );
    let mut description = Description::new(
        brief,
        format!("Delete the endpoint {named}{address}. Pending deliveries are still made."),
    );
    description.change_removed("endpoints", context.organization.webhook_endpoints.len(), 1);
    description.flag_medium("webhook-removed", "This endpoint receives no further events.");
    description.flag_if_missing("unknown-endpoint", known.is_some(), &named);
    Ok(description)
}
