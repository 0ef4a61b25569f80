//! Webhook endpoints with their subscriptions.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::WebhookEndpoint;

use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::text::{clean, quoted};

impl Listed for WebhookEndpoint {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.webhook_endpoints
    }

    fn item(&self, _: &SectionData<'_>) -> Item {
        let state = if self.is_active { "active" } else { "inactive" };
        let mut lines = vec![
            format!("id        {}  {state}", self.endpoint_id),
            format!("URL       {}", clean(&self.url)),
        ];
        for subscription in &self.subscriptions {
            let counts = if subscription.is_active == Some(false) { "  (inactive)" } else { "" };
            lines.push(format!("events    {}{counts}", clean(&subscription.event_type)));
            if let Some(filters) = &subscription.filters_json {
                lines.push(format!("          the filters {} have no effect", quoted(filters)));
            }
        }
        if self.subscriptions.is_empty() {
            lines.push("events    none".to_owned());
        }
        let row = cells([(&self.name, 18), (state, 8)], &self.url);
        Item::new(&self.name, row, lines)
    }

    fn line(&self, _: &OrganizationDetail) -> Row {
        let state = if self.is_active { "active" } else { "inactive" };
        ("webhook", format!("{} {state} {} {}", self.endpoint_id, quoted(&self.name), clean(&self.url)))
    }
}
