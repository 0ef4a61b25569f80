//! Takes secrets out, each encrypted to a key.

use quorate_common::bounded::Text;
use quorate_common::bundle::TargetPublicKey;
use quorate_common::ids::SecretId;

use crate::bundles::{self, OwnKeys};
use crate::kinds::prelude::*;
use crate::limits::SECRET_TARGETS;
use crate::model::Secret;
use crate::params::secrets::{KeyValues, SecretPayload, TransportEncryptionSuite, check};
use crate::secret;

pub(in crate::kinds) struct ExportSecrets;

/// Takes secrets out, each encrypted to its target key. All or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    secrets: AtMost<SecretParams, SECRET_TARGETS>,
}

/// A secret to be taken out.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SecretParams {
    secret_id: SecretId,
    target_public_key: Text<130>,
    encryption_suite: TransportEncryptionSuite,
    /// What the caller says of the request, for those who approve it.
    #[serde(default)]
    request_context: KeyValues,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    secret_payloads: AtMost<SecretPayload, SECRET_TARGETS>,
}

impl Form for Intent {
    type Kind = ExportSecrets;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_EXPORT_SECRETS";
    const NUMBER: u16 = 163;
    const RESULT: &'static str = "exportSecretsResult";
}

impl Kind for ExportSecrets {
    const ACTS: Option<(Action, Resource)> = Some((Action::Export, Resource::Secret));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = Vec<(SecretId, TargetPublicKey)>;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), Refusal> {
        not_empty(&intent.secrets, "secrets")?;
        let own = OwnKeys::of(view)?;
        let mut secrets = Vec::with_capacity(intent.secrets.len());
        let mut plan = Vec::with_capacity(intent.secrets.len());
        for asked in &intent.secrets {
            check(&asked.request_context, "requestContext")?;
            secrets.push(view.shelved::<Secret>(asked.secret_id)?);
            plan.push((asked.secret_id, own.export_target(asked.target_public_key.as_str())?));
        }
        Ok((Facts::of_secrets(secrets), plan))
    }

    fn execute(_: Intent, plan: Self::Plan, cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let mut payloads = Vec::with_capacity(plan.len());
        for (id, target) in plan {
            let record = cx.records().secret_value(id)?;
            payloads.push(SecretPayload::new(bundles::export(&target, secret::value(&record)?, cx)?));
        }
        Ok(Outcome { secret_payloads: AtMost::cut(payloads) })
    }
}
