//! Updates a webhook endpoint.

use crate::kinds::prelude::*;
use crate::make::webhook_endpoint as endpoint;
use crate::params::webhook::WebhookEndpointResult;

/// Updates a webhook endpoint: its URL, its name, and whether it is active. Absent members keep their values.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    endpoint_id: EndpointId,
    url: Option<Text<{ endpoint::URL }>>,
    name: Option<Label>,
    is_active: Option<bool>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT";
    const NUMBER: u16 = 126;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::WebhookEndpoint));
    type Plan = WebhookEndpoint;
    type Outcome = WebhookEndpointResult;

    fn rules(&self, view: &View<'_>) -> Result<WebhookEndpoint, RequestError> {
        let present = view.collection_item::<WebhookEndpoint>(self.endpoint_id)?;
        if let Some(url) = &self.url {
            endpoint::check_url(url.as_str(), view)?;
        }
        if let Some(name) = self.name.as_ref().filter(|name| **name != present.name) {
            view.name_is_free(|other: &WebhookEndpoint| other.name == *name)?;
        }
        Ok(present.clone())
    }

    fn execute(self, old: Self::Plan, context: &mut Execution<'_>) -> Result<Self::Outcome, RequestError> {
        let endpoint = WebhookEndpoint {
            url: self.url.map_or(old.url, |url| url.as_str().to_owned()),
            name: self.name.unwrap_or(old.name),
            active: self.is_active.unwrap_or(old.active),
            updated: context.now(),
            ..old
        };
        let outcome = WebhookEndpointResult {
            endpoint_id: endpoint.id,
            webhook_endpoint: endpoint.wire(context.organization.id()),
        };
        context.change(Change::put(endpoint));
        Ok(outcome)
    }
}
