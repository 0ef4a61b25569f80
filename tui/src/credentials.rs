//! What admits people to an organization, as the daemon states it: credentials, sessions and open invitations, with
//! their last use and their end, and the requests that revoke them.

use std::collections::HashMap;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::UserId;
use quorate_common::wire::{
    ApiKey, CounterWentBack, INVITATION_LIFE_MILLIS, Invitation, InvitationMail, LastUse, User,
};
use serde_json::{Value, json};

use crate::ballot::ActivityRequest;
use crate::messages::{is_lost, mail_text};
use crate::text::{ago, clean, date_time, duration, quoted};

pub(crate) const DAY_MILLIS: u64 = 86_400_000;
/// Time after which a lasting credential that was not used is marked, in milliseconds: 90 days.
const UNUSED_MILLIS: u64 = 90 * DAY_MILLIS;

/// A credential, a session or an invitation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Credential {
    /// User, or the invited person; cleaned.
    pub(crate) user: String,
    /// Id of the user; `None` for an invitation.
    pub(crate) user_id: Option<UserId>,
    /// What it is and how it was created, such as `session by login`.
    pub(crate) kind: String,
    /// Display name, cleaned; empty if it has none.
    pub(crate) name: String,
    pub(crate) id: String,
    /// Public key, credential id, identity or mail address, cleaned; empty for a read-only session.
    pub(crate) material: String,
    /// Time of creation, if known.
    pub(crate) added: Option<u64>,
    /// Last recorded use.
    pub(crate) last_use: Option<u64>,
    /// Last use of a passkey whose signature counter went back.
    pub(crate) went_back: Option<CounterWentBack>,
    pub(crate) end: End,
    /// What became of the mail with the invitation, as far as it is recorded.
    pub(crate) mail: Option<InvitationMail>,
    revocation: Revocation,
}

/// When a credential ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Never,
    At(u64),
    /// The daemon states a lifetime that is not a number.
    Invalid,
}

/// How a credential is revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Revocation {
    /// By an activity of this type, with the ids in this member.
    Of(&'static str, &'static str, &'static str),
    Invitation,
    /// Only together with its user.
    WithUser,
    /// By the users of the organization only, of which the user of this console is none.
    ByMembers,
}

/// Whether the user of this console can revoke anything in an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actor {
    /// One of its users, or nobody was selected yet.
    Member,
    /// Not one of its users: what they can revoke is revoked by them only.
    Outsider,
}

const API_KEY: Revocation =
    Revocation::Of("ACTIVITY_TYPE_DELETE_API_KEYS", "/public/v1/submit/delete_api_keys", "apiKeyIds");
const PASSKEY: Revocation = Revocation::Of(
    "ACTIVITY_TYPE_DELETE_AUTHENTICATORS",
    "/public/v1/submit/delete_authenticators",
    "authenticatorIds",
);
const IDENTITY: Revocation = Revocation::Of(
    "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
    "/public/v1/submit/delete_oauth_providers",
    "providerIds",
);

/// Returns the credentials of all users, user by user, and then the open invitations. The sessions of a user come
/// first; what has ended comes last.
pub(crate) fn all(organization: &OrganizationDetail, actor: Actor, now: u64) -> Vec<Credential> {
    let times = last_uses(organization);
    let users = organization.users.iter().flat_map(|user| of(user, organization, &times, now));
    let open = |one: &&Invitation| one.status == "INVITATION_STATUS_CREATED";
    let invitations = organization.invitations.iter().filter(open).map(|one| invitation(one, organization));
    users.chain(invitations).map(|one| one.seen_by(actor)).collect()
}

/// Returns the credentials of a user, as [`all`] does.
pub(crate) fn of_user(
    user: &User,
    organization: &OrganizationDetail,
    actor: Actor,
    now: u64,
) -> Vec<Credential> {
    let all = of(user, organization, &last_uses(organization), now).into_iter();
    all.map(|one| one.seen_by(actor)).collect()
}

/// Returns whether a user has a credential or a session.
pub(crate) fn has_any(organization: &OrganizationDetail, user: &User) -> bool {
    !of_user(user, organization, Actor::Member, 0).is_empty()
}

/// Returns the item of a user without a credential, for scripts.
pub(crate) fn none_of(user: &User) -> Value {
    json!({"user": clean(&user.user_name), "userId": user.user_id, "kind": "none", "name": "", "id": "", "material": "",
        "addedAtMillis": null, "lastUsedAtMillis": null, "counterWentBack": null, "mail": null,
        "expiresAtMillis": null, "remainingMillis": null, "revocation": null})
}

/// Returns whether an API key is a session: a sign-in or a recovery created it, and nobody registered it.
pub(crate) fn is_session_key(key: &ApiKey) -> bool {
    session_kind(key).is_some()
}

/// Last uses, by the ids of credentials.
type Uses<'a> = HashMap<&'a str, &'a LastUse>;

fn last_uses(organization: &OrganizationDetail) -> Uses<'_> {
    organization.last_uses.iter().map(|one| (one.credential_id.as_str(), one)).collect()
}

fn of(user: &User, organization: &OrganizationDetail, times: &Uses<'_>, now: u64) -> Vec<Credential> {
    let one = |kind: String, name: &str, id: String, material: &str, revocation| Credential {
        user: clean(&user.user_name),
        user_id: Some(user.user_id),
        kind,
        name: clean(name),
        last_use: times.get(id.as_str()).map(|one| one.at_millis),
        went_back: times.get(id.as_str()).and_then(|one| one.counter_went_back),
        id,
        material: clean(material),
        added: None,
        end: End::Never,
        mail: None,
        revocation,
    };
    let keys = user.api_keys.iter().map(|key| Credential {
        added: Some(key.created_at.millis()),
        end: end(key),
        ..one(kind(key), &key.api_key_name, key.api_key_id.to_string(), &key.credential.public_key, API_KEY)
    });
    let passkeys = user.authenticators.iter().map(|passkey| Credential {
        added: Some(passkey.created_at.millis()),
        ..one(
            "passkey".to_owned(),
            &passkey.authenticator_name,
            passkey.authenticator_id.to_string(),
            &passkey.credential_id,
            PASSKEY,
        )
    });
    let identities = user.oauth_providers.iter().map(|identity| Credential {
        added: Some(identity.created_at.millis()),
        ..one(
            "OAuth login".to_owned(),
            &identity.provider_name,
            identity.provider_id.to_string(),
            &format!("{} {}", identity.issuer, identity.subject),
            IDENTITY,
        )
    });
    let sessions = organization.read_only_sessions.iter().filter(|session| session.user_id == user.user_id);
    let sessions = sessions.map(|session| Credential {
        end: End::At(session.expires_at_millis),
        ..one("read-only session".to_owned(), "", clean(&session.session_id), "", Revocation::WithUser)
    });
    let mut all: Vec<Credential> = sessions.chain(keys).chain(passkeys).chain(identities).collect();
    all.sort_by_key(|one| (one.has_ended(now), one.end == End::Never));
    all
}

fn invitation(invitation: &Invitation, organization: &OrganizationDetail) -> Credential {
    let id = invitation.invitation_id;
    let mail = organization.invitation_mails.iter().find(|mail| mail.invitation_id == id);
    Credential {
        user: clean(&invitation.receiver_user_name),
        user_id: None,
        kind: "invitation".to_owned(),
        name: clean(&invitation.receiver_email),
        id: invitation.invitation_id.to_string(),
        material: clean(&invitation.receiver_email),
        added: Some(invitation.created_at.millis()),
        last_use: None,
        went_back: None,
        end: End::At(invitation.created_at.millis().saturating_add(INVITATION_LIFE_MILLIS)),
        mail: mail.cloned(),
        revocation: Revocation::Invitation,
    }
}

/// Returns the kind of an API key: how it was created, which decides what it can do and whether it ends.
fn kind(key: &ApiKey) -> String {
    let other = || clean(&credential_name(key).replace("API_KEY_", "API key "));
    session_kind(key).map_or_else(other, str::to_owned)
}

fn credential_name(key: &ApiKey) -> &str {
    key.credential.credential_type.trim_start_matches("CREDENTIAL_TYPE_")
}

/// Returns how a session was created; `None` for a registered API key.
fn session_kind(key: &ApiKey) -> Option<&'static str> {
    Some(match credential_name(key) {
        "LOGIN" => "session by login",
        "READ_WRITE_SESSION_KEY_P256" => "read-write session",
        "OTP_AUTH_KEY_P256" => "session by code",
        "EMAIL_AUTH_KEY_P256" => "session by mail",
        "OAUTH_KEY_P256" => "session by OAuth",
        "RECOVER_USER_KEY_P256" => "recovery key",
        _ => return None,
    })
}

/// Returns when an API key ends.
fn end(key: &ApiKey) -> End {
    let at = |seconds: u64| key.created_at.millis().saturating_add(seconds.saturating_mul(1000));
    match key.expiration_seconds.as_deref().map(str::parse::<u64>) {
        None => End::Never,
        Some(Ok(seconds)) => End::At(at(seconds)),
        Some(Err(_)) => End::Invalid,
    }
}

impl Credential {
    /// Returns it as this actor can revoke it.
    fn seen_by(self, actor: Actor) -> Self {
        let is_out_of_reach = actor == Actor::Outsider && self.revocation != Revocation::WithUser;
        let revocation = if is_out_of_reach { Revocation::ByMembers } else { self.revocation };
        Self { revocation, ..self }
    }

    /// Returns whether the mail with the invitation was given up, so that nobody received it.
    pub(crate) fn is_lost(&self) -> bool {
        self.mail.as_ref().is_some_and(|mail| is_lost(&mail.event_type))
    }

    /// Returns what became of the mail with an invitation, in words; `None` for other credentials.
    pub(crate) fn mail_text(&self, now: Option<u64>) -> Option<String> {
        let none = || "no message to this address is recorded".to_owned();
        let text = || self.mail.as_ref().map_or_else(none, |mail| mail_text(mail, now));
        self.user_id.is_none().then(text)
    }

    /// Returns whether it no longer admits anybody.
    pub(crate) fn has_ended(&self, now: u64) -> bool {
        matches!(self.end, End::At(end) if end <= now)
    }

    /// Returns whether it is a session that admits somebody now.
    pub(crate) fn is_live_session(&self, now: u64) -> bool {
        let is_session = self.kind.contains("session") || self.kind == "recovery key";
        is_session && !self.has_ended(now)
    }

    /// Returns whether it lasts and was not used for a long time.
    pub(crate) fn is_unused(&self, now: u64) -> bool {
        let old = |at: u64| now.saturating_sub(at) > UNUSED_MILLIS;
        self.end == End::Never && self.last_use.is_some_and(old)
    }

    /// Returns the last use for a column, marked if it was long ago: `3h04m ago`, `[!] 120d ago`.
    pub(crate) fn last_use_cell(&self, now: u64) -> String {
        match self.last_use {
            None => "-".to_owned(),
            Some(at) if self.is_unused(now) => {
                format!("[!] {}d ago", now.saturating_sub(at) / DAY_MILLIS)
            }
            Some(at) => ago(at, now),
        }
    }

    /// Returns the kind for a column, marked if it may have been copied: `[!] passkey`.
    pub(crate) fn kind_cell(&self) -> String {
        if self.went_back.is_some() { format!("[!] {}", self.kind) } else { self.kind.clone() }
    }

    /// Returns what suggests that it was copied.
    pub(crate) fn warning(&self) -> Option<String> {
        let CounterWentBack { at_millis, counter, after } = self.went_back?;
        let date = date_time(at_millis);
        Some(format!(
            "[!] its counter went back on {date} ({counter} after {after}): it may have been copied"
        ))
    }

    /// Returns the end for a column: `in 12m`, `expired`. An invitation that nobody received is marked.
    pub(crate) fn end_cell(&self, now: u64) -> String {
        match self.end {
            End::At(_) if self.is_lost() && !self.has_ended(now) => "[!] bounced".to_owned(),
            End::Never => "no expiry".to_owned(),
            End::Invalid => "invalid".to_owned(),
            End::At(_) if self.has_ended(now) => "expired".to_owned(),
            End::At(end) => format!("in {}", duration(end.saturating_sub(now))),
        }
    }

    /// Returns the last use in words, with its age at a time.
    pub(crate) fn last_use_text(&self, now: Option<u64>) -> String {
        let age = |at| now.map(|now| format!(" ({})", ago(at, now))).unwrap_or_default();
        let text = |at| format!("last used {}{}", date_time(at), age(at));
        self.last_use.map_or_else(|| "no use recorded".to_owned(), text)
    }

    /// Returns the end in words, with what remains at a time.
    pub(crate) fn end_text(&self, now: Option<u64>) -> String {
        match (self.end, now) {
            (End::Never, _) => "no expiry".to_owned(),
            (End::Invalid, _) => "invalid expiry".to_owned(),
            (End::At(end), None) => format!("expires {}", date_time(end)),
            (End::At(end), Some(now)) if self.has_ended(now) => format!("expired {}", date_time(end)),
            (End::At(end), Some(now)) => {
                format!("expires {} (in {})", date_time(end), duration(end.saturating_sub(now)))
            }
        }
    }

    /// Returns the credential on one line: kind, name, last use and end, as they are at a time.
    pub(crate) fn line(&self, now: Option<u64>) -> String {
        let name = if self.name.is_empty() { String::new() } else { format!(" {}", quoted(&self.name)) };
        let added = self.added.map(|at| format!(", added {}", date_time(at))).unwrap_or_default();
        let lost = if self.is_lost() { ", [!] its mail bounced" } else { "" };
        format!("{}{name}{added}, {}, {}{lost}", self.kind, self.last_use_text(now), self.end_text(now))
    }

    /// Returns why it cannot be revoked alone, or not by the user of this console, if so.
    pub(crate) fn revocation_error(&self) -> Option<String> {
        match self.revocation {
            Revocation::WithUser => Some(format!("the {} {}", self.kind, self.revocation_text())),
            Revocation::ByMembers => {
                Some(format!("only a user of this organization can revoke the {}", self.kind))
            }
            Revocation::Of(..) | Revocation::Invitation => None,
        }
    }

    /// Returns how it is revoked, in words.
    pub(crate) fn revocation_text(&self) -> String {
        match self.revocation {
            Revocation::WithUser => {
                "cannot be revoked alone; it ends when its user is deleted (DELETE_USERS)".to_owned()
            }
            Revocation::ByMembers => "only a user of this organization can revoke it".to_owned(),
            Revocation::Of(activity_type, ..) => {
                let kind = activity_type.trim_start_matches("ACTIVITY_TYPE_");
                format!("quorate user revoke {} ({kind})", self.id)
            }
            Revocation::Invitation => format!("quorate user revoke {} (DELETE_INVITATION)", self.id),
        }
    }

    /// Returns the request that revokes it, unless [`Self::revocation_error`] states why not.
    pub(crate) fn revocation(&self) -> Option<ActivityRequest> {
        let (activity_type, path, parameters) = match self.revocation {
            Revocation::Of(activity_type, path, ids) => {
                (activity_type, path, json!({"userId": self.user_id?, ids: [self.id]}))
            }
            Revocation::Invitation => (
                "ACTIVITY_TYPE_DELETE_INVITATION",
                "/public/v1/submit/delete_invitation",
                json!({"invitationId": self.id}),
            ),
            Revocation::WithUser | Revocation::ByMembers => return None,
        };
        Some(ActivityRequest { activity_type, path, parameters })
    }

    /// Returns the credential as data.
    pub(crate) fn json(&self, now: u64) -> Value {
        let end = match self.end {
            End::At(at) => Some(at),
            End::Never | End::Invalid => None,
        };
        json!({"user": self.user, "userId": self.user_id, "kind": self.kind, "name": self.name, "id": self.id,
            "material": self.material, "addedAtMillis": self.added, "lastUsedAtMillis": self.last_use,
            "counterWentBack": self.went_back,
            "mail": self.mail.as_ref().map(|mail| json!({"state": mail.event_type, "answer": mail.answer,
                "atMillis": mail.at_millis})),
            "expiresAtMillis": end, "remainingMillis": end.map(|end| end.saturating_sub(now)),
            "revocation": self.revocation().map(|request| json!({"type": request.activity_type,
                "parameters": request.parameters}))})
    }
}
