//! Creates an MFA policy of a user.
//!
//! A new policy can take precedence over others. A user who creates one for themselves must therefore meet those that
//! it precedes.

use quorate_common::ids::MfaPolicyId;

use crate::kinds::prelude::*;
use crate::make::mfa_policy;
use crate::make::policy::Expression;
use crate::model::policy::NOTES_LIMIT;
use crate::model::{MfaPolicy, MfaSteps};
use crate::params::mfa_policy::MfaPolicyResult;

/// Creates an MFA policy: activities of the user that meet its condition need further authentication methods.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    mfa_policy_name: Label,
    /// Activities that the policy applies to, in the policy language.
    condition: Expression,
    /// Steps that the user must prove, in this order.
    required_authentication_methods: MfaSteps,
    /// Position among the MFA policies of the user, which no other of them has. The first one that applies counts.
    order: u32,
    notes: Option<Text<NOTES_LIMIT>>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_MFA_POLICY";
    const NUMBER: u16 = 140;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::MfaPolicy));
    type Plan = User;
    type Outcome = MfaPolicyResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        let user = view.user(self.user_id)?;
        mfa_policy::check_condition(&self.condition)?;
        mfa_policy::check_order(self.order, user, None)?;
        mfa_policy::check_steps(&self.required_authentication_methods, user, view)?;
        mfa_policy::check_room(user, view)?;
        mfa_policy::expressions_fit(&self.condition, None, view)?;
        Ok(user.clone())
    }

    fn facts(&self, user: &User, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(mfa_policy::guarded(user, view, |policy| policy.order > self.order))
    }

    fn execute(self, mut user: User, context: &mut Execution<'_>) -> Result<MfaPolicyResult, RequestError> {
        let (id, now) = (MfaPolicyId::random(context.random()), context.now());
        user.mfa_policies.push(MfaPolicy {
            id,
            name: self.mfa_policy_name,
            condition: self.condition,
            steps: self.required_authentication_methods,
            order: self.order,
            notes: self.notes,
            created: now,
            updated: now,
        });
        user.mfa_policies.sort_by_key(|policy| policy.order);
        context.update_user(user);
        Ok(MfaPolicyResult { mfa_policy_id: id })
    }
}
