//! `quorate approvals ls`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Answer;
use super::arguments::ApprovalsCommand;
use crate::book::Book;
use crate::clock::now_millis;
use crate::failure::Failure;
use crate::proof::{Evidence, Review};
use crate::session::{Session, remember};
use crate::text::{ago, duration};
use quorate_common::console::ReviewRecord;

pub(super) async fn run(session: &Session, command: &ApprovalsCommand) -> Result<Answer, Failure> {
    let ApprovalsCommand::Ls { mine, others } = command;
    session.greet().await?;
    let id = session.organization_id().await?;
    let organization = session.client.organization(id).await?;
    let rows = session.waiting(id).await?;
    let roster = remember(&session.folders, &organization)?;
    let book = Book::load(&session.folders.book())?;
    let viewer = session.viewer_in(&organization);
    let mut reviews: Vec<(bool, Review)> = Vec::new();
    for row in &rows {
        let record = ReviewRecord { row: row.clone(), organization: organization.clone(), grounds: None };
        let evidence = Evidence {
            record: &record,
            siblings: &rows,
            roster: &roster,
            book: &book,
            viewer: &viewer,
            now: now_millis(),
            reference: None,
        };
        let review = Review::of(&evidence);
        reviews.push((waits_for_viewer(&review), review));
    }
    reviews.retain(|(is_mine, _)| if *mine { *is_mine } else { !(*others && *is_mine) });
    reviews
        .sort_by_key(|(is_mine, review)| (!is_mine, std::cmp::Reverse(review.risk), review.tally.lapses_at));
    let data = reviews.iter().map(|(is_mine, review)| line(review, *is_mine)).collect();
    Ok(Answer::list(data, text(&reviews)))
}

/// Whether the rule still asks for the viewer.
pub(crate) fn waits_for_viewer(review: &Review) -> bool {
    review.viewer.user.is_some_and(|user| review.tally.open_to.contains(&user))
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

fn text(reviews: &[(bool, Review)]) -> String {
    if reviews.is_empty() {
        return "Nothing waits.\n".to_owned();
    }
    let now = now_millis();
    let mut out = String::new();
    for (mine, review) in reviews {
        let lapses =
            review.tally.lapses_at.map_or_else(|| "-".to_owned(), |at| duration(at.saturating_sub(now)));
        let blocked = if review.blocked() { "  [x] CHECK FAILED" } else { "" };
        let _ = write!(
            out,
            "{:<4}  {}: {}{blocked}\n      {}  {} of {}, lapses in {lapses}, asked {}  {}\n",
            review.risk.word(),
            review.title,
            review.brief,
            if *mine { "waits for you" } else { "waits for others" },
            review.tally.has(),
            review.tally.needed,
            ago(review.activity.created_at.millis(), now),
            review.activity.id,
        );
    }
    out
}
