//! Webhook endpoints.

use super::Kind;

mod create_webhook_endpoint;
mod delete_webhook_endpoint;
mod section;
mod update_webhook_endpoint;

pub(super) const KINDS: &[Kind] =
    &[create_webhook_endpoint::KIND, delete_webhook_endpoint::KIND, update_webhook_endpoint::KIND];
