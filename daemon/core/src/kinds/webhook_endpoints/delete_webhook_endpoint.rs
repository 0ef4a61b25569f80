//! Deletes a webhook endpoint.

use crate::kinds::prelude::*;

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
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT";
    const NUMBER: u16 = 127;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::WebhookEndpoint));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        view.collection_item::<WebhookEndpoint>(self.endpoint_id).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::remove::<WebhookEndpoint>(self.endpoint_id));
        Ok(Outcome { endpoint_id: self.endpoint_id })
    }
}
