//! `quorate activity ls|get|wait`.

use std::sync::Arc;
use std::time::Duration;

use quorate_common::activity::Status;
use quorate_common::console::{ActivityRow, OrganizationDetail};
use quorate_common::ids::{OrganizationId, UserId};
use quorate_policy::request::kind_of;
use serde_json::{Value, json};

use super::activity_arguments::{ActivityCommand, ActivityListArguments};
use super::table::{self, Table};
use crate::ballot::Outcome;
use crate::book::Book;
use crate::catalog;
use crate::failure::{Exit, Failure, Result};
use crate::link::History;
use crate::output::{self, Answer};
use crate::proof::{Record, json, outline, plain_text, status_word};
use crate::session::{Session, one_named};
use crate::text::{clean, counted, rfc3339};

/// Interval at which a waiting activity is read again.
const PAUSE_MILLIS: u64 = 500;

pub(super) async fn run(session: &Session, command: &ActivityCommand) -> Result<Answer> {
    match command {
        ActivityCommand::Ls(wanted) => list(session, wanted).await,
        ActivityCommand::Get { reference } => {
            let review = session.review(reference).await?;
            let data = output::extended(json(&review), [("activity", json!(review.activity))]);
            Ok(Answer::one(data, plain_text(&review)))
        }
        ActivityCommand::Wait { reference, timeout } => wait(session, reference, *timeout).await,
    }
}

async fn list(session: &Session, wanted: &ActivityListArguments) -> Result<Answer> {
    session.check_context().await?;
    let id = session.organization_id().await?;
    let organization = Arc::new(session.client.organization(id).await?);
    let request = request(wanted, &organization)?;
    let book = Book::load(&session.folders.book())?;
    // A list may have a million activities: of each, only what is printed in the end is kept.
    let (mut rows, mut count) = (Vec::new(), 0_usize);
    let mut add = |row: ActivityRow| {
        count = count.saturating_add(1);
        if output::lists_data() {
            output::now(&json!(row), "");
        } else {
            rows.push(line(row, &organization, &book));
        }
    };
    let is_whole = read(session, id, &request, wanted.limit, &mut add).await?;
    let more = (!is_whole).then(|| "more exist: raise --limit".to_owned());
    if more.is_some() {
        output::warn_scripts(&format!("only {count} activities are listed; raise --limit"));
    }
    Ok(Table {
        noun: ("activity", "activities"),
        columns: &["PROPOSED", "STATUS", "ID", "TYPE", "WHAT"],
        wide: &["PROPOSER", "VOTES", "FINGERPRINT"],
        rows,
        none: "No activities.",
        more,
    }
    .answer())
}

/// Returns the row of an activity, without its data.
fn line(row: ActivityRow, organization: &Arc<OrganizationDetail>, book: &Book) -> table::Row {
    let record = Record::of_row(row, organization);
    let activity = &record.row.activity;
    let proposer = activity.votes.first().and_then(|vote| vote.user.as_ref());
    let cells = [
        rfc3339(activity.created_at.millis()),
        status_word(activity.status).to_owned(),
        activity.id.to_string(),
        activity.activity_type.trim_start_matches("ACTIVITY_TYPE_").to_owned(),
        outline(&record, book),
        proposer.map_or_else(|| "-".to_owned(), |user| user.user_name.clone()),
        counted(u64::try_from(activity.votes.len()).unwrap_or(u64::MAX), "vote"),
        activity.fingerprint.to_string(),
    ];
    table::row(Value::Null, &activity.id, cells)
}

fn request(wanted: &ActivityListArguments, organization: &OrganizationDetail) -> Result<History> {
    let (order, reverse) = wanted.order.request();
    let words = wanted.text.iter().flat_map(|text| text.split_whitespace());
    Ok(History {
        statuses: wanted.status.iter().map(|name| status(name)).collect::<Result<_, _>>()?,
        types: wanted.types.iter().map(|name| activity_types(name)).collect::<Result<Vec<_>, _>>()?.concat(),
        proposers: wanted
            .proposers
            .iter()
            .map(|name| proposer(name, organization))
            .collect::<Result<_, _>>()?,
        words: words.map(str::to_owned).collect(),
        before: wanted.before,
        order,
        reverse,
    })
}

/// Reads the activities up to a number. Returns whether these are all.
async fn read(
    session: &Session,
    id: OrganizationId,
    request: &History,
    limit: usize,
    add: &mut impl FnMut(ActivityRow),
) -> Result<bool> {
    let (mut count, mut after): (usize, Option<String>) = (0, None);
    loop {
        // One more than wanted shows whether there are more.
        let more = limit.saturating_add(1).saturating_sub(count);
        let page = session.client.history(id, request, after.as_deref(), more).await?;
        let of_page = page.activities.len();
        page.activities.into_iter().take(limit.saturating_sub(count)).for_each(&mut *add);
        count = count.saturating_add(of_page);
        after = page.next;
        if count > limit {
            return Ok(false);
        }
        if after.is_none() {
            return Ok(true);
        }
    }
}

/// Returns the user with this name or id.
fn proposer(name: &str, organization: &OrganizationDetail) -> Result<UserId> {
    if let Ok(id) = name.parse() {
        return Ok(id);
    }
    let named = organization.users.iter().filter(|user| user.user_name == name);
    let id = one_named("user", "users", name, named.map(|user| user.user_id.to_string()).collect())?;
    id.parse().map_err(|_| Failure::new(Exit::Failed, "the daemon stated an invalid id"))
}

async fn wait(session: &Session, reference: &str, timeout: u64) -> Result<Answer> {
    let decided = async {
        let mut reference = reference.to_owned();
        loop {
            let review = session.review(&reference).await?;
            // An activity of a sub-organization is found at once by its fingerprint.
            if let Some(proposal) = &review.proposal {
                reference = proposal.fingerprint.to_string();
            }
            if Outcome::of(review.activity.status) != Outcome::Waiting {
                return Ok::<_, Failure>(review);
            }
            tokio::time::sleep(Duration::from_millis(PAUSE_MILLIS)).await;
        }
    };
    let Ok(review) = tokio::time::timeout(Duration::from_secs(timeout), decided).await else {
        return Err(Failure::new(Exit::Waiting, format!("still waiting after {timeout} s")));
    };
    let review = review?;
    let exit = match Outcome::of(review.activity.status) {
        Outcome::Executed => Exit::Done,
        Outcome::Rejected => Exit::Rejected,
        Outcome::Failed => Exit::Failed,
        Outcome::Waiting => Exit::Waiting,
    };
    let text = format!("{}\n", status_word(review.activity.status));
    Ok(Answer::one(json(&review), text).exits(exit))
}

fn status(name: &str) -> Result<Status> {
    let whole = if name.starts_with("ACTIVITY_STATUS_") {
        name.to_owned()
    } else {
        format!("ACTIVITY_STATUS_{}", name.to_ascii_uppercase().replace('-', "_"))
    };
    serde_json::from_value(Value::String(whole))
        .map_err(|_| Failure::new(Exit::Usage, format!("unknown status {}", clean(name))))
}

/// Returns the types that a name means: all versions of a kind, or the one that the name states.
pub(super) fn activity_types(name: &str) -> Result<Vec<String>> {
    let upper = name.to_ascii_uppercase().replace('-', "_");
    let bare = upper.trim_start_matches("ACTIVITY_TYPE_");
    let is_meant =
        |known: &&str| kind_of(known) == bare || known.trim_start_matches("ACTIVITY_TYPE_") == bare;
    let known = catalog::all().map(|entry| entry.activity_type.as_str());
    let meant: Vec<String> = known.filter(is_meant).map(str::to_owned).collect();
    if meant.is_empty() {
        let text = format!(
            "unknown type {}: name a kind of activity, such as create-wallet, or one version of it, such as sign-raw-payload-v2",
            clean(name)
        );
        return Err(Failure::new(Exit::Usage, text));
    }
    Ok(meant)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_kind_means_all_of_its_versions() {
        let both = ["ACTIVITY_TYPE_OTP_LOGIN", "ACTIVITY_TYPE_OTP_LOGIN_V2"];
        for name in ["otp-login", "OTP_LOGIN", "ACTIVITY_TYPE_OTP_LOGIN"] {
            assert_eq!(activity_types(name).unwrap(), both, "{name}");
        }
        for name in ["otp-login-v2", "ACTIVITY_TYPE_OTP_LOGIN_V2"] {
            assert_eq!(activity_types(name).unwrap(), both[1..], "{name}");
        }
        for name in ["otp_loginx", "", "login", "ACTIVITY_TYPE_", "otp login\u{7}"] {
            let failure = activity_types(name).unwrap_err();
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.message().starts_with("unknown type "), "{}", failure.message());
        }
    }
}
