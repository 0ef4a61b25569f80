//! Creates an import key for a private key.

use crate::bundles;
use crate::kinds::prelude::*;
use crate::params::keys::ImportBundleResult;

/// Creates an import key: the caller can encrypt one private key to it and import it once, within 24 hours.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY";
    const NUMBER: u16 = 60;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Import, Resource::PrivateKey));
    type Plan = ();
    type Outcome = ImportBundleResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        bundles::is_own(self.user_id, view)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<ImportBundleResult, RequestError> {
        Ok(ImportBundleResult { import_bundle: bundles::new_target(Purpose::PrivateKey, context)? })
    }
}
