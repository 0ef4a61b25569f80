//! Exports secrets, each encrypted to a key.

use quorate_common::bundle::TargetPublicKey;

use crate::bundles::{self, ServiceKeys};
use crate::kinds::prelude::*;
use crate::limits::SECRET_TARGETS;
use crate::params::secrets::{KeyValues, SecretPayload, TransportEncryptionSuite, check};
use crate::secret;

/// Exports secrets, each encrypted to its own target key: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    secrets: AtMost<SecretParams, SECRET_TARGETS>,
}

/// A secret to export.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SecretParams {
    secret_id: SecretId,
    target_public_key: Text<130>,
    encryption_suite: TransportEncryptionSuite,
    /// Information from the caller about the request, for those who approve it.
    #[serde(default)]
    request_context: KeyValues,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    secret_payloads: AtMost<SecretPayload, SECRET_TARGETS>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_EXPORT_SECRETS";
    const NUMBER: u16 = 163;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Export, Resource::Secret));
    type Plan = Vec<(SecretId, TargetPublicKey)>;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        not_empty(&self.secrets, "secrets")?;
        let own = ServiceKeys::of(view)?;
        let mut plan = Vec::with_capacity(self.secrets.len());
        for params in &self.secrets {
            check(&params.request_context, "requestContext")?;
            view.collection_item::<Secret>(params.secret_id)?;
            plan.push((params.secret_id, own.export_target(params.target_public_key.as_str())?));
        }
        Ok(plan)
    }

    fn facts(&self, _: &Self::Plan, view: &View<'_>) -> Result<Facts, RequestError> {
        let secrets = self.secrets.iter().map(|params| view.collection_item::<Secret>(params.secret_id));
        Ok(Facts::of_secrets(secrets.collect::<Result<Vec<_>, _>>()?))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let mut payloads = Vec::with_capacity(plan.len());
        for (id, target) in plan {
            let record = context.records().secret_value(id)?;
            payloads.push(SecretPayload::new(bundles::export(&target, secret::value(&record)?, context)?));
        }
        Ok(Outcome { secret_payloads: AtMost::cut(payloads) })
    }
}
