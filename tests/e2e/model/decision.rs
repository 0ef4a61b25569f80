//! Decisions as the model makes them: by the root quorum, by policies with a few simple conditions and
//! consensus expressions, and by every user about their own credentials.

use super::world::{Organization, Policy};

/// Kinds that only the root quorum decides.
const ROOT_QUORUM_ONLY: [&str; 4] = [
    "UPDATE_ROOT_QUORUM",
    "SET_ORGANIZATION_FEATURE",
    "REMOVE_ORGANIZATION_FEATURE",
    "UPDATE_ORGANIZATION_NAME",
];

/// Kind that a member of the root quorum must propose.
const FOR_ROOT_USERS: &str = "DELETE_SUB_ORGANIZATION";

/// Condition of a policy.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Condition {
    Absent,
    Never,
    /// Any of these kinds.
    Kinds(Vec<&'static str>),
}

/// Consensus of a policy.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Consensus {
    Absent,
    AtLeast(usize),
    User(String),
}

/// Outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    Waits,
    /// The proposer must prove a further method first.
    NeedsProof,
    Denied,
}

/// An activity to decide on.
pub(super) struct DecisionInput<'a> {
    /// Type without prefix and version.
    pub(super) kind: &'a str,
    /// Id of the proposer.
    pub(super) proposer: &'a str,
    /// Whether it only changes the proposer's own credentials.
    pub(super) is_own: bool,
    /// Ids of the users whose approvals count.
    pub(super) approvers: Vec<String>,
}

impl Condition {
    /// Returns the text in requests and answers.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Never => "false".to_owned(),
            Self::Kinds(kinds) => match kinds.as_slice() {
                [kind] => format!("activity.kind == '{kind}'"),
                kinds => format!("activity.kind in ['{}']", kinds.join("', '")),
            },
        }
    }

    pub(super) fn holds(&self, kind: &str) -> bool {
        match self {
            Self::Absent => true,
            Self::Never => false,
            Self::Kinds(kinds) => kinds.contains(&kind),
        }
    }
}

impl Consensus {
    /// Returns the text in requests and answers.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::AtLeast(count) => format!("approvers.count() >= {count}"),
            Self::User(id) => format!("approvers.any(user, user.id == '{id}')"),
        }
    }

    fn holds(&self, approvers: &[String]) -> bool {
        match self {
            Self::Absent => true,
            Self::AtLeast(count) => approvers.len() >= *count,
            Self::User(id) => approvers.contains(id),
        }
    }

    /// Returns whether more approvals could satisfy it, including that of the proposer.
    fn can_hold(&self, organization: &Organization, proposer: &str) -> bool {
        match self {
            Self::Absent => true,
            Self::AtLeast(count) => {
                organization.users.iter().filter(|user| user.can_stamp()).count() >= *count
            }
            Self::User(id) => id == proposer,
        }
    }
}

/// Decides: first the root quorum, then denials, own credentials, allowances, and finally whether the
/// activity may wait.
pub(super) fn decide(organization: &Organization, input: &DecisionInput<'_>) -> Decision {
    let is_member = organization.members.contains(input.proposer);
    if input.kind == FOR_ROOT_USERS && !is_member {
        return Decision::Denied;
    }
    let members = input.approvers.iter().filter(|id| organization.members.contains(*id));
    if members.count() >= organization.threshold {
        return Decision::Allowed;
    }
    // A member may always wait for the others, whatever the policies are.
    let otherwise = if is_member { Decision::Waits } else { Decision::Denied };
    if ROOT_QUORUM_ONLY.contains(&input.kind) {
        return otherwise;
    }
    let applicable = |policy: &&Policy| policy.condition.holds(input.kind);
    let applicable = || organization.policies.iter().filter(applicable);
    let holds = |policy: &Policy| policy.consensus.holds(&input.approvers);
    if applicable().any(|policy| policy.is_denial && holds(policy)) {
        return otherwise;
    }
    if input.is_own || applicable().any(|policy| !policy.is_denial && holds(policy)) {
        return Decision::Allowed;
    }
    let can_still_allow =
        |policy: &Policy| !policy.is_denial && policy.consensus.can_hold(organization, input.proposer);
    if applicable().any(can_still_allow) { Decision::Waits } else { otherwise }
}
