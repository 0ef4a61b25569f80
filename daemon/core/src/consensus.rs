//! Votes: which of them count, who may still cast one, and how an activity waits.

use quorate_common::activity::{Selection, VOTE_WINDOW_MILLIS};
use quorate_common::ids::UserId;
use quorate_policy::decide::{Approver, Credential, Electorate, Requester};

use crate::model::user::AUTHENTICATOR;
use crate::model::{ActivityRecord, ApiKey, Millis, Organization, User, VoteRecord};

/// An approval that counts. A policy may ask for more than one key of a user, so that a user may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Who.
    pub user: UserId,
    /// With which key, as registered.
    pub public_key: String,
    /// When it was cast.
    pub created: Millis,
}

/// The approvals of an activity that count now, in the order of the votes: younger than the window, by users who
/// still exist, with keys that are still theirs, one for each key.
pub fn live_approvals(activity: &ActivityRecord, organization: &Organization, now: Millis) -> Vec<Approval> {
    let mut live: Vec<Approval> = Vec::new();
    let approvals = activity.votes.iter().filter(|vote| vote.selection == Selection::Approved);
    for vote in approvals.filter(|vote| counts(vote, organization, now)) {
        let is_same = |one: &&mut Approval| one.user == vote.user && one.public_key == vote.public_key;
        match live.iter_mut().find(is_same) {
            Some(known) => known.created = known.created.max(vote.created),
            None => live.push(Approval {
                user: vote.user,
                public_key: vote.public_key.clone(),
                created: vote.created,
            }),
        }
    }
    live
}

/// The users of some approvals, each once, in the order of their first.
pub fn users(approvals: &[Approval]) -> Vec<UserId> {
    let mut users = Vec::with_capacity(approvals.len());
    for approval in approvals {
        if !users.contains(&approval.user) {
            users.push(approval.user);
        }
    }
    users
}

fn counts(vote: &VoteRecord, organization: &Organization, now: Millis) -> bool {
    let young = now.saturating_sub(vote.created) < VOTE_WINDOW_MILLIS;
    let holder = organization.user(vote.user);
    young && holder.is_some_and(|user| user.holds(vote.scheme, &vote.public_key))
}

/// The people around an activity, as the policy language sees them.
pub fn electorate<'a>(
    organization: &'a Organization,
    proposer: UserId,
    approvals: &[Approval],
    now: Millis,
) -> Electorate<'a> {
    let requester = Requester { user_id: proposer.to_string(), is_root: organization.is_root(proposer) };
    let approvers = approvals
        .iter()
        .filter_map(|approval| {
            Some(approver(organization.user(approval.user)?, Some(&approval.public_key), now))
        })
        .collect();
    Electorate::new(requester, approvers, move || {
        let users = organization.users().filter(|user| user.can_stamp(now));
        users.map(|user| approver(user, None, now)).collect()
    })
}

/// A user as the policy language sees them: with one key of theirs, or with all that have not come to their end.
pub fn approver(user: &User, public_key: Option<&str>, now: Millis) -> Approver {
    let chosen = |key: &&ApiKey| public_key.map_or(!key.is_expired(now), |wanted| key.public_key == wanted);
    let keys = user.api_keys.iter().filter(chosen).map(|key| Credential {
        id: key.id.to_string(),
        user_id: user.id.to_string(),
        credential_type: key.credential_type().to_owned(),
        credential_id: None,
        public_key: key.public_key.clone(),
    });
    let passkeys = user.passkeys();
    let passkeys =
        passkeys.filter(|(_, passkey)| public_key.is_none_or(|wanted| passkey.public_key == wanted));
    let passkeys = passkeys.map(|(authenticator, passkey)| Credential {
        id: authenticator.id.to_string(),
        user_id: user.id.to_string(),
        credential_type: AUTHENTICATOR.to_owned(),
        credential_id: Some(authenticator.credential_id.clone()),
        public_key: passkey.public_key.clone(),
    });
    Approver {
        user_id: user.id.to_string(),
        tags: user.tags.iter().map(ToString::to_string).collect(),
        email: user.email.as_ref().map(ToString::to_string).unwrap_or_default(),
        alias: user.name.to_string(),
        credentials: keys.chain(passkeys).collect(),
    }
}
