//! Webhook endpoints with their subscriptions.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::WebhookEndpoint;

use crate::kinds::section::{Item, Row, Section, SectionData, cells};
use crate::text::{clean, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Webhooks", count: |detail| detail.webhook_endpoints.len(), items: endpoints };

fn endpoints(data: &SectionData<'_>) -> Vec<Item> {
    let item = |one: &WebhookEndpoint| {
        let state = if one.is_active { "active" } else { "inactive" };
        let mut lines =
            vec![format!("id        {}  {state}", one.endpoint_id), format!("URL       {}", clean(&one.url))];
        for subscription in &one.subscriptions {
            let counts = if subscription.is_active == Some(false) { "  (inactive)" } else { "" };
            lines.push(format!("events    {}{counts}", clean(&subscription.event_type)));
            if let Some(filters) = &subscription.filters_json {
                lines.push(format!("          the filters {} have no effect", quoted(filters)));
            }
        }
        if one.subscriptions.is_empty() {
            lines.push("events    none".to_owned());
        }
        let row = cells([(&one.name, 18), (state, 8)], &one.url);
        Item::new(&one.name, row, lines)
    };
    data.detail.webhook_endpoints.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |one: &WebhookEndpoint| {
        let state = if one.is_active { "active" } else { "inactive" };
        ("webhook", format!("{} {state} {} {}", one.endpoint_id, quoted(&one.name), clean(&one.url)))
    };
    organization.webhook_endpoints.iter().map(line).collect()
}
