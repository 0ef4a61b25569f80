//! Creates a policy.

use quorate_common::ids::PolicyId;

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::params::PolicyParams;

pub(in crate::kinds) struct CreatePolicy;

/// Creates a policy: whom it allows or denies what, and whose consent that needs.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct Intent(PolicyParams);

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    policy_id: PolicyId,
}

impl Form for Intent {
    type Kind = CreatePolicy;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY_V3";
    const NUMBER: u16 = 28;
    const RESULT: &'static str = "createPolicyResult";
}

/// What is to be created, or why the older form of it cannot be understood.
pub(in crate::kinds) struct New(Result<PolicyParams, Refusal>);

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

    fn rules(New(policy): &New, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        policy::check_new(std::slice::from_ref(policy.as_ref().map_err(Clone::clone)?), view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(New(policy): New, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        Ok(Outcome { policy_id: policy::add(policy?, cx) })
    }
}

/// First version: selectors with one target. They are translated once; only expressions are stored.
pub(in crate::kinds) mod v1 {
    use super::{CreatePolicy, Deserialize, Form, JsonSchema, New, Outcome, Serialize};
    use crate::params::policy::{SelectorParams, SelectorPolicyParams};

    /// Creates a policy of the older form.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(transparent)]
    pub(in crate::kinds) struct Intent(SelectorPolicyParams<SelectorParams>);

    impl Form for Intent {
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

/// Second version: selectors with several targets. They are translated once; only expressions are stored.
pub(in crate::kinds) mod v2 {
    use super::{CreatePolicy, Deserialize, Form, JsonSchema, New, Outcome, Serialize};
    use crate::params::policy::{SelectorParamsV2, SelectorPolicyParams};

    /// Creates a policy of the older form.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(transparent)]
    pub(in crate::kinds) struct Intent(SelectorPolicyParams<SelectorParamsV2>);

    impl Form for Intent {
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
