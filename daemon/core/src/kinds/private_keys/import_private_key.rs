//! Imports a private key.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::{Curve, SecretKey};

use crate::bundles::{self, MAX_BUNDLE};
use crate::kinds::prelude::*;
use crate::make::private_key;
use crate::model::layout::Key;
use crate::params::PrivateKeyParams;
use crate::params::keys::PrivateKeyResult;

/// Imports a private key: 32 bytes, encrypted to an import key of the caller.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    private_key_name: Label,
    encrypted_bundle: Text<MAX_BUNDLE>,
    curve: Curve,
    #[serde(default)]
    address_formats: AtMost<AddressFormat, BATCH>,
}

impl Intent {
    fn params(&self) -> PrivateKeyParams {
        PrivateKeyParams {
            private_key_name: self.private_key_name.clone(),
            curve: self.curve,
            private_key_tags: AtMost::cut(Vec::new()),
            address_formats: self.address_formats.clone(),
        }
    }
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY";
    const NUMBER: u16 = 61;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Import, Resource::PrivateKey));
    type Plan = (SecretKey, Key);
    type Outcome = PrivateKeyResult;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        bundles::is_own(self.user_id, view)?;
        private_key::check(&[self.params()])?;
        view.name_is_free(|present: &PrivateKey| present.name == self.private_key_name)?;
        view.check_room::<PrivateKey>(1)?;
        let opened = bundles::open(Purpose::PrivateKey, self.encrypted_bundle.as_str(), view)?;
        let secret = private_key::parse_imported(self.curve, &opened.plaintext, view)?;
        Ok((secret, opened.record_key))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Self::Outcome, RequestError> {
        let (secret, import_key) = plan;
        let (changes, result) = private_key::from_secret(self.params(), &secret, true, context)?;
        context.change_all(changes);
        context.change(Change::RemoveImportTarget(import_key));
        Ok(result)
    }
}
