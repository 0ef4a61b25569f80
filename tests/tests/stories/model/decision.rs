//! Who decides, as the model sees it: the root quorum, policies with conditions and consensus of a few plain
//! forms, and everybody about their own credentials.

use super::world::{Organization, Policy};

/// What the wire calls the kinds that only the root quorum decides.
const ROOT_QUORUM_ONLY: [&str; 4] = [
    "UPDATE_ROOT_QUORUM",
    "SET_ORGANIZATION_FEATURE",
    "REMOVE_ORGANIZATION_FEATURE",
    "UPDATE_ORGANIZATION_NAME",
];

/// The kind that a member of the root quorum must ask for.
const FOR_ROOT_USERS: &str = "DELETE_SUB_ORGANIZATION";

/// When a policy is about an activity.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Condition {
    Absent,
    Never,
    /// Any of these kinds.
    Kinds(Vec<&'static str>),
}

/// Whose approvals a policy wants.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Consensus {
    Absent,
    AtLeast(usize),
    User(String),
}

/// What becomes of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allowed,
    Waits,
    Denied,
}

/// An activity that asks.
pub(super) struct Question<'a> {
    /// Type without prefix and version.
    pub(super) kind: &'a str,
    /// Who asked.
    pub(super) asker: &'a str,
    /// Whether it is about the asker's own credentials only.
    pub(super) is_own: bool,
    /// Ids of the users whose approvals count.
    pub(super) approvers: Vec<String>,
}

impl Condition {
    /// As clients write it and are shown it.
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

    fn holds(&self, kind: &str) -> bool {
        match self {
            Self::Absent => true,
            Self::Never => false,
            Self::Kinds(kinds) => kinds.contains(&kind),
        }
    }
}

impl Consensus {
    /// As clients write it and are shown it.
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

    /// Whether more approvals could make it hold, and the asker's is one of them.
    fn can_hold(&self, organization: &Organization, asker: &str) -> bool {
        match self {
            Self::Absent => true,
            Self::AtLeast(count) => {
                organization.users.iter().filter(|user| user.can_stamp()).count() >= *count
            }
            Self::User(id) => id == asker,
        }
    }
}

/// Decides: the root quorum first, then denials, own credentials, allowances, and who may still wait.
pub(super) fn decide(organization: &Organization, question: &Question<'_>) -> Decision {
    let is_member = organization.members.contains(question.asker);
    if question.kind == FOR_ROOT_USERS && !is_member {
        return Decision::Denied;
    }
    let members = question.approvers.iter().filter(|id| organization.members.contains(*id));
    if members.count() >= organization.threshold {
        return Decision::Allowed;
    }
    // A member below the threshold may always wait for the others, whatever policies say.
    let otherwise = if is_member { Decision::Waits } else { Decision::Denied };
    if ROOT_QUORUM_ONLY.contains(&question.kind) {
        return otherwise;
    }
    let about = |policy: &&Policy| policy.condition.holds(question.kind);
    let about = || organization.policies.iter().filter(about);
    let holds = |policy: &Policy| policy.consensus.holds(&question.approvers);
    if about().any(|policy| policy.is_denial && holds(policy)) {
        return otherwise;
    }
    if question.is_own || about().any(|policy| !policy.is_denial && holds(policy)) {
        return Decision::Allowed;
    }
    let hopeful =
        |policy: &Policy| !policy.is_denial && policy.consensus.can_hold(organization, question.asker);
    if about().any(hopeful) { Decision::Waits } else { otherwise }
}
