//! Creates a policy.

use crate::kinds::prelude::*;
use crate::make::policy;
use crate::params::PolicyParams;
use crate::params::policy::{PolicyResult, SelectorParams, SelectorParamsV2, SelectorPolicyParams};

/// Creates a policy from selectors with one target each.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V1(SelectorPolicyParams<SelectorParams>);

/// Creates a policy from selectors with several targets each.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V2(SelectorPolicyParams<SelectorParamsV2>);

/// Creates a policy, which allows or denies activities and determines whose approvals they need.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V3(PolicyParams);

/// The policy to create, or the error from translating the selectors of an earlier version. Only expressions
/// are stored.
pub(in crate::kinds) struct Request(Result<PolicyParams, RequestError>);

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY";
    const NUMBER: u16 = 7;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY_V2";
    const NUMBER: u16 = 27;
    const RESULT: Option<&'static str> = Some("createPolicyResult");
}

impl Version for V3 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_POLICY_V3";
    const NUMBER: u16 = 28;
    const RESULT: Option<&'static str> = Some("createPolicyResult");
}

impl From<V1> for Request {
    fn from(V1(selectors): V1) -> Self {
        Self(selectors.translated())
    }
}

impl From<V2> for Request {
    fn from(V2(selectors): V2) -> Self {
        Self(selectors.translated())
    }
}

impl From<V3> for Request {
    fn from(V3(policy): V3) -> Self {
        Self(Ok(policy))
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Policy));
    type Plan = ();
    type Outcome = PolicyResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        policy::check_new(std::slice::from_ref(self.0.as_ref().map_err(Clone::clone)?), view)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<PolicyResult, RequestError> {
        Ok(PolicyResult { policy_id: policy::add(self.0?, context) })
    }
}
