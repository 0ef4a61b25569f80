//! `quorate roster ls|export|import|diff|accept`: known keys, names and root quorums, to be compared and exchanged in
//! person, and to be replaced by what is proven.

use std::fmt::Write as _;
use std::path::Path;

use quorate_common::activity::{Activity, Status};
use quorate_common::console::PAGE_LIMIT;
use quorate_common::ids::OrganizationId;
use serde_json::{Value, json};

use super::arguments::RosterCommand;
use super::{Answer, given};
use crate::clock::now_millis;
use crate::failure::{Exit, Failure};
use crate::place::Folders;
use crate::proof::followed;
use crate::roster::{KnownQuorum, Roster, SIZE_LIMIT, Seen};
use crate::session::{Session, remember};
use crate::text::{clean, date_time, quoted};

/// Most executed changes of a root quorum that are looked through for a proof.
const CHANGES_LIMIT: usize = 1000;

pub(super) async fn run(
    folders: &Folders,
    session: impl FnOnce() -> Result<Session, Failure>,
    command: &RosterCommand,
) -> Result<Answer, Failure> {
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
            roster.import(theirs);
            roster.save(&path)?;
            let text = format!("{added} keys added; of each moment the earlier one holds\n");
            Ok(Answer::one(json!({"added": added}), text))
        }
        RosterCommand::Diff { file } => Ok(compare(&roster, &read(file)?)),
        RosterCommand::Accept { unproven, names } => accept(&session()?, *unproven, *names).await,
    }
}

/// Accepts the stated root quorum if executed changes prove it, or if the caller says that it was compared.
async fn accept(session: &Session, unproven: bool, names: bool) -> Result<Answer, Failure> {
    session.greet().await?;
    let organization = session.organization().await?;
    let id = organization.head.organization_id;
    let mut roster = remember(&session.folders, &organization)?;
    let stated = KnownQuorum::stated(&organization);
    let known = roster.quorum(id).cloned().filter(|known| known.value != stated);
    let renamed = roster.renamed(&organization);
    let mut text = String::new();
    let mut is_proven = None;
    if let Some(known) = &known {
        let changes = quorum_changes(session, id).await?;
        let proven = followed(changes.iter().rev(), id, known, &roster) == stated;
        is_proven = Some(proven);
        let what = format!(
            "root quorum {} since {}, now stated {}",
            members(&known.value),
            date_time(known.since_millis),
            members(&stated)
        );
        if !proven && !unproven {
            let message = format!(
                "{what}: no executed changes prove it; nothing was accepted. Compare with the members in person, then \
                 use --unproven"
            );
            return Err(Failure::new(Exit::Verification, message));
        }
        let how = if proven { "proven by the votes of its members" } else { "not proven, as you say" };
        let _ = writeln!(text, "{what}: accepted, {how}");
        roster.accept_quorum(&organization, now_millis());
    }
    for one in &renamed {
        let (user, old, new) = (one.user, quoted(&one.known.value), quoted(&one.stated));
        let done = if names { "accepted" } else { "not accepted: --names accepts it" };
        let _ = writeln!(text, "user {user}: name {old}, now stated {new}: {done}");
    }
    if names {
        roster.accept_names(&organization, now_millis());
    }
    roster.save(&session.folders.roster())?;
    if text.is_empty() {
        "Nothing differs.\n".clone_into(&mut text);
    }
    let data = json!({
        "organizationId": id,
        "quorumAccepted": known.is_some(),
        "proven": is_proven,
        "namesAccepted": if names { renamed.len() } else { 0 },
        "namesLeft": if names { 0 } else { renamed.len() },
    });
    Ok(Answer::one(data, text))
}

/// The executed changes of the root quorum, newest first.
async fn quorum_changes(session: &Session, id: OrganizationId) -> Result<Vec<Activity>, Failure> {
    let types = ["ACTIVITY_TYPE_UPDATE_ROOT_QUORUM".to_owned()];
    let mut changes = Vec::new();
    let mut after = None;
    while changes.len() < CHANGES_LIMIT {
        let page = session.client.activities(id, &[Status::Completed], &types, after, PAGE_LIMIT).await?;
        changes.extend(page.activities.into_iter().map(|row| row.activity));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(changes)
}

fn members(quorum: &KnownQuorum) -> String {
    let ids: Vec<String> = quorum.user_ids.iter().map(ToString::to_string).collect();
    format!("{} ({})", quorum.short(), ids.join(", "))
}

fn read(file: &Path) -> Result<Roster, Failure> {
    let not_one = || Failure::new(Exit::Failed, "this is no roster, as quorate roster export writes it");
    Roster::parse(&given(file, SIZE_LIMIT)?).ok_or_else(not_one)
}

fn list(roster: &Roster) -> Answer {
    let seen = roster.seen();
    let keys: String = seen.iter().map(|seen| told(roster, seen)).collect();
    let quorums = roster.quorums().map(|(id, quorum)| {
        format!("{id}  root quorum {}  since {}\n", members(&quorum.value), date_time(quorum.since_millis))
    });
    let text = keys + &quorums.collect::<String>();
    let none = "No keys were seen yet. quorate approvals ls and quorate review see them.\n".to_owned();
    Answer::list(
        seen.iter().map(|seen| line(roster, seen)).collect(),
        if text.is_empty() { none } else { text },
    )
}

/// Exits with 1 if anything differs.
fn compare(roster: &Roster, theirs: &Roster) -> Answer {
    let (here, there) = (roster.missing_in(theirs), theirs.missing_in(roster));
    let mut data = Vec::new();
    let mut text = String::new();
    for (mark, place, roster, keys) in [('-', "here", roster, &here), ('+', "there", theirs, &there)] {
        for seen in keys {
            let mut one = line(roster, seen);
            if let Some(members) = one.as_object_mut() {
                members.insert("only".to_owned(), json!(place));
            }
            data.push(one);
            let _ = write!(text, "{mark} {}", told(roster, seen));
        }
    }
    for (id, ours) in roster.quorums() {
        let Some((_, other)) = theirs.quorums().find(|(other, _)| *other == id) else { continue };
        if ours.value != other.value {
            let (here, there) = (members(&ours.value), members(&other.value));
            let _ = write!(text, "- {id}  root quorum {here}\n+ {id}  root quorum {there}\n");
            data.push(
                json!({"organizationId": id, "rootQuorum": {"here": ours.value, "there": other.value}}),
            );
        }
    }
    if data.is_empty() {
        return Answer::list(data, "The same keys and root quorums are in both.\n".to_owned());
    }
    Answer::list(data, format!("- only here, + only in the file\n{text}")).exits(Exit::Failed)
}

fn told(roster: &Roster, seen: &Seen<'_>) -> String {
    let Seen { organization, user, public_key, since } = seen;
    let name =
        roster.name(*organization, *user).map_or_else(String::new, |name| format!(" {}", quoted(name)));
    format!("{organization}  user {user}{name}  {}  since {}\n", clean(public_key), date_time(*since))
}

fn line(roster: &Roster, seen: &Seen<'_>) -> Value {
    json!({
        "organizationId": seen.organization,
        "userId": seen.user,
        "userName": roster.name(seen.organization, seen.user),
        "publicKey": seen.public_key,
        "firstSeenMillis": seen.since,
    })
}
