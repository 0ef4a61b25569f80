//! Arguments of `quorate webhook`.

use clap::Subcommand;
use quorate_common::ids::{ActivityId, OrganizationId};

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WebhookCommand {
    /// List the webhook receivers of the pinned organization with their queue and their last attempt
    Ls,
    /// List the deliveries to a receiver that wait, and the last attempts
    ///
    /// The daemon keeps the last 20 attempts of a receiver, since its start.
    Deliveries {
        /// Endpoint id or name; `feature` for the URL of the webhook feature
        #[arg(value_name = "RECEIVER")]
        receiver: String,
    },
    /// Repeat the delivery of an activity
    ///
    /// Waiting deliveries of the activity are due now. If none waits, the current state of the activity is queued again,
    /// with the event id of that state. The daemon writes the request to its log.
    Retry {
        /// Endpoint id or name; `feature` for the URL of the webhook feature
        #[arg(value_name = "RECEIVER")]
        receiver: String,
        /// Id of the activity
        #[arg(value_name = "ACTIVITY")]
        activity: ActivityId,
        /// Organization of the activity, if it is a sub-organization
        #[arg(long, value_name = "ORGANIZATION")]
        of: Option<OrganizationId>,
    },
    /// Post a test event to a receiver once; exits with 1 unless the receiver accepts it
    ///
    /// The event has the type `WEBHOOK_TEST` and reports no activity. It is signed like any other event. The daemon writes
    /// the request to its log.
    Test {
        /// Endpoint id or name; `feature` for the URL of the webhook feature
        #[arg(value_name = "RECEIVER")]
        receiver: String,
    },
    /// List destinations with parked deliveries, which were removed from the queue and are never delivered
    Parked,
}
