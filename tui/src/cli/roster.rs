//! `quorate roster ls|export|import|diff`: the keys that this console has seen, to be compared and exchanged in person.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::arguments::RosterCommand;
use super::{Answer, given};
use crate::failure::{Exit, Failure};
use crate::place::Folders;
use crate::roster::{Roster, SIZE_LIMIT, Seen};
use crate::text::{clean, date_time};

pub(super) fn run(folders: &Folders, command: &RosterCommand) -> Result<Answer, Failure> {
    let path = folders.roster();
    let mut roster = Roster::load(&path)?;
    match command {
        RosterCommand::Ls => Ok(list(&roster)),
        RosterCommand::Export => {
            Ok(Answer::one(serde_json::to_value(&roster).unwrap_or_default(), format!("{}\n", roster.text())))
        }
        RosterCommand::Import { file } => {
            let theirs = read(file)?;
            let added = theirs.missing_in(&roster).len();
            roster.merge(theirs);
            roster.save(&path)?;
            let text = format!("{added} keys added; of each moment the earlier one holds\n");
            Ok(Answer::one(json!({"added": added}), text))
        }
        RosterCommand::Diff { file } => Ok(compare(&roster, &read(file)?)),
    }
}

fn read(file: &Path) -> Result<Roster, Failure> {
    let not_one = || Failure::new(Exit::Failed, "this is no roster, as quorate roster export writes it");
    Roster::parse(&given(file, SIZE_LIMIT)?).ok_or_else(not_one)
}

fn list(roster: &Roster) -> Answer {
    let seen = roster.seen();
    let text: String = seen.iter().map(|seen| told(seen)).collect();
    let none = "No keys were seen yet. quorate approvals ls and quorate review see them.\n".to_owned();
    Answer::list(seen.iter().map(line).collect(), if text.is_empty() { none } else { text })
}

/// Exits with 1 if anything differs.
fn compare(roster: &Roster, theirs: &Roster) -> Answer {
    let (here, there) = (roster.missing_in(theirs), theirs.missing_in(roster));
    let mut data = Vec::new();
    let mut text = String::new();
    for (mark, place, keys) in [('-', "here", &here), ('+', "there", &there)] {
        for seen in keys {
            let mut one = line(seen);
            if let Some(members) = one.as_object_mut() {
                members.insert("only".to_owned(), json!(place));
            }
            data.push(one);
            let _ = write!(text, "{mark} {}", told(seen));
        }
    }
    if data.is_empty() {
        return Answer::list(data, "The same keys are in both.\n".to_owned());
    }
    Answer::list(data, format!("- only here, + only in the file\n{text}")).exits(Exit::Failed)
}

fn told(seen: &Seen<'_>) -> String {
    let Seen { organization, user, public_key, since } = seen;
    format!("{organization}  user {user}  {}  since {}\n", clean(public_key), date_time(*since))
}

fn line(seen: &Seen<'_>) -> Value {
    json!({
        "organizationId": seen.organization,
        "userId": seen.user,
        "publicKey": seen.public_key,
        "firstSeenMillis": seen.since,
    })
}
