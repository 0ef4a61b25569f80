//! Votes: which approvals count, and the users of an organization as the policy language sees them.

use quorate_common::activity::{Selection, VOTE_WINDOW_MILLIS};
use quorate_common::ids::UserId;
use quorate_policy::decide::{Approver, Credential, Electorate, Proposer};

use crate::authentication::Authentication;
use crate::model::user::AUTHENTICATOR;
use crate::model::{ActivityRecord, ApiKey, Millis, Organization, User, VoteRecord};

/// An approval that is live, or a proof of an MFA step. A user may have several, since a policy can require more than one
/// key of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// User who approved.
    pub user: UserId,
    /// Public key of the vote, as registered.
    pub public_key: String,
    /// What the stamp of the vote proves about the user; `None` if it proves nothing that an MFA policy can require.
    pub authentication: Option<Authentication>,
    /// Time at which the vote was cast.
    pub created: Millis,
}

impl Approval {
    /// Returns whether this is an approval. An attested stamp is none: it only proves a step of an MFA policy.
    pub fn consents(&self) -> bool {
        !self.authentication.is_some_and(Authentication::is_attested)
    }

    /// Returns whether the user approved with a registered credential or a session. Attested stamps prove steps beside
    /// such an approval only. A recovery key is none: it arrives in the same mailbox as codes.
    pub fn is_by_credential(&self) -> bool {
        self.authentication.is_some() && self.consents()
    }
}

/// Returns the approvals of an activity by current users with current credentials, and the attested proofs of those
/// users, in the order of the votes. They are younger than the voting window. A user may have several with the same key.
pub fn live_approvals(activity: &ActivityRecord, organization: &Organization, now: Millis) -> Vec<Approval> {
    let approvals = activity.votes.iter().filter(|vote| vote.selection == Selection::Approved);
    approvals.filter_map(|vote| live_approval(vote, organization, now)).collect()
}

/// Returns one approval for each user and key, in the order of the first ones, with the time of the latest one.
pub fn one_per_key<'a>(approvals: impl IntoIterator<Item = &'a Approval>) -> Vec<Approval> {
    let mut distinct: Vec<Approval> = Vec::new();
    for approval in approvals {
        let is_same =
            |one: &&mut Approval| one.user == approval.user && one.public_key == approval.public_key;
        match distinct.iter_mut().find(is_same) {
            Some(known) => known.created = known.created.max(approval.created),
            None => distinct.push(approval.clone()),
        }
    }
    distinct
}

/// Returns the users of these approvals without duplicates, in the order of their first approvals.
pub fn users<'a>(approvals: impl IntoIterator<Item = &'a Approval>) -> Vec<UserId> {
    let mut users = Vec::new();
    for approval in approvals {
        if !users.contains(&approval.user) {
            users.push(approval.user);
        }
    }
    users
}

/// Returns the approval of a vote, unless it expired, or its user lost the credential or what a token proved.
fn live_approval(vote: &VoteRecord, organization: &Organization, now: Millis) -> Option<Approval> {
    let user = organization.user(vote.user)?;
    let is_live = now.saturating_sub(vote.created) < VOTE_WINDOW_MILLIS;
    let authentication = match &vote.attestation {
        Some(proof) => Some(Authentication::of_proof(proof, user, organization)?),
        None if user.holds(vote.scheme, &vote.public_key) => {
            Authentication::of_key(user, vote.scheme, &vote.public_key)
        }
        None => return None,
    };
    is_live.then(|| Approval {
        user: vote.user,
        public_key: vote.public_key.clone(),
        authentication,
        created: vote.created,
    })
}

/// Returns the proposer, the approvers and the users of an organization, as the policy language sees them.
pub fn electorate<'a>(
    organization: &'a Organization,
    proposer: UserId,
    approvals: &[Approval],
    now: Millis,
) -> Electorate<'a> {
    let proposer = Proposer { user_id: proposer.to_string(), is_root: organization.is_root(proposer) };
    let approvers = approvals
        .iter()
        .filter_map(|approval| {
            Some(approver(organization.user(approval.user)?, Some(&approval.public_key), now))
        })
        .collect();
    Electorate::new(proposer, approvers, move || {
        let users = organization.users().filter(|user| user.can_stamp(now));
        users.map(|user| approver(user, None, now)).collect()
    })
}

/// Returns a user as the policy language sees them: with the given key, or with all keys that have not
/// expired.
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
