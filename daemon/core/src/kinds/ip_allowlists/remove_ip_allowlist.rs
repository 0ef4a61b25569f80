//! Removes the IP allowlist of the organization or of one API key.

use quorate_common::bounded::Text;

use crate::kinds::prelude::*;
use crate::make::ip_allowlist::{self, KEY};

pub(in crate::kinds) struct RemoveIpAllowlist;

/// Removes the IP allowlist of the organization, or of the API key `publicKey`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_key: Option<Text<KEY>>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {}

impl Version for Intent {
    type Kind = RemoveIpAllowlist;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST";
    const NUMBER: u16 = 129;
    const RESULT: &'static str = "removeIpAllowlistResult";
}

impl Kind for RemoveIpAllowlist {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        ip_allowlist::check_top_level(view)?;
        ip_allowlist::check_exists(intent.public_key.as_ref().map(Text::as_str), view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        ip_allowlist::set(intent.public_key.as_ref().map(Text::as_str), None, context);
        Ok(Outcome {})
    }
}
