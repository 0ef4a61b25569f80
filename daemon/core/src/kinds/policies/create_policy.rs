//! Creates a policy.

use quorate_common::ids::PolicyId;

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::params::PolicyParams;

pub(in crate::kinds) struct CreatePolicy;

/// Creates a policy, which allows or denies activities and determines whose approvals they need.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct Intent(PolicyParams);

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_id: PolicyId,
}

impl Version for Intent {
    type Kind = CreatePolicy;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY_V3";
    const NUMBER: u16 = 28;
    const RESULT: &'static str = "createPolicyResult";
}

/// The policy to create, or the error from translating the selectors of an earlier version.
pub(in crate::kinds) struct New(Result<PolicyParams, RequestError>);

impl From<Intent> for New {
    fn from(intent: Intent) -> Self {
        Self(Ok(intent.0))
    }
}

impl Kind for CreatePolicy {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Policy));
    const GATE: Gate = Gate::Policy;
    type Intent = New;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(New(policy): &New, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        policy::check_new(std::slice::from_ref(policy.as_ref().map_err(Clone::clone)?), view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        New(policy): New,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        Ok(Outcome { policy_id: policy::add(policy?, context) })
    }
}

/// Version 1: selectors with one target. They are translated once; only expressions are stored.
pub(in crate::kinds) mod v1 {
    use super::{CreatePolicy, Deserialize, JsonSchema, New, Outcome, Serialize, Version};
    use crate::params::policy::{SelectorParams, SelectorPolicyParams};

    /// Creates a policy from selectors with one target each.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(transparent)]
    pub(in crate::kinds) struct Intent(SelectorPolicyParams<SelectorParams>);

    impl Version for Intent {
        type Kind = CreatePolicy;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY";
        const NUMBER: u16 = 7;
        const RESULT: &'static str = "createPolicyResult";
    }

    impl From<Intent> for New {
        fn from(intent: Intent) -> Self {
            Self(intent.0.translated())
        }
    }
}

/// Version 2: selectors with several targets. They are translated once; only expressions are stored.
pub(in crate::kinds) mod v2 {
    use super::{CreatePolicy, Deserialize, JsonSchema, New, Outcome, Serialize, Version};
    use crate::params::policy::{SelectorParamsV2, SelectorPolicyParams};

    /// Creates a policy from selectors with several targets each.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(transparent)]
    pub(in crate::kinds) struct Intent(SelectorPolicyParams<SelectorParamsV2>);

    impl Version for Intent {
        type Kind = CreatePolicy;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY_V2";
        const NUMBER: u16 = 27;
        const RESULT: &'static str = "createPolicyResult";
    }

    impl From<Intent> for New {
        fn from(intent: Intent) -> Self {
            Self(intent.0.translated())
        }
    }
}
