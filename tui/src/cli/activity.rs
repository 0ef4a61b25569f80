//! `quorate activity ls|get|wait`.

use std::time::Duration;

use quorate_common::activity::Status;
use quorate_common::console::ActivityRow;
use serde_json::{Value, json};

use super::arguments::ActivityCommand;
use crate::ballot::Outcome;
use crate::failure::{Exit, Failure, Result};
use crate::output::Answer;
use crate::proof::{json, plain_text, status_word};
use crate::session::Session;
use crate::text::{clean, date_time};

/// Interval at which a waiting activity is read again.
const PAUSE_MILLIS: u64 = 500;

pub(super) async fn run(session: &Session, command: &ActivityCommand) -> Result<Answer> {
    match command {
        ActivityCommand::Ls { status, types, limit } => list(session, status, types, *limit).await,
        ActivityCommand::Get { reference } => {
            let review = session.review(reference).await?;
            let mut data = json(&review);
            if let Some(members) = data.as_object_mut() {
                members.insert("activity".to_owned(), json!(review.activity));
            }
            Ok(Answer::one(data, plain_text(&review)))
        }
        ActivityCommand::Wait { reference, timeout } => wait(session, reference, *timeout).await,
    }
}

async fn list(session: &Session, statuses: &[String], types: &[String], limit: usize) -> Result<Answer> {
    session.check_context().await?;
    let id = session.organization_id().await?;
    let statuses = statuses.iter().map(|name| status(name)).collect::<Result<Vec<_>, _>>()?;
    let types = types.iter().map(|name| activity_type(name)).collect::<Result<Vec<_>, _>>()?;
    let rows = session.client.newest(id, &statuses, &types, limit).await?;
    let line = |row: &ActivityRow| {
        let activity = &row.activity;
        let kind = clean(activity.activity_type.trim_start_matches("ACTIVITY_TYPE_"));
        let when = date_time(activity.created_at.millis());
        let status = status_word(activity.status);
        (json!(row), format!("{when}  {status:<9}  {}  {kind}\n", activity.id))
    };
    Ok(Answer::rows(rows.iter().map(line), "No activities."))
}

async fn wait(session: &Session, reference: &str, timeout: u64) -> Result<Answer> {
    let decided = async {
        loop {
            let review = session.review(reference).await?;
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

fn activity_type(name: &str) -> Result<String> {
    let upper = name.to_ascii_uppercase().replace('-', "_");
    let whole = if upper.starts_with("ACTIVITY_TYPE_") { upper } else { format!("ACTIVITY_TYPE_{upper}") };
    if whole.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_') {
        Ok(whole)
    } else {
        Err(Failure::new(Exit::Usage, "invalid type: use letters, digits and underscores"))
    }
}
