//! The orders that the screens give to the worker, and the worker's answers.

use std::sync::Arc;

use quorate_common::console::{
    AccountPage, ActivityPage, ActivityRow, Change, DaemonStatus, Health, HistoryPage, InboxPage,
    MessagePage, OrganizationDetail, OrganizationHead, OrganizationPage, RetriedDelivery, ReviewRecord,
    Signer, WebhookAttempt, WebhookDeliveries, WebhookReceivers,
};
use quorate_common::ids::{ActivityId, MessageEventId, OrganizationId, UserId, WalletAccountId, WalletId};
use quorate_common::stamp::Stamp;

use super::error::{LinkError, Result};
use super::history::History;
use super::submit::{CastError, Confirmation};
use super::transfers::EarlierTransfers;
use super::webhooks::ReceiverId;
use crate::ballot::Ballot;
use crate::policies::ResolvedNames;

/// What an order reads, as failures name it. The order is that in which failures are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Signer,
    Accounts,
    Messages,
    Webhooks,
    Health,
    Transfers,
    Activities,
    Approvals,
    Organizations,
    RecentActivities,
    Activity,
    Clocks,
    Organization,
    PinnedOrganization,
    PolicyHistory,
}

impl Subject {
    /// Returns the subject for the sentence about a failure.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Signer => "a signer",
            Self::Accounts => "accounts",
            Self::Messages => "messages",
            Self::Webhooks => "webhooks",
            Self::Health => "the figures of the daemon",
            Self::Transfers => "earlier transfers",
            Self::Activities => "activities",
            Self::Approvals => "approvals",
            Self::Organizations => "organizations",
            Self::RecentActivities => "recent activities",
            Self::Activity => "the activity",
            Self::Clocks => "the clocks",
            Self::Organization => "the organization",
            Self::PinnedOrganization => "the pinned organization",
            Self::PolicyHistory => "the policy history",
        }
    }
}

/// An order from the screens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// Read the organization and all activities that wait in it and in its sub-organizations, page by page; holds the
    /// number of this reading.
    Inbox(OrganizationId, u64),
    /// Read these activities of the inbox, and their organization.
    Rows(OrganizationId, Vec<ActivityId>),
    /// Read a sub-organization with activities in the inbox.
    Below(OrganizationId),
    /// Read one activity for a review.
    Record(OrganizationId, String),
    /// Read the same activity again directly before a vote.
    Preflight(OrganizationId, String),
    /// Read a page of all activities.
    Activities(OrganizationId, Option<ActivityId>),
    /// Read a page of the activities of an organization; holds the request, the cursor and the number of the reading.
    History(OrganizationId, Box<History>, Option<String>, u64),
    /// Read a page of organizations.
    Organizations(Option<OrganizationId>, Option<OrganizationId>),
    /// Read an organization.
    Organization(OrganizationId),
    /// Read the head of an organization for the tree.
    Head(OrganizationId),
    /// Read a page of accounts.
    Accounts(OrganizationId, WalletId, Option<WalletAccountId>),
    /// Read a page of the events of messages.
    Messages(OrganizationId, Option<MessageEventId>),
    /// Read the webhook receivers.
    Webhooks(OrganizationId),
    /// Read the deliveries to a receiver.
    Deliveries(ReceiverId),
    /// Repeat the delivery of an activity, given with its organization.
    RetryDelivery(ReceiverId, OrganizationId, ActivityId),
    /// Post a test event to a receiver.
    TestWebhook(ReceiverId),
    /// Read the figures of the daemon.
    Health,
    /// Look up the signer that a request names.
    Signer(OrganizationId, String),
    /// Read recent activities and the signers that they name.
    Recent(OrganizationId),
    /// Like `Recent`, with the activities that created or changed policies.
    PolicyHistory(OrganizationId),
    /// Read executed transactions and the holders of these addresses, for the review of this activity.
    Transfers(OrganizationId, ActivityId, Vec<String>),
    /// Submit a vote or proposal of a user.
    Cast((OrganizationId, Option<UserId>), Box<(Ballot, Stamp)>),
    /// Reconnect now.
    Retry,
}

impl Order {
    /// Returns what the order reads.
    pub(super) const fn subject(&self) -> Subject {
        match self {
            Self::Inbox(..) | Self::Rows(..) | Self::Below(_) => Subject::Approvals,
            Self::Record(..) | Self::Preflight(..) | Self::Cast(..) => Subject::Activity,
            Self::Activities(..) | Self::History(..) => Subject::Activities,
            Self::Organizations(..) => Subject::Organizations,
            Self::Organization(_) | Self::Head(_) | Self::Retry => Subject::Organization,
            Self::Accounts(..) => Subject::Accounts,
            Self::Messages(..) => Subject::Messages,
            Self::Webhooks(_) | Self::Deliveries(_) | Self::RetryDelivery(..) | Self::TestWebhook(_) => {
                Subject::Webhooks
            }
            Self::Health => Subject::Health,
            Self::Signer(..) => Subject::Signer,
            Self::Recent(_) => Subject::RecentActivities,
            Self::Transfers(..) => Subject::Transfers,
            Self::PolicyHistory(_) => Subject::PolicyHistory,
        }
    }
}

/// An answer for the screens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The feed is open; holds the daemon's status.
    Connected(DaemonStatus),
    /// The daemon is alive.
    Alive,
    /// The current status of the daemon.
    Status(DaemonStatus),
    Changed(Change),
    /// The connection is lost; holds the reason and the seconds until the next attempt.
    Lost(LinkError, u64),
    /// For [`Order::Inbox`]: a page of waiting activities. The organization was sent before.
    Inbox(InboxRead),
    /// For [`Order::Rows`]; holds the requested ids.
    Rows(Arc<OrganizationDetail>, Vec<ActivityId>, Vec<ActivityRow>),
    /// For [`Order::Below`].
    Below(Arc<OrganizationDetail>),
    /// The organization of [`Order::Below`] or [`Order::Rows`] does not exist any more.
    Gone(OrganizationId),
    /// For [`Order::Record`]; holds the requested reference.
    Record(String, Box<ReviewRecord>),
    /// For [`Order::Preflight`].
    Preflight(Result<Box<ReviewRecord>>),
    /// For [`Order::Activities`]; holds the requested cursor.
    Activities(Option<ActivityId>, ActivityPage),
    /// For [`Order::History`]; holds the number of the reading and the requested cursor.
    History(u64, Option<String>, HistoryPage),
    /// For [`Order::Organizations`]; holds the requested parent and cursor.
    Organizations(Option<OrganizationId>, Option<OrganizationId>, OrganizationPage),
    /// For [`Order::Organization`].
    Organization(Arc<OrganizationDetail>),
    /// For [`Order::Head`].
    Head(Box<OrganizationHead>),
    /// For [`Order::Accounts`]; holds the requested cursor.
    Accounts(WalletId, Option<WalletAccountId>, AccountPage),
    /// For [`Order::Messages`]; holds the requested organization and cursor.
    Messages(OrganizationId, Option<MessageEventId>, MessagePage),
    /// For [`Order::Webhooks`].
    Webhooks(OrganizationId, WebhookReceivers),
    /// For [`Order::Deliveries`].
    Deliveries(ReceiverId, WebhookDeliveries),
    /// For [`Order::RetryDelivery`].
    Retried(Result<RetriedDelivery>),
    /// For [`Order::TestWebhook`].
    Tested(Result<Box<WebhookAttempt>>),
    /// For [`Order::Health`]; holds whether the daemon runs on this host, if that is known.
    Health(Box<Health>, Option<bool>),
    /// Whether the daemon runs on this host, if that is known. Sent once after each connection.
    Host(Option<bool>),
    /// For [`Order::Signer`]; holds the name, and no signer if none has it.
    Signer(String, Option<Box<Signer>>),
    /// For [`Order::Recent`].
    Recent(Vec<ActivityRow>, ResolvedNames),
    /// For [`Order::PolicyHistory`]: recent activities, the signers that they name, and the policy changes.
    PolicyHistory(Vec<ActivityRow>, ResolvedNames, Vec<ActivityRow>),
    /// For [`Order::Transfers`]; holds the reviewed activity.
    Transfers(ActivityId, Box<EarlierTransfers>),
    /// For [`Order::Cast`]: the target activity after the vote.
    Cast(Result<Box<Confirmation>, Box<CastError>>),
    /// An order failed.
    Failed(Subject, LinkError),
}

impl Answer {
    /// Returns what was read successfully, if the answer is of an order that can fail.
    pub(crate) const fn subject(&self) -> Option<Subject> {
        Some(match self {
            Self::Inbox(_) | Self::Rows(..) => Subject::Approvals,
            Self::Record(..) => Subject::Activity,
            Self::Activities(..) | Self::History(..) => Subject::Activities,
            Self::Organizations(..) => Subject::Organizations,
            Self::Organization(_) => Subject::Organization,
            Self::Accounts(..) => Subject::Accounts,
            Self::Messages(..) => Subject::Messages,
            Self::Webhooks(..) | Self::Deliveries(..) => Subject::Webhooks,
            Self::Health(..) => Subject::Health,
            Self::Recent(..) => Subject::RecentActivities,
            Self::Transfers(..) => Subject::Transfers,
            Self::PolicyHistory(..) => Subject::PolicyHistory,
            Self::Signer(..) => Subject::Signer,
            _ => return None,
        })
    }
}

/// A page of waiting activities.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InboxRead {
    /// Number of the reading that this page belongs to.
    pub(crate) reading: u64,
    /// Where the reading ended; `None` if more pages follow.
    pub(crate) end: Option<InboxEnd>,
    pub(crate) page: InboxPage,
}

/// Maximum number of activities in an inbox. Anybody may have sub-organizations, in which any number may wait.
pub(crate) const INBOX_LIMIT: usize = 10_000;
/// Length of the pages of an inbox in bytes after which no further page is read.
const INBOX_BYTES: usize = 256 * 1024 * 1024;

/// Where a reading of what waits ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InboxEnd {
    /// Everything was read.
    Everything,
    /// Everything was read that the daemon has indexed so far. Something may be missing.
    Indexed,
    /// The inbox is full. More waits, in sub-organizations unless an organization has very much that waits.
    Limit,
}

impl InboxEnd {
    /// Returns whether and where a reading of so many activities, in pages of so many bytes, ends with a page.
    pub(crate) fn after(page: &InboxPage, count: usize, bytes: usize) -> Option<Self> {
        match &page.next {
            None if page.is_complete => Some(Self::Everything),
            None => Some(Self::Indexed),
            Some(_) => (count >= INBOX_LIMIT || bytes >= INBOX_BYTES).then_some(Self::Limit),
        }
    }
}
