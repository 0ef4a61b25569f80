//! `quorate known-keys ls|export|import|diff|accept`: known keys, names and root quorums, to compare and
//! exchange in person, and to replace by proven changes.

use std::fmt::Write as _;
use std::path::Path;

use quorate_common::activity::{Activity, Status};
use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use serde_json::{Value, json};

use super::arguments::KnownKeysCommand;
use super::input::given;
use super::values::UserKey;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::kinds::count;
use crate::known_keys::{KnownKey, KnownKeys, KnownQuorum, SIZE_LIMIT};
use crate::output::{Answer, extended};
use crate::proof::followed;
use crate::session::{Session, pin_keys};
use crate::text::{clean, date_time, quoted};

/// Maximum number of executed quorum changes that are searched for a proof.
const CHANGES_LIMIT: usize = 1000;

pub(super) async fn run(
    folders: &Folders,
    session: impl FnOnce() -> Result<Session>,
    command: &KnownKeysCommand,
) -> Result<Answer> {
    let path = folders.known_keys();
    let mut known_keys = KnownKeys::load(&path)?;
    match command {
        KnownKeysCommand::Ls => Ok(list(&known_keys)),
        KnownKeysCommand::Export => Ok(Answer::file(
            serde_json::to_value(&known_keys).unwrap_or_default(),
            format!("{}\n", known_keys.text()),
        )),
        KnownKeysCommand::Import { file } => {
            let theirs = read(file)?;
            let added = theirs.missing_in(&known_keys).len();
            known_keys.import(theirs);
            known_keys.save(&path)?;
            let text =
                format!("{} added; the earlier first-seen time of each key is kept\n", count(added, "key"));
            Ok(Answer::one(json!({"added": added}), text))
        }
        KnownKeysCommand::Diff { file } => Ok(compare(&known_keys, &read(file)?)),
        KnownKeysCommand::Accept { unproven, names, keys } => {
            accept(&session()?, &AcceptOptions { unproven: *unproven, names: *names, keys }).await
        }
    }
}

/// What the caller accepts in addition to a proven quorum.
struct AcceptOptions<'a> {
    unproven: bool,
    names: bool,
    keys: &'a [UserKey],
}

/// Accepts the stated root quorum if executed changes prove it or the caller confirms that it was compared.
/// Accepts the names and keys that the caller names.
async fn accept(session: &Session, wanted: &AcceptOptions<'_>) -> Result<Answer> {
    session.daemon_status().await?;
    let organization = session.organization().await?;
    let id = organization.head.organization_id;
    let mut known_keys = pin_keys(&session.folders, &organization)?;
    let mut text = String::new();
    let keys_left = accept_keys(&mut known_keys, &organization, wanted.keys, &mut text)?;
    let proven = accept_quorum(session, &mut known_keys, &organization, wanted.unproven, &mut text).await?;
    let renamed = known_keys.renamed(&organization);
    for one in &renamed {
        let (user, old, new) = (one.user, quoted(&one.known.value), quoted(&one.stated));
        let result = if wanted.names { "accepted" } else { "not accepted; --names accepts it" };
        let _ = writeln!(text, "user {user}: known as {old}, the daemon now states the name {new}: {result}");
    }
    if wanted.names {
        known_keys.accept_names(&organization, now_millis());
    }
    known_keys.save(&session.folders.known_keys())?;
    let names_left = if wanted.names { 0 } else { renamed.len() };
    let is_accepted = proven.is_some() || !wanted.keys.is_empty() || wanted.names && !renamed.is_empty();
    let is_left = keys_left > 0 || names_left > 0;
    if text.is_empty() {
        text.push_str("Nothing to accept: this console knows the keys, the names and the root quorum that the daemon states.\n");
    } else if !is_accepted {
        let (keys, names) = (count(keys_left, "key"), count(names_left, "name"));
        let _ = writeln!(text, "Nothing was accepted: {keys} and {names} are left.");
    }
    let data = json!({
        "organizationId": id,
        "quorumAccepted": proven.is_some(),
        "proven": proven,
        "namesAccepted": if wanted.names { renamed.len() } else { 0 },
        "namesLeft": names_left,
        "keysAccepted": wanted.keys.len(),
        "keysLeft": keys_left,
    });
    let answer = Answer::one(data, text);
    Ok(if is_left && !is_accepted { answer.exits(Exit::Failed) } else { answer })
}

/// Accepts the stated root quorum if it differs from the known one. Returns whether it is proven.
async fn accept_quorum(
    session: &Session,
    known_keys: &mut KnownKeys,
    organization: &OrganizationDetail,
    unproven: bool,
    text: &mut String,
) -> Result<Option<bool>> {
    let id = organization.head.organization_id;
    let stated = KnownQuorum::stated(organization);
    let Some(known) = known_keys.quorum(id).filter(|known| known.value != stated) else { return Ok(None) };
    let changes = quorum_changes(session, id).await?;
    let proven = followed(changes.iter().rev(), id, known, known_keys) == stated;
    let (old, since, new) = (members(&known.value), date_time(known.since_millis), members(&stated));
    let what = format!("root quorum {old} known since {since}, the daemon now states {new}");
    if !proven && !unproven {
        let message = format!(
            "{what}: no recorded votes prove this change; nothing was accepted. Compare the quorum with its \
             members in person, then use --unproven"
        );
        return Err(Failure::new(Exit::Verification, message));
    }
    let reason = if proven { "proven by its members' votes" } else { "without proof, as requested" };
    let _ = writeln!(text, "{what}: accepted, {reason}");
    known_keys.accept_quorum(organization, now_millis());
    Ok(Some(proven))
}

/// Accepts these keys, which the daemon must state for these users. Returns how many other keys are
/// unconfirmed.
fn accept_keys(
    known_keys: &mut KnownKeys,
    organization: &OrganizationDetail,
    wanted: &[UserKey],
    text: &mut String,
) -> Result<usize> {
    let id = organization.head.organization_id;
    let unconfirmed = known_keys.unconfirmed(organization);
    let is_unconfirmed = |key: &&UserKey| unconfirmed.iter().any(|seen| key.is(seen));
    if let Some(other) = wanted.iter().find(|key| !is_unconfirmed(key)) {
        let UserKey { user, public_key } = other;
        let message = format!("user {user} has no unconfirmed key {public_key}; nothing was accepted");
        return Err(Failure::new(Exit::NotFound, message));
    }
    let (accepted, left): (Vec<&KnownKey<'_>>, Vec<&KnownKey<'_>>) =
        unconfirmed.iter().partition(|seen| wanted.iter().any(|key| key.is(seen)));
    for (seen, is_accepted) in
        accepted.iter().map(|seen| (seen, true)).chain(left.iter().map(|seen| (seen, false)))
    {
        let (user, key) = (seen.user, clean(seen.public_key));
        let name = known_keys.name(id, user).map_or_else(String::new, |name| format!(" {}", quoted(name)));
        let result = if is_accepted {
            "accepted".to_owned()
        } else {
            format!("not accepted; compare it with the user in person, then use --public-key {user}:{key}")
        };
        let _ =
            writeln!(text, "user {user}{name}: key {key}, first seen {}: {result}", date_time(seen.since));
    }
    let left = left.len();
    for key in wanted {
        known_keys.accept_key(id, key.user, &key.public_key, now_millis());
    }
    Ok(left)
}

/// Returns the executed changes of the root quorum, newest first.
async fn quorum_changes(session: &Session, id: OrganizationId) -> Result<Vec<Activity>> {
    let types = ["ACTIVITY_TYPE_UPDATE_ROOT_QUORUM".to_owned()];
    let rows = session.client.newest(id, &[Status::Completed], &types, CHANGES_LIMIT).await?;
    Ok(rows.into_iter().map(|row| row.activity).collect())
}

fn members(quorum: &KnownQuorum) -> String {
    let ids: Vec<String> = quorum.user_ids.iter().map(ToString::to_string).collect();
    format!("{} ({})", quorum.short(), ids.join(", "))
}

pub(super) fn read(file: &Path) -> Result<KnownKeys> {
    let invalid = || Failure::new(Exit::Failed, "not a file written by `quorate known-keys export`");
    KnownKeys::parse(&given(file, SIZE_LIMIT)?).ok_or_else(invalid)
}

fn list(known_keys: &KnownKeys) -> Answer {
    let seen = known_keys.seen();
    let keys: String = seen.iter().map(|seen| key_text(known_keys, seen)).collect();
    let quorums = known_keys.quorums().map(|(id, quorum)| {
        format!("{id}  root quorum {}  since {}\n", members(&quorum.value), date_time(quorum.since_millis))
    });
    let text = keys + &quorums.collect::<String>();
    let empty = "No known keys yet. `quorate approvals ls` and `quorate review` record them.\n".to_owned();
    let data = seen.iter().map(|seen| line(known_keys, seen)).collect();
    let answer = Answer::list(data, if text.is_empty() { empty } else { text });
    answer.summed_up(("known key", "known keys"), "/publicKey")
}

/// Compares two sets of known keys. The exit code is 1 if they differ.
fn compare(known_keys: &KnownKeys, theirs: &KnownKeys) -> Answer {
    let (here, there) = (known_keys.missing_in(theirs), theirs.missing_in(known_keys));
    let mut data = Vec::new();
    let mut text = String::new();
    for (mark, side, known_keys, keys) in [('-', "here", known_keys, &here), ('+', "there", theirs, &there)] {
        for seen in keys {
            data.push(extended(line(known_keys, seen), [("only", json!(side))]));
            let _ = write!(text, "{mark} {}", key_text(known_keys, seen));
        }
    }
    for (id, ours) in known_keys.quorums() {
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
        return Answer::list(data, "Both have the same keys and root quorums.\n".to_owned());
    }
    Answer::list(data, format!("- only here, + only in the file\n{text}")).exits(Exit::Failed)
}

fn key_text(known_keys: &KnownKeys, seen: &KnownKey<'_>) -> String {
    let KnownKey { organization, user, public_key, since, is_confirmed } = seen;
    let name =
        known_keys.name(*organization, *user).map_or_else(String::new, |name| format!(" {}", quoted(name)));
    let unconfirmed = if *is_confirmed { "" } else { ", not accepted" };
    let (key, since) = (clean(public_key), date_time(*since));
    format!("{organization}  user {user}{name}  {key}  since {since}{unconfirmed}\n")
}

fn line(known_keys: &KnownKeys, seen: &KnownKey<'_>) -> Value {
    json!({
        "organizationId": seen.organization,
        "userId": seen.user,
        "userName": known_keys.name(seen.organization, seen.user),
        "publicKey": seen.public_key,
        "firstSeenAtMillis": seen.since,
        "confirmed": seen.is_confirmed,
    })
}
