//! Endpoints that receive webhooks.

use super::prelude::*;

mod list_webhook_endpoints;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<list_webhook_endpoints::ListWebhookEndpoints>("list_webhook_endpoints", "webhookEndpoints")];
