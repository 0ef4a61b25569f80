//! Updates an MFA policy of a user.
//!
//! A user who updates one of their own must meet it. If it can then take precedence over others, because its condition
//! or its order changes, the user must meet those as well.

use quorate_common::ids::MfaPolicyId;

use crate::kinds::prelude::*;
use crate::make::mfa_policy;
use crate::make::policy::Expression;
use crate::model::policy::NOTES_LIMIT;
use crate::model::{MfaPolicy, MfaSteps};
use crate::params::mfa_policy::MfaPolicyResult;

/// Updates an MFA policy of a user; absent members, and an empty list of methods, keep their values.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    mfa_policy_id: MfaPolicyId,
    mfa_policy_name: Option<Label>,
    condition: Option<Expression>,
    #[serde(default)]
    required_authentication_methods: MfaSteps,
    order: Option<u32>,
    notes: Option<Text<NOTES_LIMIT>>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_MFA_POLICY";
    const NUMBER: u16 = 141;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::MfaPolicy));
    type Plan = (User, MfaPolicy);
    type Outcome = MfaPolicyResult;

    fn rules(&self, view: &View<'_>) -> Result<(User, MfaPolicy), RequestError> {
        let user = view.user(self.user_id)?;
        let old = mfa_policy::find(user, self.mfa_policy_id)?;
        if let Some(condition) = &self.condition {
            mfa_policy::check_condition(condition)?;
            mfa_policy::expressions_fit(condition, Some(&old.condition), view)?;
        }
        if let Some(order) = self.order {
            mfa_policy::check_order(order, user, Some(old.id))?;
        }
        if !self.required_authentication_methods.is_empty() {
            mfa_policy::check_steps(&self.required_authentication_methods, user, view)?;
        }
        Ok((user.clone(), old.clone()))
    }

    fn facts(&self, (user, old): &(User, MfaPolicy), view: &View<'_>) -> Result<Facts, RequestError> {
        let order = self.order.unwrap_or(old.order);
        let is_changed = self.condition.is_some() || self.order.is_some();
        let precedes = |policy: &MfaPolicy| is_changed && policy.order > order.min(old.order);
        Ok(mfa_policy::guarded(user, view, |policy| policy.id == old.id || precedes(policy)))
    }

    fn execute(
        self,
        (mut user, old): (User, MfaPolicy),
        context: &mut Execution<'_>,
    ) -> Result<MfaPolicyResult, RequestError> {
        let steps = Some(self.required_authentication_methods).filter(|steps| !steps.is_empty());
        let new = MfaPolicy {
            name: self.mfa_policy_name.unwrap_or(old.name),
            condition: self.condition.unwrap_or(old.condition),
            steps: steps.unwrap_or(old.steps),
            order: self.order.unwrap_or(old.order),
            notes: self.notes.or(old.notes),
            updated: context.now(),
            ..old
        };
        user.mfa_policies.retain(|policy| policy.id != new.id);
        user.mfa_policies.push(new);
        user.mfa_policies.sort_by_key(|policy| policy.order);
        context.update_user(user);
        Ok(MfaPolicyResult { mfa_policy_id: self.mfa_policy_id })
    }
}
