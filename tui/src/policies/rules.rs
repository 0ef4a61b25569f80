//! The deciding parts of an organization, as the policy language sees them.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire;
use quorate_policy::decide::{
    Approver, Credential, DenyErrors, Effect, Electorate, PolicyError, PolicyProgram, Proposer,
};
use quorate_policy::lint::{self, Finding};
use quorate_policy::simulate::{NamedPolicy, OrganizationRules};
use quorate_policy::{Budget, DECISION_STEP_LIMIT, Names, Program, contributors, in_words};

use super::types::types;

/// `CREDENTIAL_TYPE_*` of a passkey, as policies read it.
const AUTHENTICATOR: &str = "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR";

/// The deciding parts of an organization, and the policies that could not be parsed.
pub(crate) struct Rules<'a> {
    organization: &'a OrganizationDetail,
    /// The organization as the language sees it.
    pub(crate) parsed: OrganizationRules,
    /// Policies that this console cannot parse, each with the error. Their outcome is unknown here.
    pub(crate) unreadable: Vec<(&'a wire::Policy, String)>,
}

impl<'a> Rules<'a> {
    /// Creates the rules of an organization at the time `now`, in milliseconds since the Unix epoch.
    pub(crate) fn of(organization: &'a OrganizationDetail, strict_deny_errors: bool, now: u64) -> Self {
        let mut policies = Vec::with_capacity(organization.policies.len());
        let mut unreadable = Vec::new();
        for policy in &organization.policies {
            match program(policy) {
                Ok(program) => {
                    let (id, name) = (policy.policy_id.to_string(), policy.policy_name.clone());
                    policies.push(NamedPolicy { id, name, program });
                }
                Err(error) => unreadable.push((policy, error.to_string())),
            }
        }
        let quorum = &organization.head.root_quorum;
        // The daemon iterates in this order.
        let mut users: Vec<Approver> =
            organization.users.iter().filter_map(|user| candidate(user, now)).collect();
        users.sort_by(|one, other| one.user_id.cmp(&other.user_id));
        let rules = OrganizationRules {
            users,
            roots: quorum.user_ids.iter().map(ToString::to_string).collect(),
            threshold: usize::try_from(quorum.threshold).unwrap_or(usize::MAX),
            policies,
            deny_errors: if strict_deny_errors { DenyErrors::Deny } else { DenyErrors::Skip },
        };
        Self { organization, parsed: rules, unreadable }
    }

    /// Returns the lint findings of the policies.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        lint::lint(&self.parsed, &types(), self)
    }

    /// Returns the names of the users whose approval counts for the consensus of a policy, empty without a
    /// consensus.
    pub(crate) fn who(&self, policy: &wire::Policy) -> Vec<String> {
        let program = program(policy).ok().and_then(|program| program.consensus);
        let Some(program) = program else { return Vec::new() };
        let nobody = Proposer { user_id: String::new(), is_root: false };
        let electorate = Electorate::new(nobody, Vec::new(), || self.parsed.users.clone());
        let ids: Vec<String> = self.parsed.users.iter().map(|user| user.user_id.clone()).collect();
        let counted = contributors(&[&program], &electorate, &ids, &mut Budget::new(DECISION_STEP_LIMIT));
        let counted = self.parsed.users.iter().zip(counted).filter(|(_, counts)| *counts);
        counted.map(|(user, _)| user.alias.clone()).collect()
    }

    /// Returns the approval of a user, signed with this key, or with any key of the user if none is given.
    pub(crate) fn approval(&self, user_id: &str, public_key: Option<&str>) -> Option<Approver> {
        let user = self.organization.users.iter().find(|user| user.user_id.to_string() == user_id)?;
        let mut approver = approver(user, 0);
        match public_key {
            Some(key) => approver.credentials.retain(|one| one.public_key == key),
            None => approver.credentials.truncate(1),
        }
        Some(approver)
    }
}

/// Parses the expressions of a policy.
///
/// # Errors
///
/// Fails if an expression is invalid.
pub(crate) fn program(policy: &wire::Policy) -> Result<PolicyProgram, PolicyError> {
    let effect = if policy.effect == "EFFECT_DENY" { Effect::Deny } else { Effect::Allow };
    let stated = |text: &'_ str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let (condition, consensus) = (stated(&policy.condition), stated(&policy.consensus));
    PolicyProgram::parse(effect, condition.as_deref(), consensus.as_deref(), policy.time.as_deref())
}

/// Returns a sentence that describes a policy.
pub(crate) fn sentence(program: &PolicyProgram, names: &dyn Names) -> String {
    let when = match &program.condition {
        None => "any activity".to_owned(),
        Some(condition) => format!("an activity where {}", in_words(condition, names)),
    };
    let only = match &program.time {
        None => String::new(),
        Some(time) => format!(", as long as {}", in_words(time, names)),
    };
    match (program.effect, &program.consensus) {
        (Effect::Allow, None) => format!("Allow {when}, by anybody alone{only}."),
        (Effect::Allow, Some(who)) => format!("Allow {when}, once {}{only}.", in_words(who, names)),
        (Effect::Deny, None) => format!("Deny {when}, by anybody{only}."),
        (Effect::Deny, Some(who)) => format!("Deny {when}, if {}{only}.", in_words(who, names)),
    }
}

/// Returns all users of an organization who have a credential, expired ones included.
pub(crate) fn approvers(organization: &OrganizationDetail) -> Vec<Approver> {
    organization.users.iter().filter_map(|user| candidate(user, 0)).collect()
}

/// Returns a user with all unexpired keys, or `None` without any, because such a user cannot approve.
fn candidate(user: &wire::User, now: u64) -> Option<Approver> {
    Some(approver(user, now)).filter(|approver| !approver.credentials.is_empty())
}

fn approver(user: &wire::User, now: u64) -> Approver {
    let user_id = user.user_id.to_string();
    let keys = user.api_keys.iter().filter(|key| !is_expired(key, now)).map(|key| Credential {
        id: key.api_key_id.to_string(),
        user_id: user_id.clone(),
        credential_type: key.credential.credential_type.clone(),
        credential_id: None,
        public_key: key.credential.public_key.clone(),
    });
    // An authenticator that was stored without verification has no public key and cannot stamp.
    let passkeys = user.authenticators.iter().filter(|one| !one.credential.public_key.is_empty());
    let passkeys = passkeys.map(|one| Credential {
        id: one.authenticator_id.to_string(),
        user_id: user_id.clone(),
        credential_type: AUTHENTICATOR.to_owned(),
        credential_id: Some(one.credential_id.clone()),
        public_key: one.credential.public_key.clone(),
    });
    Approver {
        tags: user.user_tags.iter().map(ToString::to_string).collect(),
        email: user.user_email.clone().unwrap_or_default(),
        alias: user.user_name.clone(),
        credentials: keys.chain(passkeys).collect(),
        user_id,
    }
}

fn is_expired(key: &wire::ApiKey, now: u64) -> bool {
    let seconds = key.expiration_seconds.as_ref().and_then(|text| text.parse::<u64>().ok());
    let ends = seconds.map(|seconds| key.created_at.millis().saturating_add(seconds.saturating_mul(1000)));
    ends.is_some_and(|ends| now >= ends)
}

/// Names as the daemon states them.
impl Names for Rules<'_> {
    fn name(&self, id: &str) -> Option<String> {
        self.organization.name_of(id).map(str::to_owned)
    }
}

/// The names of an organization.
pub(crate) struct Named<'a>(pub(crate) &'a OrganizationDetail);

impl Names for Named<'_> {
    fn name(&self, id: &str) -> Option<String> {
        self.0.name_of(id).map(str::to_owned)
    }
}

/// Returns the parts of a conjunction that were removed and added, each prefixed with `-` or `+`.
pub(crate) fn difference(before: Option<&Program>, after: Option<&Program>) -> Vec<String> {
    let parts = |program: Option<&Program>| program.map(Program::parts).unwrap_or_default();
    let (before, after) = (parts(before), parts(after));
    let removed = before.iter().filter(|part| !after.contains(part)).map(|part| format!("- {part}"));
    let added = after.iter().filter(|part| !before.contains(part)).map(|part| format!("+ {part}"));
    removed.chain(added).collect()
}
