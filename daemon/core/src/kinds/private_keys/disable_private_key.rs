//! Disables a private key: it is still listed, but can no longer sign or be exported.

use crate::kinds::prelude::*;

/// Disables a private key. It can then no longer sign or be exported.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    private_key_id: PrivateKeyId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_key_id: PrivateKeyId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DISABLE_PRIVATE_KEY";
    const NUMBER: u16 = 8;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::PrivateKey));
    type Plan = PrivateKey;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<PrivateKey, RequestError> {
        let key = view.private_key(self.private_key_id)?.clone();
        // Without facts about the key: a policy that allows signing with it must not allow disabling it.
        Ok(key)
    }

    fn execute(self, key: PrivateKey, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::put(PrivateKey { disabled: true, updated: context.now(), ..key }));
        Ok(Outcome { private_key_id: self.private_key_id })
    }
}
