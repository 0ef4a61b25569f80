//! Executes orders as requests, delivers the answers and follows the change feed. Reconnects automatically;
//! the screens are only informed that their data is old.

use std::time::Duration;

use quorate_common::activity::Activity;
use quorate_common::console::{
    AccountPage, ActivityPage, ActivityRow, Change, DaemonStatus, OrganizationDetail, OrganizationHead,
    OrganizationPage, PAGE_LIMIT, ReviewRecord, Signer,
};
use quorate_common::ids::{ActivityId, OrganizationId, WalletAccountId, WalletId};
use quorate_common::stamp::Stamp;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::client::escaped;
use super::events::{Feed, Item};
use super::{Client, LinkError, policy_changes, recent, submit};
use crate::ballot::Ballot;
use crate::policies::ResolvedNames;

/// Interval at which the daemon's status is queried to detect a lost connection.
const PULSE_SECONDS: u64 = 3;
/// First and longest pause between attempts to reconnect, in seconds.
const RETRY_FIRST_SECONDS: u64 = 1;
const RETRY_LAST_SECONDS: u64 = 15;

/// An order from the screens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// Read the organization and all waiting activities, page by page; holds the number of this reading.
    Inbox(OrganizationId, u64),
    /// Read these activities of the list.
    Rows(OrganizationId, Vec<ActivityId>),
    /// Read one activity for a review.
    Record(OrganizationId, String),
    /// Read the same activity again directly before a vote.
    Preflight(OrganizationId, String),
    /// Read a page of all activities.
    Activities(OrganizationId, Option<ActivityId>),
    /// Read a page of organizations.
    Organizations(Option<OrganizationId>, Option<OrganizationId>),
    /// Read an organization.
    Organization(OrganizationId),
    /// Read the head of an organization for the tree.
    Head(OrganizationId),
    /// Read a page of accounts.
    Accounts(OrganizationId, WalletId, Option<WalletAccountId>),
    /// Look up the signer that a request names.
    Signer(OrganizationId, String),
    /// Read recent activities and the signers that they name.
    Recent(OrganizationId),
    /// Like `Recent`, with the activities that created or changed policies.
    PolicyHistory(OrganizationId),
    /// Submit a vote or proposal.
    Cast(OrganizationId, Box<(Ballot, Stamp)>),
    /// Reconnect now.
    Retry,
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
    Inbox(InboxPage),
    /// For [`Order::Rows`]; holds the requested ids.
    Rows(Vec<ActivityId>, Vec<ActivityRow>),
    /// For [`Order::Record`]; holds the requested reference.
    Record(String, Box<ReviewRecord>),
    /// For [`Order::Preflight`].
    Preflight(Result<Box<ReviewRecord>, LinkError>),
    /// For [`Order::Activities`]; holds the requested cursor.
    Activities(Option<ActivityId>, ActivityPage),
    /// For [`Order::Organizations`]; holds the requested parent and cursor.
    Organizations(Option<OrganizationId>, Option<OrganizationId>, OrganizationPage),
    /// For [`Order::Organization`].
    Organization(Box<OrganizationDetail>),
    /// For [`Order::Head`].
    Head(Box<OrganizationHead>),
    /// For [`Order::Accounts`]; holds the requested cursor.
    Accounts(WalletId, Option<WalletAccountId>, AccountPage),
    /// For [`Order::Signer`]; holds the name, and no signer if none has it.
    Signer(String, Option<Box<Signer>>),
    /// For [`Order::Recent`].
    Recent(Vec<ActivityRow>, ResolvedNames),
    /// For [`Order::PolicyHistory`]: recent activities, the signers that they name, and the policy changes.
    PolicyHistory(Vec<ActivityRow>, ResolvedNames, Vec<ActivityRow>),
    /// For [`Order::Cast`]: the target activity after the vote.
    Cast(Result<Box<Activity>, LinkError>),
    /// An order failed; holds what was requested, in words.
    Failed(&'static str, LinkError),
}

/// A page of waiting activities.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InboxPage {
    /// Number of the reading that this page belongs to.
    pub(crate) reading: u64,
    pub(crate) is_last: bool,
    /// Total number of waiting activities, if the page states it.
    pub(crate) waiting: Option<u64>,
    pub(crate) rows: Vec<ActivityRow>,
}

/// Starts the worker. It runs until the returned sender is dropped.
pub(crate) fn start(client: Client, answers: UnboundedSender<Answer>) -> UnboundedSender<Order> {
    let (orders, inbox) = unbounded_channel();
    let (retry, retries) = unbounded_channel();
    tokio::spawn(follow(client.clone(), answers.clone(), retries));
    tokio::spawn(serve(client, answers, inbox, retry));
    orders
}

async fn serve(
    client: Client,
    answers: UnboundedSender<Answer>,
    mut inbox: UnboundedReceiver<Order>,
    retry: UnboundedSender<()>,
) {
    while let Some(order) = inbox.recv().await {
        if order == Order::Retry {
            let _ = retry.send(());
            continue;
        }
        let (client, answers) = (client.clone(), answers.clone());
        tokio::spawn(async move {
            let answer = match order {
                Order::Inbox(id, reading) => match read_inbox(&client, &answers, id, reading).await {
                    Ok(()) => return,
                    Err(error) => Answer::Failed("approvals", error),
                },
                order => execute(&client, order).await,
            };
            // The console may have ended.
            let _ = answers.send(answer);
        });
    }
}

/// Reads the organization and all activities that wait in it.
async fn read_inbox(
    client: &Client,
    answers: &UnboundedSender<Answer>,
    id: OrganizationId,
    reading: u64,
) -> Result<(), LinkError> {
    let _ = answers.send(Answer::Organization(Box::new(client.organization(id).await?)));
    let mut after = None;
    loop {
        let page = client.waiting(id, after).await?;
        let is_last = page.next.is_none();
        let page_read = InboxPage { reading, is_last, waiting: page.waiting, rows: page.activities };
        if answers.send(Answer::Inbox(page_read)).is_err() || is_last {
            return Ok(());
        }
        after = page.next;
    }
}

async fn execute(client: &Client, order: Order) -> Answer {
    match order {
        Order::Rows(id, ids) => {
            to_answer("approvals", client.named(id, &ids).await.map(|rows| Answer::Rows(ids, rows)))
        }
        Order::Record(id, reference) => to_answer(
            "the activity",
            client.record(id, &reference).await.map(|record| Answer::Record(reference, Box::new(record))),
        ),
        Order::Preflight(id, reference) => {
            Answer::Preflight(client.record(id, &reference).await.map(Box::new))
        }
        Order::Activities(id, after) => to_answer(
            "activities",
            client
                .activities(id, &[], &[], after, PAGE_LIMIT)
                .await
                .map(|page| Answer::Activities(after, page)),
        ),
        Order::Organizations(parent, after) => to_answer(
            "organizations",
            client.organizations(parent, after).await.map(|page| Answer::Organizations(parent, after, page)),
        ),
        Order::Organization(id) => to_answer(
            "the organization",
            client.organization(id).await.map(|detail| Answer::Organization(Box::new(detail))),
        ),
        Order::Head(id) => to_answer(
            "the organization",
            client.organization(id).await.map(|detail| Answer::Head(Box::new(detail.head))),
        ),
        Order::Accounts(id, wallet, after) => to_answer(
            "accounts",
            client.accounts(id, wallet, after).await.map(|page| Answer::Accounts(wallet, after, page)),
        ),
        Order::Signer(id, name) => match client.signer(id, &name).await {
            Ok(signer) => Answer::Signer(name, Some(Box::new(signer))),
            Err(LinkError::Api(_)) => Answer::Signer(name, None),
            Err(error) => Answer::Failed("a signer", error),
        },
        Order::Recent(id) => to_answer(
            "recent activities",
            recent(client, id).await.map(|(rows, resolved)| Answer::Recent(rows, resolved)),
        ),
        Order::PolicyHistory(id) => to_answer("the policy history", policy_history(client, id).await),
        Order::Cast(id, vote) => Answer::Cast(cast(client, id, &vote.0, &vote.1).await.map(Box::new)),
        Order::Inbox(..) | Order::Retry => Answer::Alive,
    }
}

fn to_answer(what: &'static str, result: Result<Answer, LinkError>) -> Answer {
    result.unwrap_or_else(|error| Answer::Failed(what, error))
}

async fn policy_history(client: &Client, id: OrganizationId) -> Result<Answer, LinkError> {
    let (rows, resolved) = recent(client, id).await?;
    Ok(Answer::PolicyHistory(rows, resolved, policy_changes(client, id).await?))
}

async fn cast(
    client: &Client,
    id: OrganizationId,
    ballot: &Ballot,
    stamp: &Stamp,
) -> Result<Activity, LinkError> {
    let activity = submit(client, ballot, stamp).await?;
    match ballot.choice {
        crate::ballot::Choice::Approve | crate::ballot::Choice::Propose => Ok(activity),
        crate::ballot::Choice::Reject => {
            Ok(client.record(id, &ballot.fingerprint.to_string()).await?.row.activity)
        }
    }
}

/// Follows the feed forever and resumes after the last event.
async fn follow(client: Client, answers: UnboundedSender<Answer>, mut retries: UnboundedReceiver<()>) {
    let mut token = None;
    let mut pause = RETRY_FIRST_SECONDS;
    loop {
        let connected = connect(&client, &answers, &mut token).await;
        let error = match connected {
            Ok(error) => {
                pause = RETRY_FIRST_SECONDS;
                error
            }
            Err(error) => error,
        };
        if answers.send(Answer::Lost(error, pause)).is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(pause)) => {}
            more = retries.recv() => if more.is_none() { return },
        }
        pause = pause.saturating_mul(2).min(RETRY_LAST_SECONDS);
    }
}

/// Runs one connection. `Ok` holds why a working connection ended.
async fn connect(
    client: &Client,
    answers: &UnboundedSender<Answer>,
    token: &mut Option<String>,
) -> Result<LinkError, LinkError> {
    let status = client.status().await?;
    let path = token.as_ref().map_or_else(
        || "/console/v1/events".to_owned(),
        |token| format!("/console/v1/events?after={}", escaped(token)),
    );
    let mut feed = Feed::new(client.open(&path).await?);
    // The screens reload their data on `Connected`, which covers changes made before the feed opened.
    let _ = answers.send(Answer::Connected(status));
    let mut pulse = tokio::time::interval(Duration::from_secs(PULSE_SECONDS));
    loop {
        let items = tokio::select! {
            items = feed.next() => items,
            _ = pulse.tick() => {
                let status = client.status().await;
                status.map(|status| drop(answers.send(Answer::Status(status)))).map(|()| vec![Item::Alive])
            }
        };
        let items = match items {
            Ok(items) => items,
            Err(error) => return Ok(error),
        };
        for item in items {
            let answer = match item {
                Item::Alive => Answer::Alive,
                Item::Event(event) => {
                    *token = Some(event.token);
                    Answer::Changed(event.change)
                }
            };
            if answers.send(answer).is_err() {
                return Ok(LinkError::Lost("the console ended".to_owned()));
            }
        }
    }
}
