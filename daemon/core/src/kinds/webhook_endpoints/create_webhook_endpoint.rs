//! Creates a webhook endpoint.

use quorate_common::bounded::Text;
use quorate_common::ids::EndpointId;
use quorate_common::wire;

use crate::kinds::prelude::*;
use crate::make::webhook_endpoint as endpoint;
use crate::model::WebhookEndpoint;
use crate::params::WebhookSubscriptionParams;

pub(in crate::kinds) struct CreateWebhookEndpoint;

/// Creates a webhook endpoint: a URL to which the events of its subscriptions are posted.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    url: Text<{ endpoint::URL }>,
    name: Label,
    #[serde(default)]
    subscriptions: AtMost<WebhookSubscriptionParams, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    endpoint_id: EndpointId,
    webhook_endpoint: wire::WebhookEndpoint,
}

impl Version for Intent {
    type Kind = CreateWebhookEndpoint;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT";
    const NUMBER: u16 = 125;
    const RESULT: &'static str = "createWebhookEndpointResult";
}

impl Kind for CreateWebhookEndpoint {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::WebhookEndpoint));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        endpoint::check_url(intent.url.as_str(), view)?;
        endpoint::check_subscriptions(&intent.subscriptions)?;
        endpoint::name_is_free(&intent.name, view)?;
        let present = view.organization.webhook_endpoints.len();
        check_limit(present, 1, view.limits().webhook_endpoints, "webhook endpoints", "webhook_endpoints")?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let endpoint = WebhookEndpoint {
            id: EndpointId::random(context.random()),
            name: intent.name,
            url: intent.url.as_str().to_owned(),
            active: true,
            subscriptions: intent.subscriptions.into_iter().map(Into::into).collect(),
            created: context.now(),
            updated: context.now(),
        };
        let outcome =
            Outcome { endpoint_id: endpoint.id, webhook_endpoint: endpoint.wire(context.organization.id()) };
        context.change(Change::PutWebhookEndpoint(endpoint));
        Ok(outcome)
    }
}
