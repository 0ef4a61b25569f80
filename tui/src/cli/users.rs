//! `quorate user ls|revoke`.

use std::fmt::Write as _;

use quorate_common::wire::User;
use serde_json::Value;

use super::arguments::UserCommand;
use super::loaded::LoadedOrganization;
use super::propose::propose;
use crate::clock::now_millis;
use crate::credentials::{self, Credential, DAY_MILLIS};
use crate::failure::{Exit, Failure, Result};
use crate::output::{Answer, summary};
use crate::session::Session;
use crate::text::clean;

pub(super) async fn run(session: &Session, command: &UserCommand) -> Result<Answer> {
    let loaded = LoadedOrganization::read(session).await?;
    let (now, actor) = (now_millis(), session.identity.actor_in(&loaded.organization));
    match command {
        UserCommand::Ls { of, sessions, unused } => {
            let wanted = of.as_ref().map(|user| loaded.user(user)).transpose()?;
            let all = credentials::all(&loaded.organization, actor, now).into_iter();
            let is_wanted = |one: &Credential| {
                let id = one.user_id.map(|id| id.to_string());
                (wanted.is_none() || id == wanted)
                    && (!*sessions || one.is_live_session(now))
                    && unused.is_none_or(|days| is_unused(one, days, now))
            };
            let mut rows: Vec<(Value, String)> = all.filter(is_wanted).map(|one| row(&one, now)).collect();
            let count = rows.len();
            let lists_users = !*sessions && unused.is_none();
            let without = loaded.organization.users.iter().filter(|user| {
                lists_users
                    && wanted.as_ref().is_none_or(|id| *id == user.user_id.to_string())
                    && !credentials::has_any(&loaded.organization, user)
            });
            let without: Vec<_> = without.map(row_without).collect();
            let others = without.len();
            rows.extend(without);
            let none = if *sessions { "No sessions." } else { "No credentials." };
            let mut answer = Answer::rows(rows, none);
            let ids = answer.data.iter().filter_map(|data| data.pointer("/id")?.as_str());
            answer.names = Some(ids.filter(|id| !id.is_empty()).map(str::to_owned).collect());
            if !answer.data.is_empty() {
                let users = match others {
                    0 => String::new(),
                    others => format!("; {} without any", summary(others, "user", "users")),
                };
                let credentials = summary(count, "credential", "credentials");
                let _ = writeln!(answer.text, "{credentials}{users}");
            }
            Ok(answer)
        }
        UserCommand::Revoke { id, how } => {
            let mut all = credentials::all(&loaded.organization, actor, now).into_iter();
            let found = all.find(|one| one.id == *id);
            let missing = || Failure::new(Exit::NotFound, format!("credential {} not found", clean(id)));
            let credential = found.ok_or_else(missing)?;
            let refused = || Failure::new(Exit::Usage, credential.revocation_error().unwrap_or_default());
            propose(session, &loaded, &credential.revocation().ok_or_else(refused)?, how).await
        }
    }
}

/// Returns whether a credential was last used, or else added, this many days ago or earlier.
fn is_unused(credential: &Credential, days: u32, now: u64) -> bool {
    let last = credential.last_use.or(credential.added);
    last.is_some_and(|at| now.saturating_sub(at) >= u64::from(days).saturating_mul(DAY_MILLIS))
}

/// Returns the row of a user without a credential.
fn row_without(user: &User) -> (Value, String) {
    let contacts = [&user.user_email, &user.user_phone_number].into_iter().flatten();
    let what: Vec<String> =
        std::iter::once("no credential".to_owned()).chain(contacts.map(|one| clean(one))).collect();
    let text = format!("{}  {}  {}\n", clean(&user.user_name), what.join(", "), user.user_id);
    (credentials::none_of(user), text)
}

fn row(credential: &Credential, now: u64) -> (Value, String) {
    let warning = credential.warning().map(|text| format!("    {text}\n")).unwrap_or_default();
    let mail = credential.mail_text(Some(now)).map(|mail| format!("    mail: {mail}\n")).unwrap_or_default();
    let text = format!(
        "{}  {}\n{warning}{mail}    revoke: {}\n",
        credential.user,
        credential.line(Some(now)),
        credential.revocation_text()
    );
    (credential.json(now), text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]
    use super::*;
    use crate::credentials::Actor;
    use crate::testing::{Fixture, NOW};

    #[test]
    fn each_credential_is_shown_with_its_last_use_its_end_and_its_revocation() {
        let rows = credentials::all(&Fixture::new(3, 2).with_all_records(), Actor::Member, NOW);
        let text: String = rows.iter().map(|one| row(one, NOW).1).collect();
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!("users", text);
        });
    }

    #[test]
    fn a_passkey_whose_counter_went_back_is_marked() {
        let mut organization = Fixture::new(3, 2).with_all_records();
        Fixture::add_copied_passkey(&mut organization);
        let rows: Vec<_> =
            credentials::all(&organization, Actor::Member, NOW).iter().map(|one| row(one, NOW)).collect();
        let marked: Vec<_> = rows.iter().filter(|(json, _)| !json["counterWentBack"].is_null()).collect();
        let [(json, text)] = marked.as_slice() else { panic!("one passkey: {marked:#?}") };
        let expected = serde_json::json!({"atMillis": NOW - 600_000, "counter": 7, "after": 9});
        assert_eq!((&json["kind"], &json["counterWentBack"]), (&"passkey".into(), &expected));
        let warning = "\n    [!] its counter went back on 2026-11-21 09:14:00 UTC (7 after 9): it may have been copied\n";
        assert!(text.contains(warning), "{text}");
    }

    #[test]
    fn an_outsider_sees_who_can_revoke() {
        for one in credentials::all(&Fixture::new(3, 2).with_all_records(), Actor::Outsider, NOW) {
            let (data, text) = row(&one, NOW);
            let is_bound_to_user = one.kind == "read-only session";
            let expected = "revoke: only a user of this organization can revoke it\n";
            assert_eq!(text.ends_with(expected), !is_bound_to_user, "{text}");
            assert!(
                !text.contains("quorate user revoke") && data.get("revocation") == Some(&Value::Null),
                "{text}"
            );
        }
    }
}
