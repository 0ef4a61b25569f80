//! Deletes secrets and their values.

use crate::kinds::prelude::*;
use crate::limits::DELETED_SECRETS;

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
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_SECRETS";
    const NUMBER: u16 = 169;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Secret));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        look_up_each(&self.secret_ids, "secretIds", |id| view.collection_item::<Secret>(id)).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change_all(self.secret_ids.iter().copied().map(Change::remove::<Secret>));
        Ok(Outcome { secret_ids: self.secret_ids })
    }
}
