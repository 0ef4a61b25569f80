//! Turns orders into requests and answers, and follows the change feed. Reconnects by itself; the screens
//! only hear that data is old.

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
use super::events::{Feed, Sign};
use super::{Client, LinkFlaw, policy_changes, recent, submit};
use crate::ballot::Ballot;
use crate::policies::Looked;

/// How often the daemon is asked for a sign of life while the feed is silent.
const PULSE_SECONDS: u64 = 3;
/// First and longest pause between attempts to reconnect.
const RETRY_FIRST_SECONDS: u64 = 1;
const RETRY_LAST_SECONDS: u64 = 15;

/// What the screens ask for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Order {
    /// The organization and all that waits in it, page by page; holds the number of the reading.
    Inbox(OrganizationId, u64),
    /// These activities of the list.
    Rows(OrganizationId, Vec<ActivityId>),
    /// One activity for a review.
    Record(OrganizationId, String),
    /// The same activity once more, right before a vote.
    Preflight(OrganizationId, String),
    /// A page of all activities.
    Activities(OrganizationId, Option<ActivityId>),
    /// A page of organizations.
    Organizations(Option<OrganizationId>, Option<OrganizationId>),
    /// Another organization.
    Organization(OrganizationId),
    /// What the tree shows of an organization.
    Head(OrganizationId),
    /// A page of accounts.
    Accounts(OrganizationId, WalletId, Option<WalletAccountId>),
    /// What a name of a request stands for.
    Signer(OrganizationId, String),
    /// The activities of late and what they name.
    Recent(OrganizationId),
    /// The same, with the activities that made and changed policies.
    PolicyHistory(OrganizationId),
    /// A vote.
    Cast(OrganizationId, Box<(Ballot, Stamp)>),
    /// Reconnect now.
    Retry,
}

/// What the screens hear.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// The feed is open; who the daemon is.
    Connected(DaemonStatus),
    /// The daemon lives.
    Alive,
    /// What the daemon says of itself now.
    Status(DaemonStatus),
    /// Something changed.
    Changed(Change),
    /// No connection, and when the next attempt is made, in seconds.
    Lost(LinkFlaw, u64),
    /// For [`Order::Inbox`]: a page of what waits. The organization came before it.
    Inbox(InboxPage),
    /// For [`Order::Rows`]; holds the ids asked with.
    Rows(Vec<ActivityId>, Vec<ActivityRow>),
    /// For [`Order::Record`]; holds the reference asked with.
    Record(String, Box<ReviewRecord>),
    /// For [`Order::Preflight`].
    Preflight(Result<Box<ReviewRecord>, LinkFlaw>),
    /// For [`Order::Activities`]; holds the cursor asked with.
    Activities(Option<ActivityId>, ActivityPage),
    /// For [`Order::Organizations`]; holds the parent and cursor asked with.
    Organizations(Option<OrganizationId>, Option<OrganizationId>, OrganizationPage),
    /// For [`Order::Organization`].
    Organization(Box<OrganizationDetail>),
    /// For [`Order::Head`].
    Head(Box<OrganizationHead>),
    /// For [`Order::Accounts`]; holds the cursor asked with.
    Accounts(WalletId, Option<WalletAccountId>, AccountPage),
    /// For [`Order::Signer`]; holds the name, and nothing where it stands for nothing.
    Signer(String, Option<Box<Signer>>),
    /// For [`Order::Recent`].
    Recent(Vec<ActivityRow>, Looked),
    /// For [`Order::PolicyHistory`]: the activities of late, what they name, and the changes of policies.
    PolicyHistory(Vec<ActivityRow>, Looked, Vec<ActivityRow>),
    /// For [`Order::Cast`]: the target as it is afterwards.
    Cast(Result<Box<Activity>, LinkFlaw>),
    /// An order failed; what was asked, in words.
    Failed(&'static str, LinkFlaw),
}

/// A page of what waits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InboxPage {
    /// Number of the reading.
    pub(crate) reading: u64,
    /// Whether it is the last page.
    pub(crate) is_last: bool,
    /// How many wait in all, if the page says so.
    pub(crate) waiting: Option<u64>,
    /// Activities.
    pub(crate) rows: Vec<ActivityRow>,
}

/// Starts the worker. Orders go in, answers come out until the returned sender is dropped.
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
                    Err(flaw) => Answer::Failed("approvals", flaw),
                },
                order => fulfil(&client, order).await,
            };
            // The console may be gone by now.
            let _ = answers.send(answer);
        });
    }
}

/// Reads the organization and all that waits in it.
async fn read_inbox(
    client: &Client,
    answers: &UnboundedSender<Answer>,
    id: OrganizationId,
    reading: u64,
) -> Result<(), LinkFlaw> {
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

async fn fulfil(client: &Client, order: Order) -> Answer {
    match order {
        Order::Rows(id, ids) => {
            answered("approvals", client.named(id, &ids).await.map(|rows| Answer::Rows(ids, rows)))
        }
        Order::Record(id, reference) => answered(
            "the activity",
            client.record(id, &reference).await.map(|record| Answer::Record(reference, Box::new(record))),
        ),
        Order::Preflight(id, reference) => {
            Answer::Preflight(client.record(id, &reference).await.map(Box::new))
        }
        Order::Activities(id, after) => answered(
            "activities",
            client
                .activities(id, &[], &[], after, PAGE_LIMIT)
                .await
                .map(|page| Answer::Activities(after, page)),
        ),
        Order::Organizations(parent, after) => answered(
            "organizations",
            client.organizations(parent, after).await.map(|page| Answer::Organizations(parent, after, page)),
        ),
        Order::Organization(id) => answered(
            "the organization",
            client.organization(id).await.map(|detail| Answer::Organization(Box::new(detail))),
        ),
        Order::Head(id) => answered(
            "the organization",
            client.organization(id).await.map(|detail| Answer::Head(Box::new(detail.head))),
        ),
        Order::Accounts(id, wallet, after) => answered(
            "accounts",
            client.accounts(id, wallet, after).await.map(|page| Answer::Accounts(wallet, after, page)),
        ),
        Order::Signer(id, name) => match client.signer(id, &name).await {
            Ok(signer) => Answer::Signer(name, Some(Box::new(signer))),
            Err(LinkFlaw::Refused(_)) => Answer::Signer(name, None),
            Err(flaw) => Answer::Failed("what a name stands for", flaw),
        },
        Order::Recent(id) => answered(
            "the activities of late",
            recent(client, id).await.map(|(rows, looked)| Answer::Recent(rows, looked)),
        ),
        Order::PolicyHistory(id) => answered("the history of policies", policy_history(client, id).await),
        Order::Cast(id, vote) => Answer::Cast(cast(client, id, &vote.0, &vote.1).await.map(Box::new)),
        Order::Inbox(..) | Order::Retry => Answer::Alive,
    }
}

fn answered(what: &'static str, result: Result<Answer, LinkFlaw>) -> Answer {
    result.unwrap_or_else(|flaw| Answer::Failed(what, flaw))
}

async fn policy_history(client: &Client, id: OrganizationId) -> Result<Answer, LinkFlaw> {
    let (rows, looked) = recent(client, id).await?;
    Ok(Answer::PolicyHistory(rows, looked, policy_changes(client, id).await?))
}

async fn cast(
    client: &Client,
    id: OrganizationId,
    ballot: &Ballot,
    stamp: &Stamp,
) -> Result<Activity, LinkFlaw> {
    let answered = submit(client, ballot, stamp).await?;
    match ballot.choice {
        crate::ballot::Choice::Approve | crate::ballot::Choice::Propose => Ok(answered),
        crate::ballot::Choice::Reject => {
            Ok(client.record(id, &ballot.fingerprint.to_string()).await?.row.activity)
        }
    }
}

/// Follows the feed for ever, resuming behind the last event.
async fn follow(client: Client, answers: UnboundedSender<Answer>, mut retries: UnboundedReceiver<()>) {
    let mut token = None;
    let mut pause = RETRY_FIRST_SECONDS;
    loop {
        let connected = connect(&client, &answers, &mut token).await;
        let flaw = match connected {
            Ok(flaw) => {
                pause = RETRY_FIRST_SECONDS;
                flaw
            }
            Err(flaw) => flaw,
        };
        if answers.send(Answer::Lost(flaw, pause)).is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(pause)) => {}
            more = retries.recv() => if more.is_none() { return },
        }
        pause = pause.saturating_mul(2).min(RETRY_LAST_SECONDS);
    }
}

/// One connection. `Ok` holds why it ended after it had worked.
async fn connect(
    client: &Client,
    answers: &UnboundedSender<Answer>,
    token: &mut Option<String>,
) -> Result<LinkFlaw, LinkFlaw> {
    let status = client.status().await?;
    let path = token.as_ref().map_or_else(
        || "/console/v1/events".to_owned(),
        |token| format!("/console/v1/events?after={}", escaped(token)),
    );
    let mut feed = Feed::new(client.open(&path).await?);
    // What happened before the feed opened is read by whoever hears this.
    let _ = answers.send(Answer::Connected(status));
    let mut pulse = tokio::time::interval(Duration::from_secs(PULSE_SECONDS));
    loop {
        let signs = tokio::select! {
            signs = feed.next() => signs,
            _ = pulse.tick() => {
                let status = client.status().await;
                status.map(|status| drop(answers.send(Answer::Status(status)))).map(|()| vec![Sign::Alive])
            }
        };
        let signs = match signs {
            Ok(signs) => signs,
            Err(flaw) => return Ok(flaw),
        };
        for sign in signs {
            let answer = match sign {
                Sign::Alive => Answer::Alive,
                Sign::Event(event) => {
                    *token = Some(event.token);
                    Answer::Changed(event.change)
                }
            };
            if answers.send(answer).is_err() {
                return Ok(LinkFlaw::Lost("the console ended".to_owned()));
            }
        }
    }
}
