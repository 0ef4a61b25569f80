//! What the MFA policies of a user require for an activity, and what the stamps of that user prove.
//!
//! For each subject of the activity, the first MFA policy of the user whose condition is true applies. A policy whose
//! condition cannot be evaluated applies as well, in addition to the first one that certainly does: otherwise a request
//! on which a condition fails could need less than one on which it does not.
//!
//! A policy with a code as a step does not apply to the activities by which its user requests that code and sends it
//! back: what they yield is the proof that the policy requires, and nothing else.
//!
//! Each stamp proves at most the next step of a policy, and each credential at most one step. An attested stamp proves a
//! step only beside an approval of the same user with a credential or a session, unless it is the proposal itself.

use quorate_common::bounded::AtMost;
use quorate_common::ids::{MfaPolicyId, UserId};
use quorate_common::wire::{AuthenticationMethod, AuthenticationType, MfaStatus};
use quorate_policy::Budget;
use quorate_policy::decide::PolicyOutcome;

use super::input::{DecisionInput, outcomes};
use crate::authentication::Authentication;
use crate::consensus;
use crate::model::organization::Member;
use crate::model::{MfaPolicy, MfaSteps};

/// An MFA policy that applies to an activity, and what its user has proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MfaState {
    /// User who must authenticate.
    pub user: UserId,
    policy: MfaPolicyId,
    steps: MfaSteps,
    /// Credential and method of each proven step.
    proven: Vec<(Authentication, AuthenticationMethod)>,
}

impl MfaState {
    fn new(user: UserId, policy: &MfaPolicy) -> Self {
        Self { user, policy: policy.id, steps: policy.steps.clone(), proven: Vec::new() }
    }

    /// Returns whether all steps are proven. A policy without steps, which cannot be created, is never met.
    pub fn is_met(&self) -> bool {
        !self.steps.is_empty() && self.proven.len() >= self.steps.len()
    }

    /// Returns the method of the next step that a credential proves, if it proves the next step.
    fn proof(&self, by: Authentication) -> Option<AuthenticationMethod> {
        let step = self.steps.get(self.proven.len())?;
        let is_used = self.proven.iter().any(|(used, _)| *used == by);
        step.any.iter().copied().find(|method| !is_used && by.proves(method))
    }

    /// Returns whether a stamp by this credential would prove the next step.
    pub fn advances_by(&self, by: Authentication) -> bool {
        self.proof(by).is_some()
    }

    /// Returns whether an attested stamp can prove the next step.
    pub fn awaits_token(&self) -> bool {
        let step = self.steps.get(self.proven.len());
        step.is_some_and(|step| step.any.iter().any(|method| needs_token(method.method_type)))
    }

    fn add(&mut self, by: Authentication) {
        let proof = self.proof(by);
        self.proven.extend(proof.map(|method| (by, method)));
    }

    /// Converts to the wire form.
    pub fn wire(&self) -> MfaStatus {
        MfaStatus {
            mfa_policy_id: self.policy,
            user_id: self.user,
            satisfied: self.is_met(),
            satisfied_methods: AtMost::cut(self.proven.iter().map(|(_, method)| *method).collect()),
            required_methods: self.steps.clone(),
        }
    }
}

/// Returns whether only the token of an attested stamp proves methods of this type.
const fn needs_token(method_type: AuthenticationType) -> bool {
    matches!(
        method_type,
        AuthenticationType::EmailOtp | AuthenticationType::SmsOtp | AuthenticationType::Oauth
    )
}

/// Returns the states of the proposer and of all users who approved, if MFA policies apply to them.
pub(crate) fn states(input: &DecisionInput<'_>, budget: &mut Budget) -> Vec<MfaState> {
    let mut users = consensus::users(input.approvals);
    if !users.contains(&input.proposer) {
        users.push(input.proposer);
    }
    users.into_iter().flat_map(|user| states_of(user, input, budget)).collect()
}

/// Returns the states of one user: one for each MFA policy that applies.
pub(crate) fn states_of(user: UserId, input: &DecisionInput<'_>, budget: &mut Budget) -> Vec<MfaState> {
    let Some(member) = input.organization.member(user) else { return Vec::new() };
    if member.user.mfa_policies.is_empty() {
        return Vec::new();
    }
    let own: Vec<_> = input.approvals.iter().filter(|approval| approval.user == user).collect();
    let admits_tokens = input.is_attested || own.iter().any(|approval| approval.is_by_credential());
    let proofs = own.into_iter().filter(|approval| admits_tokens || approval.consents());
    let proofs: Vec<Authentication> = proofs.filter_map(|approval| approval.authentication).collect();
    let with_proofs = |policy: &MfaPolicy| {
        let mut state = MfaState::new(user, policy);
        for by in &proofs {
            state.add(*by);
        }
        state
    };
    applicable(member, input, budget).into_iter().map(with_proofs).collect()
}

/// Returns the MFA policies of a user that apply to an activity, in their order.
fn applicable<'a>(member: &'a Member, input: &DecisionInput<'_>, budget: &mut Budget) -> Vec<&'a MfaPolicy> {
    let policies: Vec<_> = member.mfa_policies().collect();
    let programs: Vec<_> = policies.iter().map(|(_, condition)| *condition).collect();
    let is_proposer = member.user.id == input.proposer;
    let mut applies: Vec<bool> = policies
        .iter()
        .map(|(policy, _)| is_proposer && input.facts.guarded_by.contains(&policy.id))
        .collect();
    for subject in outcomes(&programs, input, budget) {
        for (applies, outcome) in applies.iter_mut().zip(subject.outcomes) {
            *applies |= outcome != PolicyOutcome::DenyImplicit;
            if outcome == PolicyOutcome::Allow {
                break;
            }
        }
    }
    // A policy must not wait for the very code that the activity sends or accepts.
    let exempts = |policy: &MfaPolicy| {
        let mut methods = policy.steps.iter().flat_map(|step| step.any.iter());
        is_proposer && methods.any(|method| input.facts.own_codes.contains(&method.method_type))
    };
    let applicable = policies.into_iter().zip(applies);
    let applicable = applicable.filter_map(|((policy, _), applies)| applies.then_some(policy));
    applicable.filter(|policy| !exempts(policy)).collect()
}
