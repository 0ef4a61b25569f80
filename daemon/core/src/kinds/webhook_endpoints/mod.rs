//! Webhook endpoints.

use super::prelude::*;

mod create_webhook_endpoint;
mod delete_webhook_endpoint;
mod update_webhook_endpoint;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<create_webhook_endpoint::Intent>(),
    entry::<delete_webhook_endpoint::Intent>(),
    entry::<update_webhook_endpoint::Intent>(),
];
