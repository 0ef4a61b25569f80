//! `quorate journal ls|verify`.

use serde_json::json;

use super::arguments::JournalCommand;
use super::table::{self, Row, Table};
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::journal::{self, Entry};
use crate::output::{self, Answer};
use crate::text::{clean, rfc3339};

pub(super) fn run(folders: &Folders, command: JournalCommand) -> Result<Answer> {
    match command {
        JournalCommand::Ls { limit } => list(folders, limit),
        JournalCommand::Verify => match journal::verify(&folders.journal())? {
            Ok(count) => Ok(Answer::one(
                json!({"entries": count, "intact": true}),
                format!("Entries: {count}. The hash chain is intact.\n"),
            )),
            Err(line) => Err(broken(line)),
        },
    }
}

fn broken(line: usize) -> Failure {
    Failure::new(Exit::Verification, format!("the hash chain breaks at line {line}"))
}

/// Lists the newest decisions. A journal that was changed is listed up to there, and exits like a failed check.
fn list(folders: &Folders, limit: usize) -> Result<Answer> {
    let (entries, broken_at) = journal::entries(&folders.journal())?;
    let mut entries = journal::decisions(entries);
    if let Some(line) = broken_at {
        output::warn(&format!("the hash chain breaks at line {line}: what follows is not listed"));
    }
    let left_out = entries.len().saturating_sub(limit);
    let more = (left_out > 0).then(|| format!("{left_out} older ones exist: raise --limit"));
    if let Some(more) = &more {
        output::warn_scripts(more);
    }
    entries.reverse();
    entries.truncate(limit);
    let answer = Table {
        noun: ("decision", "decisions"),
        columns: &["TIME", "DECISION", "OUTCOME", "ACTIVITY"],
        wide: &["ORGANIZATION", "FINGERPRINT"],
        rows: entries.iter().map(row).collect(),
        none: "No decisions.",
        more,
    }
    .answer();
    Ok(if broken_at.is_some() { answer.exits(Exit::Verification) } else { answer })
}

fn row(entry: &Entry) -> Row {
    let cells = [
        rfc3339(entry.at_millis),
        entry.choice.clone(),
        entry.outcome.clone(),
        entry.activity_id.to_string(),
        entry.organization_id.to_string(),
        entry.fingerprint.clone(),
    ];
    let mut row = table::row(json!(entry), &entry.activity_id, cells);
    row.notes.push(clean(&entry.sentence));
    row.notes.extend(entry.note.as_ref().map(|note| format!("note: {}", clean(note))));
    row
}
