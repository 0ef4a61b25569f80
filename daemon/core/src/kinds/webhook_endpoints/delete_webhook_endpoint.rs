//! Deletes a webhook endpoint.

use quorate_common::ids::EndpointId;

use crate::kinds::prelude::*;
use crate::model::WebhookEndpoint;

pub(in crate::kinds) struct DeleteWebhookEndpoint;

/// Deletes a webhook endpoint. Events that are already queued for it are still delivered.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    endpoint_id: EndpointId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    endpoint_id: EndpointId,
}

impl Version for Intent {
    type Kind = DeleteWebhookEndpoint;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT";
    const NUMBER: u16 = 127;
    const RESULT: &'static str = "deleteWebhookEndpointResult";
}

impl Kind for DeleteWebhookEndpoint {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::WebhookEndpoint));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        view.collection_item::<WebhookEndpoint>(intent.endpoint_id)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::RemoveWebhookEndpoint(intent.endpoint_id));
        Ok(Outcome { endpoint_id: intent.endpoint_id })
    }
}
