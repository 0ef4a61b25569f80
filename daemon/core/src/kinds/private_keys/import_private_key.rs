//! Brings a private key in.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::bounded::Text;
use quorate_common::ids::UserId;

use crate::bundles::{self, MAX_BUNDLE};
use crate::kinds::prelude::*;
use crate::make::private_key;
use crate::model::Purpose;
use crate::model::layout::Key;
use crate::params::PrivateKeyParams;
use crate::params::keys::PrivateKeyResult;

pub(in crate::kinds) struct ImportPrivateKey;

/// Brings a private key in: 32 bytes, encrypted to a key that the caller was given for it.
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

impl Form for Intent {
    type Kind = ImportPrivateKey;
    type Outcome = PrivateKeyResult;
    const TYPE: &'static str = "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY";
    const NUMBER: u16 = 61;
    const RESULT: &'static str = "importPrivateKeyResult";
}

impl Kind for ImportPrivateKey {
    const ACTS: Option<(Action, Resource)> = Some((Action::Import, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = (SecretKey, Key);
    type Outcome = PrivateKeyResult;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), Refusal> {
        bundles::is_own(intent.user_id, view)?;
        private_key::check(&[intent.params()])?;
        view.private_key_name_is_free(&intent.private_key_name)?;
        let present = view.organization.private_keys().count();
        room(present, 1, view.limits().private_keys, "private keys", "private_keys")?;
        let opened = bundles::open(Purpose::PrivateKey, intent.encrypted_bundle.as_str(), view)?;
        let secret = private_key::imported(intent.curve, &opened.plaintext, view)?;
        Ok((Facts::default(), (secret, opened.place)))
    }

    fn execute(
        intent: Intent,
        (secret, place): Self::Plan,
        cx: &mut Cx<'_, '_>,
    ) -> Result<PrivateKeyResult, Refusal> {
        let (changes, result) = private_key::keep(intent.params(), &secret, true, cx)?;
        cx.change_all(changes);
        cx.change(Change::RemoveImportTarget(place));
        Ok(result)
    }
}
