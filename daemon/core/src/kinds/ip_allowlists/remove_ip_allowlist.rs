//! Removes the IP allowlist of the organization or of one API key.

use crate::kinds::prelude::*;
use crate::make::ip_allowlist::{self, KEY};

/// Removes the IP allowlist of the organization, or of the API key `publicKey`.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    public_key: Option<Text<KEY>>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST";
    const NUMBER: u16 = 129;
}

impl Kind for Intent {
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        ip_allowlist::check_top_level(view)?;
        ip_allowlist::check_exists(self.public_key.as_ref().map(Text::as_str), view)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        ip_allowlist::set(self.public_key.as_ref().map(Text::as_str), None, context);
        Ok(Outcome {})
    }
}
