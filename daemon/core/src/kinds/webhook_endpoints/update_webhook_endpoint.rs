//! Updates a webhook endpoint.

use quorate_common::bounded::Text;
use quorate_common::ids::EndpointId;
use quorate_common::wire;

use crate::kinds::prelude::*;
use crate::make::webhook_endpoint as endpoint;
use crate::model::WebhookEndpoint;

pub(in crate::kinds) struct UpdateWebhookEndpoint;

/// Updates a webhook endpoint: its URL, its name, and whether it is active. Absent members keep their values.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    endpoint_id: EndpointId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<Text<{ endpoint::URL }>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Label>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_active: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    endpoint_id: EndpointId,
    webhook_endpoint: wire::WebhookEndpoint,
}

impl Version for Intent {
    type Kind = UpdateWebhookEndpoint;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT";
    const NUMBER: u16 = 126;
    const RESULT: &'static str = "updateWebhookEndpointResult";
}

impl Kind for UpdateWebhookEndpoint {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::WebhookEndpoint));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = WebhookEndpoint;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, WebhookEndpoint), RequestError> {
        let present = view.collection_item::<WebhookEndpoint>(intent.endpoint_id)?;
        if let Some(url) = &intent.url {
            endpoint::check_url(url.as_str(), view)?;
        }
        if let Some(name) = intent.name.as_ref().filter(|name| **name != present.name) {
            endpoint::name_is_free(name, view)?;
        }
        Ok((Facts::default(), present.clone()))
    }

    fn execute(
        intent: Intent,
        present: WebhookEndpoint,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let endpoint = WebhookEndpoint {
            url: intent.url.map_or(present.url, |url| url.as_str().to_owned()),
            name: intent.name.unwrap_or(present.name),
            active: intent.is_active.unwrap_or(present.active),
            updated: context.now(),
            ..present
        };
        let outcome =
            Outcome { endpoint_id: endpoint.id, webhook_endpoint: endpoint.wire(context.organization.id()) };
        context.change(Change::PutWebhookEndpoint(endpoint));
        Ok(outcome)
    }
}
