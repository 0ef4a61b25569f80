//! `quorate approvals ls`.

use std::cmp::Reverse;

use quorate_common::activity::Status;
use quorate_common::console::{OrganizationDetail, WaitingRule};
use quorate_common::ids::ActivityId;
use serde_json::{Value, json};

use super::activity::activity_types;
use super::approvals_arguments::{ApprovalsCommand, ApprovalsListArguments};
use super::table;
use crate::book::Book;
use crate::clock::now_millis;
use crate::failure::Result;
use crate::kinds::{Level, count};
use crate::link::InboxEnd;
use crate::output::{self, Answer};
use crate::proof::{Evidence, Record, Review, Sibling, Siblings, waits_for_proof};
use crate::session::{Identity, Inbox, Session, pin_keys};
use crate::text::{ago, clean, duration};

const COLUMNS: [&str; 10] = [
    "RISK",
    "ORGANIZATION",
    "TYPE",
    "WHAT CHANGES",
    "PROPOSER",
    "VOTES",
    "WAITS FOR",
    "EXPIRES",
    "AGE",
    "ID",
];

/// A waiting activity of the list. Only its texts are kept: a whole review per activity would take much more memory.
pub(super) struct Item {
    pub(super) id: ActivityId,
    /// Its lines, each of which ends with a line break.
    pub(super) text: String,
    risk: Level,
    is_mine: bool,
    data: Value,
    /// One per column.
    cells: Vec<String>,
}

pub(super) async fn run(session: &Session, command: &ApprovalsCommand) -> Result<Answer> {
    let ApprovalsCommand::Ls(wanted) = command;
    let mut items = list(session, wanted).await?;
    let found = items.len();
    items.truncate(limit(wanted));
    let sum = sum(&items, found);
    if items.len() < found {
        output::warn_scripts(&format!(
            "only {} of {found} activities are listed; raise --limit",
            items.len()
        ));
    }
    let none = if wanted.is_filter() {
        "Nothing that waits for approval matches."
    } else {
        "Nothing waits for approval."
    };
    let wide = if items.is_empty() { format!("{none}\n") } else { table(&items) + &sum };
    let names = items.iter().map(|item| item.id.to_string()).collect();
    let answer = Answer::rows(items.into_iter().map(|item| (item.data, item.text)), none);
    let text = if found == 0 { answer.text } else { answer.text + &sum };
    Ok(Answer { text, wide: Some(wide), names: Some(names), ..Answer::list(answer.data, String::new()) })
}

/// Returns the waiting activities in the order of the inbox, without a limit.
pub(super) async fn list(session: &Session, wanted: &ApprovalsListArguments) -> Result<Vec<Item>> {
    let filter = Filter::of(wanted)?;
    session.daemon_status().await?;
    let detail = session.client.organization(session.organization_id().await?).await?;
    let identity = reader(session, &detail)?;
    let shown = detail.head.organization_id;
    let Inbox { organizations, count, stated, end } = session.inbox(shown).await?;
    // Keys of sub-organizations, which anybody may have, are pinned when one of their activities is reviewed.
    let known_keys = pin_keys(&session.folders, &detail)?;
    let book = Book::load(&session.folders.book())?;
    let now = now_millis();
    let mut items = Vec::new();
    for (organization, rows) in organizations {
        let viewer = identity.viewer_below(&organization);
        let siblings: Siblings = rows.iter().filter_map(|row| Sibling::of(&row.activity)).collect();
        let is_elsewhere = organization.head.organization_id != shown;
        for row in rows {
            let record = Record::of_row(row, &organization);
            let review = Review::of(&Evidence {
                record: &record,
                siblings: &siblings,
                known_keys: &known_keys,
                book: &book,
                viewer: &viewer,
                now,
                reference: None,
            });
            if filter.admits(&review) {
                let created = review.activity.created_at.millis();
                let order = (Reverse(review.risk), !review.waits_for_viewer(), is_elsewhere, created);
                items.push((order, Item::of(&review, now, is_elsewhere)));
            }
        }
    }
    warn(end, count, stated);
    items.sort_by_key(|(order, item)| (*order, item.id));
    Ok(items.into_iter().map(|(_, item)| item).collect())
}

/// Returns who reads the list. At the socket, a user who was named needs no key.
fn reader(session: &Session, organization: &OrganizationDetail) -> Result<Identity> {
    let identity = &session.identity;
    let Some(mismatch) = identity.mismatch(organization) else { return Ok(identity.clone()) };
    let reader = identity.without_key();
    if identity.viewer.is_remote || !reader.is_selected() || reader.mismatch(organization).is_some() {
        return Err(mismatch);
    }
    output::warn(&format!("{}: listed without a key", mismatch.message()));
    Ok(reader)
}

fn limit(wanted: &ApprovalsListArguments) -> usize {
    wanted.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Which activities are listed.
struct Filter<'a> {
    wanted: &'a ApprovalsListArguments,
    types: Vec<String>,
    /// Lower-case words.
    words: Vec<String>,
}

impl<'a> Filter<'a> {
    fn of(wanted: &'a ApprovalsListArguments) -> Result<Self> {
        let types =
            wanted.types.iter().map(|name| activity_types(name)).collect::<Result<Vec<_>>>()?.concat();
        let words = wanted.text.iter().flat_map(|text| text.split_whitespace()).map(str::to_lowercase);
        Ok(Self { wanted, types, words: words.collect() })
    }

    fn admits(&self, review: &Review) -> bool {
        let Self { wanted, types, words } = self;
        let is_mine = review.waits_for_viewer();
        let is_of_type = types.is_empty() || types.contains(&review.activity.activity_type);
        let has_risk = wanted.risk.is_empty() || wanted.risk.iter().any(|risk| risk.level() == review.risk);
        (is_mine || !wanted.mine) && !(is_mine && wanted.others) && is_of_type && has_risk && {
            let organization = &review.organization.head.organization_name;
            let text = format!("{}\n{}\n{}\n{organization}", review.title, review.brief, proposer(review));
            let (text, ids) = (text.to_lowercase(), ids(review));
            words.iter().all(|word| text.contains(word) || ids.iter().any(|id| id.starts_with(word)))
        }
    }
}

/// Returns what identifies an activity.
fn ids(review: &Review) -> Vec<String> {
    let fingerprint = review.proposal.as_ref().map(|proposal| proposal.fingerprint);
    let digests = fingerprint.into_iter().flat_map(|one| [one.to_string(), one.hex()]);
    let head = &review.organization.head;
    digests.chain([review.activity.id.to_string(), head.organization_id.to_string()]).collect()
}

fn proposer(review: &Review) -> String {
    let first = review.votes.iter().find(|vote| vote.proposes);
    first.map_or_else(|| "?".to_owned(), |vote| vote.name.clone())
}

/// Warns of what the list may lack.
fn warn(end: InboxEnd, count: usize, stated: Option<u64>) {
    match end {
        InboxEnd::Everything => {
            let stated =
                stated.and_then(|stated| usize::try_from(stated).ok()).filter(|stated| *stated > count);
            if let Some(stated) = stated {
                output::warn(&format!(
                    "the daemon states that {stated} activities wait, but lists {count}: run this again, and ask the operator \
                     if the numbers still differ"
                ));
            }
        }
        InboxEnd::Indexed => output::warn(
            "the daemon still indexes what waits since before its upgrade: run this again for the rest",
        ),
        InboxEnd::Limit => output::warn(&format!(
            "only {count} activities are listed; more wait in sub-organizations: list one of them with --organization"
        )),
    }
}

fn line(review: &Review, mine: bool) -> Value {
    let mut whole = crate::proof::json(review);
    let Some(members) = whole.as_object_mut() else { return whole };
    for heavy in ["message", "result", "failure", "fields", "facts", "changes"] {
        members.remove(heavy);
    }
    members.insert("brief".to_owned(), json!(review.brief));
    members.insert("mine".to_owned(), json!(mine));
    whole
}

impl Item {
    fn of(review: &Review, now: u64, is_elsewhere: bool) -> Self {
        let is_mine = review.waits_for_viewer();
        let expires =
            review.tally.expires_at.map_or_else(|| "-".to_owned(), |at| duration(at.saturating_sub(now)));
        let (votes, waits) = (votes(review), waits(review, is_mine));
        let created = review.activity.created_at.millis();
        let organization = clean(&review.organization.head.organization_name);
        let blocked = if review.blocked() { "  [x] CHECK FAILED" } else { "" };
        let place = if is_elsewhere {
            format!("      in {organization} {}\n", review.organization.head.organization_id)
        } else {
            String::new()
        };
        let state = match (&votes, &waits) {
            (None, waits) => waits.clone(),
            (Some(votes), waits) => format!("{waits}  {votes}"),
        };
        let (risk, title, brief, id) = (review.risk.word(), &review.title, &review.brief, review.activity.id);
        let text = format!(
            "{risk:<4}  {title}: {brief}{blocked}\n{place}      {state}, votes expire in {expires}, proposed {}  {id}\n",
            ago(created, now)
        );
        let cells = [
            risk.to_owned(),
            organization,
            title.clone(),
            format!("{brief}{blocked}"),
            proposer(review),
            votes.unwrap_or_else(|| "-".to_owned()),
            waits.trim_start_matches("waits for ").to_owned(),
            expires,
            duration(now.saturating_sub(created)),
            id.to_string(),
        ];
        Self { id, text, risk: review.risk, is_mine, data: line(review, is_mine), cells: cells.to_vec() }
    }
}

/// Returns the approvals so far, unless no approval of anybody is missing.
fn votes(review: &Review) -> Option<String> {
    if waits_for_proof(review).is_some() && review.activity.status == Status::AuthenticatorsNeeded {
        return None;
    }
    Some(match review.tally.rule {
        Some(WaitingRule::Policy) => {
            format!("{}, a policy decides how many are needed", count(review.tally.has(), "approval"))
        }
        _ => format!("{} of {} approvals", review.tally.has(), review.tally.needed),
    })
}

/// Returns whom it waits for.
fn waits(review: &Review, is_mine: bool) -> String {
    waits_for_proof(review)
        .unwrap_or_else(|| if is_mine { "waits for you" } else { "waits for others" }.to_owned())
}

fn table(items: &[Item]) -> String {
    table::text(&COLUMNS, items.iter().map(|item| (item.cells.as_slice(), [].as_slice())))
}

/// Returns the line that sums up the list of `found` activities.
fn sum(items: &[Item], found: usize) -> String {
    let parts = [Level::High, Level::Med, Level::Low].into_iter().filter_map(|level| {
        let of_level = items.iter().filter(|item| item.risk == level).count();
        (of_level > 0).then(|| format!("{of_level} {}", level.word()))
    });
    let parts: Vec<String> = parts.collect();
    let mine = items.iter().filter(|item| item.is_mine).count();
    let more = found.saturating_sub(items.len());
    let more = if more == 0 { String::new() } else { format!("; {more} more: raise --limit") };
    let waits = output::summary(items.len(), "activity waits", "activities wait");
    format!("{waits}: {}; {mine} for you{more}\n", parts.join(", "))
}
