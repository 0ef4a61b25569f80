//! Deletes secrets and their values.

use quorate_common::ids::SecretId;

use crate::kinds::prelude::*;
use crate::limits::DELETED_SECRETS;
use crate::model::Secret;

pub(in crate::kinds) struct DeleteSecrets;

/// Deletes secrets and their values, whether or not a copy exists elsewhere.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    secret_ids: AtMost<SecretId, DELETED_SECRETS>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    secret_ids: AtMost<SecretId, DELETED_SECRETS>,
}

impl Version for Intent {
    type Kind = DeleteSecrets;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_SECRETS";
    const NUMBER: u16 = 169;
    const RESULT: &'static str = "deleteSecretsResult";
}

impl Kind for DeleteSecrets {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Secret));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.secret_ids, "secretIds")?;
        distinct(intent.secret_ids.iter(), "secretIds")?;
        intent.secret_ids.iter().try_for_each(|id| view.collection_item::<Secret>(*id).map(drop))?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change_all(intent.secret_ids.iter().copied().map(Change::RemoveSecret));
        Ok(Outcome { secret_ids: intent.secret_ids })
    }
}
