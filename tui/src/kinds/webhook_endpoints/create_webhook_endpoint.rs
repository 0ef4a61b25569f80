//! Adds an endpoint that receives webhooks.

use crate::kinds::prelude::*;
use crate::kinds::shared::endpoint;

pub(super) const KIND: Kind = Kind::new("CREATE_WEBHOOK_ENDPOINT", "Create webhook endpoint", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let url = parameters.text("url")?;
    let name = parameters.text("name")?;
    let receives_activities = endpoint::receives_activities(parameters)?;
    let effect = if receives_activities {
        format!("It receives {}.", endpoint::ACTIVITY_EVENTS)
    } else {
        "It does not subscribe to activity updates, so nothing is posted to it.".to_owned()
    };
    let mut description = Description::new(
        format!("{} at {}", quoted(name), endpoint::display_host(url)),
        format!("Add the endpoint {} at {}. {effect}", quoted(name), quoted(url)),
    );
    description.change_added("endpoints", context.organization.webhook_endpoints.len(), 1);
    if receives_activities {
        let text = format!("The operator of {} sees every activity.", endpoint::display_host(url));
        description.flag_medium("webhook-url", text);
        endpoint::flag_filters(parameters, &mut description)?;
    }
    endpoint::flag_url(url, &mut description);
    endpoint::flag_name(name, None, context, &mut description);
    Ok(description)
}
