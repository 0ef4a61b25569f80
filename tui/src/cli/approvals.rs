//! `quorate approvals ls`.

use std::cmp::Reverse;

use quorate_common::activity::Status;
use quorate_common::console::WaitingRule;
use serde_json::{Value, json};

use super::arguments::ApprovalsCommand;
use crate::book::Book;
use crate::clock::now_millis;
use crate::failure::Result;
use crate::kinds::count;
use crate::link::InboxEnd;
use crate::output::{self, Answer};
use crate::proof::{Evidence, Record, Review, Sibling, Siblings, waits_for_proof};
use crate::session::{Inbox, Session, pin_keys};
use crate::text::{ago, clean, duration};

pub(super) async fn run(session: &Session, command: &ApprovalsCommand) -> Result<Answer> {
    let ApprovalsCommand::Ls { mine, others } = command;
    session.daemon_status().await?;
    let detail = session.organization().await?;
    let shown = detail.head.organization_id;
    let Inbox { organizations, count, stated, end } = session.inbox(shown).await?;
    // Keys of sub-organizations, which anybody may have, are pinned when one of their activities is reviewed.
    let known_keys = pin_keys(&session.folders, &detail)?;
    let book = Book::load(&session.folders.book())?;
    let now = now_millis();
    let mut lines = Vec::new();
    for (organization, rows) in organizations {
        let viewer = session.identity.viewer_below(&organization);
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
            let is_mine = review.waits_for_viewer();
            if if *mine { is_mine } else { !(*others && is_mine) } {
                // Only the line is kept: a whole review per activity would take much more memory.
                let risk = Reverse(review.risk);
                let order = (!is_mine, risk, is_elsewhere, review.activity.created_at.millis());
                let text = text(&review, is_mine, now, is_elsewhere);
                lines.push((order, review.activity.id, line(&review, is_mine), text));
            }
        }
    }
    warn(end, count, stated);
    lines.sort_by_key(|(order, id, ..)| (*order, *id));
    let rows = lines.into_iter().map(|(_, _, data, text)| (data, text));
    let answer = Answer::rows(rows, "Nothing waits for approval.");
    Ok(answer.summed_up(("activity waits", "activities wait"), "/activityId"))
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

fn text(review: &Review, is_mine: bool, now: u64, is_elsewhere: bool) -> String {
    let expires =
        review.tally.expires_at.map_or_else(|| "-".to_owned(), |at| duration(at.saturating_sub(now)));
    let blocked = if review.blocked() { "  [x] CHECK FAILED" } else { "" };
    let votes = match review.tally.rule {
        Some(WaitingRule::Policy) => {
            format!("{}, a policy decides how many are needed", count(review.tally.has(), "approval"))
        }
        _ => format!("{} of {} approvals", review.tally.has(), review.tally.needed),
    };
    let waits = if is_mine { "waits for you" } else { "waits for others" };
    let waits = match waits_for_proof(review) {
        // No approval of anybody else is missing.
        Some(proof) if review.activity.status == Status::AuthenticatorsNeeded => proof,
        Some(proof) => format!("{proof}  {votes}"),
        None => format!("{waits}  {votes}"),
    };
    let place = if is_elsewhere {
        let organization = &review.organization.head;
        format!("      in {} {}\n", clean(&organization.organization_name), organization.organization_id)
    } else {
        String::new()
    };
    format!(
        "{:<4}  {}: {}{blocked}\n{place}      {waits}, votes expire in {expires}, proposed {}  {}\n",
        review.risk.word(),
        review.title,
        review.brief,
        ago(review.activity.created_at.millis(), now),
        review.activity.id,
    )
}
