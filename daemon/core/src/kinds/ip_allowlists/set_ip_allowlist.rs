//! Sets the IP allowlist of the organization or of one API key.

use crate::kinds::prelude::*;
use crate::make::ip_allowlist::{self, KEY};
use crate::model::{IpAllowlist, IpRule};

/// Longest text of an address block, in bytes.
const BLOCK: usize = 64;

/// Sets the IP allowlist of the organization, or of the API key `publicKey`. Replaces any earlier list.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    public_key: Option<Text<KEY>>,
    enabled: Option<bool>,
    #[serde(default)]
    rules: AtMost<RuleParams, BATCH>,
    on_evaluation_error: Option<OnEvaluationError>,
}

/// A block of IP addresses in CIDR notation, or a single address.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
struct RuleParams {
    cidr: Text<BLOCK>,
    label: Option<Label>,
}

/// Treatment of a request whose source address is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum OnEvaluationError {
    /// The request is accepted.
    Allow,
    /// The request is denied.
    Deny,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_SET_IP_ALLOWLIST";
    const NUMBER: u16 = 128;
}

impl Kind for Intent {
    type Plan = IpAllowlist;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<IpAllowlist, RequestError> {
        ip_allowlist::check_top_level(view)?;
        if let Some(key) = &self.public_key {
            ip_allowlist::check_key_exists(key.as_str(), view)?;
        }
        let mut rules: Vec<IpRule> = Vec::with_capacity(self.rules.len());
        for (index, rule) in self.rules.iter().enumerate() {
            let network = ip_allowlist::network(index, rule.cidr.as_str())?;
            if rules.iter().all(|known| known.network != network) {
                rules.push(IpRule { network, label: rule.label.clone(), created: view.now });
            }
        }
        ip_allowlist::check_count(&rules)?;
        let list = IpAllowlist {
            enabled: self.enabled != Some(false),
            rules,
            allows_unknown: self.on_evaluation_error == Some(OnEvaluationError::Allow),
        };
        Ok(list)
    }

    fn execute(self, list: IpAllowlist, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let key = self.public_key.as_ref().map(Text::as_str);
        ip_allowlist::set(key, Some(&list), context);
        Ok(Outcome {})
    }
}
