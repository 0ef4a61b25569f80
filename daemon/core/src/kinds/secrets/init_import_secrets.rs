//! Creates import keys for secrets.

use crate::bundles;
use crate::kinds::prelude::*;
use crate::limits::SECRET_TARGETS;
use crate::params::keys::ImportBundle;
use crate::params::secrets::TransportEncryptionSuite;

/// Creates import keys: the caller can encrypt one secret to each and import it once, within 24 hours.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    encryption_suite: TransportEncryptionSuite,
    #[schemars(range(min = 1, max = SECRET_TARGETS))]
    num_secrets: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    enclave_target_messages: AtMost<ImportBundle, SECRET_TARGETS>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_IMPORT_SECRETS";
    const NUMBER: u16 = 153;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Import, Resource::Secret));
    type Plan = usize;
    type Outcome = Outcome;

    fn rules(&self, _: &View<'_>) -> Result<usize, RequestError> {
        match usize::try_from(self.num_secrets) {
            Ok(number @ 1..=SECRET_TARGETS) => Ok(number),
            _ => Err(Wrong::Text("invalid request body: `parameters.numSecrets`: expected 1 to 50").into()),
        }
    }

    fn execute(self, number: usize, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        bundles::evict_import_targets(Purpose::Secret, number, context)?;
        let messages = (0..number).map(|_| bundles::add_target(Purpose::Secret, context));
        Ok(Outcome { enclave_target_messages: AtMost::cut(messages.collect::<Result<_, _>>()?) })
    }
}
