//! `quorate roster ls|export|import|diff|accept`: known keys, names and root quorums, to be compared and exchanged in
//! person, and to be replaced by what is proven.

use std::fmt::Write as _;
use std::path::Path;

use quorate_common::activity::{Activity, Status};
use quorate_common::console::{OrganizationDetail, PAGE_LIMIT};
use quorate_common::ids::{OrganizationId, UserId};
use serde_json::{Value, json};

use super::arguments::RosterCommand;
use super::{Answer, given};
use crate::clock::now_millis;
use crate::failure::{Exit, Failure};
use crate::keys::canonical;
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
        RosterCommand::Accept { unproven, names, keys } => {
            accept(&session()?, &Wanted { unproven: *unproven, names: *names, keys }).await
        }
    }
}

/// What is to be accepted beside a quorum that is proven.
struct Wanted<'a> {
    unproven: bool,
    names: bool,
    keys: &'a [UserKey],
}

/// Accepts the stated root quorum if executed changes prove it, or if the caller says that it was compared. Accepts names
/// and keys that the caller asks for.
async fn accept(session: &Session, wanted: &Wanted<'_>) -> Result<Answer, Failure> {
    session.greet().await?;
    let organization = session.organization().await?;
    let id = organization.head.organization_id;
    let mut roster = remember(&session.folders, &organization)?;
    let mut text = String::new();
    let keys_left = accept_keys(&mut roster, &organization, wanted.keys, &mut text)?;
    let proven = accept_quorum(session, &mut roster, &organization, wanted.unproven, &mut text).await?;
    let renamed = roster.renamed(&organization);
    for one in &renamed {
        let (user, old, new) = (one.user, quoted(&one.known.value), quoted(&one.stated));
        let done = if wanted.names { "accepted" } else { "not accepted: --names accepts it" };
        let _ = writeln!(text, "user {user}: name {old}, now stated {new}: {done}");
    }
    if wanted.names {
        roster.accept_names(&organization, now_millis());
    }
    roster.save(&session.folders.roster())?;
    if text.is_empty() {
        "Nothing differs.\n".clone_into(&mut text);
    }
    let data = json!({
        "organizationId": id,
        "quorumAccepted": proven.is_some(),
        "proven": proven,
        "namesAccepted": if wanted.names { renamed.len() } else { 0 },
        "namesLeft": if wanted.names { 0 } else { renamed.len() },
        "keysAccepted": wanted.keys.len(),
        "keysLeft": keys_left,
    });
    Ok(Answer::one(data, text))
}

/// Accepts the root quorum if another one is known. Returns whether it is proven.
async fn accept_quorum(
    session: &Session,
    roster: &mut Roster,
    organization: &OrganizationDetail,
    unproven: bool,
    text: &mut String,
) -> Result<Option<bool>, Failure> {
    let id = organization.head.organization_id;
    let stated = KnownQuorum::stated(organization);
    let Some(known) = roster.quorum(id).filter(|known| known.value != stated) else { return Ok(None) };
    let changes = quorum_changes(session, id).await?;
    let proven = followed(changes.iter().rev(), id, known, roster) == stated;
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
    roster.accept_quorum(organization, now_millis());
    Ok(Some(proven))
}

/// Accepts these keys, which the daemon must state for these users. Returns how many others are unconfirmed.
fn accept_keys(
    roster: &mut Roster,
    organization: &OrganizationDetail,
    wanted: &[UserKey],
    text: &mut String,
) -> Result<usize, Failure> {
    let id = organization.head.organization_id;
    let late = roster.unconfirmed(organization);
    let is_late = |key: &&UserKey| late.iter().any(|seen| key.is(seen));
    if let Some(other) = wanted.iter().find(|key| !is_late(key)) {
        let UserKey { user, public_key } = other;
        let message = format!("user {user} has no unconfirmed key {public_key}; nothing was accepted");
        return Err(Failure::new(Exit::NotFound, message));
    }
    let (accepted, left): (Vec<&Seen<'_>>, Vec<&Seen<'_>>) =
        late.iter().partition(|seen| wanted.iter().any(|key| key.is(seen)));
    for (seen, is_accepted) in
        accepted.iter().map(|seen| (seen, true)).chain(left.iter().map(|seen| (seen, false)))
    {
        let (user, key) = (seen.user, clean(seen.public_key));
        let name = roster.name(id, user).map_or_else(String::new, |name| format!(" {}", quoted(name)));
        let done = if is_accepted {
            "accepted".to_owned()
        } else {
            format!("not accepted: compare it with the user, then --public-key {user}:{key} accepts it")
        };
        let _ = writeln!(text, "user {user}{name}: key {key}, first seen {}: {done}", date_time(seen.since));
    }
    let left = left.len();
    for key in wanted {
        roster.accept_key(id, key.user, &key.public_key, now_millis());
    }
    Ok(left)
}

/// A user's key, as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserKey {
    user: UserId,
    public_key: String,
}

impl UserKey {
    /// Reads `USER_ID:PUBLIC_KEY`.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (user, public_key) = text.split_once(':').ok_or("expected USER_ID:PUBLIC_KEY")?;
        let user = user.parse().map_err(|_| "expected the id of a user before the colon")?;
        Ok(Self { user, public_key: canonical(public_key) })
    }

    fn is(&self, seen: &Seen<'_>) -> bool {
        self.user == seen.user && self.public_key == seen.public_key
    }
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
    let Seen { organization, user, public_key, since, is_confirmed } = seen;
    let name =
        roster.name(*organization, *user).map_or_else(String::new, |name| format!(" {}", quoted(name)));
    let late = if *is_confirmed { "" } else { ", not accepted" };
    format!("{organization}  user {user}{name}  {}  since {}{late}\n", clean(public_key), date_time(*since))
}

fn line(roster: &Roster, seen: &Seen<'_>) -> Value {
    json!({
        "organizationId": seen.organization,
        "userId": seen.user,
        "userName": roster.name(seen.organization, seen.user),
        "publicKey": seen.public_key,
        "firstSeenMillis": seen.since,
        "confirmed": seen.is_confirmed,
    })
}
