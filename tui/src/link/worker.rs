//! Executes orders as requests, delivers the answers and follows the change feed. Reconnects automatically;
//! the screens are only informed that their data is old.

use std::sync::Arc;
use std::time::Duration;

use quorate_common::console::{Change, Health, PAGE_LIMIT};
use quorate_common::ids::{ActivityId, OrganizationId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::client::Client;
use super::error::{LinkError, Result};
use super::events::Feed;
use super::messages::{Answer, InboxEnd, InboxRead, Order};
use super::poll::Item;
use super::recent::{policy_changes, recent};
use super::submit::cast;
use super::transfers::earlier_transfers;
use crate::fail_points;
use crate::files;

/// Interval at which the daemon's status is queried to detect a lost connection.
const PULSE_SECONDS: u64 = 3;
/// First and longest pause between attempts to reconnect, in seconds.
const RETRY_FIRST_SECONDS: u64 = 1;
const RETRY_LAST_SECONDS: u64 = 15;

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
            fail_points::reach("order");
            let subject = order.subject();
            let executed = execute(&client, &answers, order).await;
            // The console may have ended.
            let _ = answers.send(executed.unwrap_or_else(|error| Answer::Failed(subject, error)));
        });
    }
}

/// Reads the organization and all activities that wait in it and in its sub-organizations. Returns the last page.
async fn read_inbox(
    client: &Client,
    answers: &UnboundedSender<Answer>,
    id: OrganizationId,
    reading: u64,
) -> Result<Answer> {
    // Both at once: over a slow connection nothing waits for a second round trip.
    let (organization, first) = tokio::join!(client.organization(id), client.inbox(id, None));
    let _ = answers.send(Answer::Organization(Arc::new(organization?)));
    let ((mut page, mut bytes), mut count) = (first?, 0_usize);
    loop {
        let of_page: usize = page.organizations.iter().map(|one| one.activities.len()).sum();
        count = count.saturating_add(of_page);
        let (end, after) = (InboxEnd::after(&page, count, bytes), page.next.clone());
        let read = Answer::Inbox(InboxRead { reading, end, page });
        if end.is_some() {
            return Ok(read);
        }
        let _ = answers.send(read);
        (page, bytes) = client.inbox(id, after.as_deref()).await?;
    }
}

/// Reads changed activities of the inbox, and their organization.
async fn read_rows(client: &Client, id: OrganizationId, ids: Vec<ActivityId>) -> Result<Answer> {
    let (organization, rows) = tokio::join!(client.organization(id), client.named(id, &ids));
    match (organization, rows) {
        (Ok(organization), Ok(rows)) => Ok(Answer::Rows(Arc::new(organization), ids, rows)),
        (Err(error), _) | (_, Err(error)) if error.is_missing() => Ok(Answer::Gone(id)),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// Reports whether the daemon runs on this host.
async fn find_host(client: Client, answers: UnboundedSender<Answer>) {
    let health = client.health().await;
    let _ = answers.send(Answer::Host(health.ok().as_ref().and_then(is_same_host)));
}

/// Returns whether the daemon runs on this host, if that is known.
pub(crate) fn is_same_host(health: &Health) -> Option<bool> {
    Some(*health.boot_id.as_ref()? == files::boot_id()?)
}

async fn execute(client: &Client, answers: &UnboundedSender<Answer>, order: Order) -> Result<Answer> {
    Ok(match order {
        Order::Inbox(id, reading) => read_inbox(client, answers, id, reading).await?,
        Order::Rows(id, ids) => read_rows(client, id, ids).await?,
        Order::Below(id) => match client.organization(id).await {
            Ok(organization) => Answer::Below(Arc::new(organization)),
            Err(error) if error.is_missing() => Answer::Gone(id),
            Err(error) => return Err(error),
        },
        Order::Record(id, reference) => {
            let record = client.record(id, &reference).await?;
            Answer::Record(reference, Box::new(record))
        }
        Order::Preflight(id, reference) => {
            Answer::Preflight(client.record(id, &reference).await.map(Box::new))
        }
        Order::Activities(id, after) => {
            Answer::Activities(after, client.activities(id, &[], &[], after, PAGE_LIMIT).await?)
        }
        Order::History(id, request, after, reading) => {
            let page = client.history(id, &request, after.as_deref(), PAGE_LIMIT).await?;
            Answer::History(reading, after, page)
        }
        Order::Organizations(parent, after) => {
            Answer::Organizations(parent, after, client.organizations(parent, after).await?)
        }
        Order::Organization(id) => Answer::Organization(Arc::new(client.organization(id).await?)),
        Order::Head(id) => Answer::Head(Box::new(client.organization(id).await?.head)),
        Order::Accounts(id, wallet, after) => {
            Answer::Accounts(wallet, after, client.accounts(id, wallet, after).await?)
        }
        Order::Messages(id, after) => Answer::Messages(id, after, client.messages(id, after).await?),
        Order::Webhooks(id) => Answer::Webhooks(id, client.webhooks(id).await?),
        Order::Deliveries(receiver) => Answer::Deliveries(receiver, client.deliveries(receiver).await?),
        Order::RetryDelivery(receiver, organization, activity) => {
            Answer::Retried(client.retry_delivery(receiver, (organization, activity)).await)
        }
        Order::TestWebhook(receiver) => Answer::Tested(client.test_webhook(receiver).await.map(Box::new)),
        Order::Health => {
            let health = client.health().await?;
            let is_same_host = is_same_host(&health);
            Answer::Health(Box::new(health), is_same_host)
        }
        Order::Signer(id, name) => match client.signer(id, &name).await {
            Ok(signer) => Answer::Signer(name, Some(Box::new(signer))),
            Err(LinkError::Api(_)) => Answer::Signer(name, None),
            Err(error) => return Err(error),
        },
        Order::Recent(id) => {
            let (rows, resolved) = recent(client, id).await?;
            Answer::Recent(rows, resolved)
        }
        Order::PolicyHistory(id) => {
            let (rows, resolved) = recent(client, id).await?;
            Answer::PolicyHistory(rows, resolved, policy_changes(client, id).await?)
        }
        Order::Transfers(id, activity, addresses) => {
            Answer::Transfers(activity, Box::new(earlier_transfers(client, id, &addresses).await?))
        }
        Order::Cast(voter, vote) => {
            Answer::Cast(cast(client, voter, &vote.0, &vote.1).await.map(Box::new).map_err(Box::new))
        }
        Order::Retry => Answer::Alive,
    })
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
) -> Result<LinkError> {
    let (status, feed) = tokio::join!(client.status(), Feed::open(client, token.as_deref()));
    let (status, mut feed) = (status?, feed?);
    // The screens reload their data on `Connected`, which covers changes made before the feed opened.
    let _ = answers.send(Answer::Connected(status));
    tokio::spawn(find_host(client.clone(), answers.clone()));
    let mut pulse = tokio::time::interval(Duration::from_secs(PULSE_SECONDS));
    loop {
        let items = tokio::select! {
            items = feed.next() => items,
            _ = pulse.tick() => {
                if feed.is_due() && answers.send(Answer::Changed(Change::Reset)).is_err() {
                    return Ok(LinkError::Lost("the console ended".to_owned()));
                }
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
