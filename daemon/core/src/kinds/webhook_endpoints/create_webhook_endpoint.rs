//! Creates a webhook endpoint.

use crate::kinds::prelude::*;
use crate::make::webhook_endpoint as endpoint;
use crate::params::WebhookSubscriptionParams;
use crate::params::webhook::WebhookEndpointResult;

/// Creates a webhook endpoint: a URL to which the events of its subscriptions are posted.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    url: Text<{ endpoint::URL }>,
    name: Label,
    #[serde(default)]
    subscriptions: AtMost<WebhookSubscriptionParams, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT";
    const NUMBER: u16 = 125;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::WebhookEndpoint));
    type Plan = ();
    type Outcome = WebhookEndpointResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        endpoint::check_url(self.url.as_str(), view)?;
        endpoint::check_subscriptions(&self.subscriptions)?;
        view.name_is_free(|present: &WebhookEndpoint| present.name == self.name)?;
        view.check_room::<WebhookEndpoint>(1)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<WebhookEndpointResult, RequestError> {
        let endpoint = WebhookEndpoint {
            id: EndpointId::random(context.random()),
            name: self.name,
            url: self.url.as_str().to_owned(),
            active: true,
            subscriptions: self.subscriptions.into_iter().map(Into::into).collect(),
            created: context.now(),
            updated: context.now(),
        };
        let outcome = WebhookEndpointResult {
            endpoint_id: endpoint.id,
            webhook_endpoint: endpoint.wire(context.organization.id()),
        };
        context.change(Change::put(endpoint));
        Ok(outcome)
    }
}
