//! Renames a private key tag, assigns it to some private keys and removes it from others.

use crate::kinds::prelude::*;
use crate::make::tag;

/// Renames a private key tag, assigns it to some private keys and removes it from others.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    private_key_tag_id: TagId,
    /// New name of the tag. If absent, the tag keeps its name.
    new_private_key_tag_name: Option<Label>,
    #[serde(default)]
    add_private_key_ids: AtMost<PrivateKeyId, BATCH>,
    #[serde(default)]
    remove_private_key_ids: AtMost<PrivateKeyId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_key_tag_id: TagId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG";
    const NUMBER: u16 = 32;
}

impl Intent {
    fn update(&self) -> tag::Update<'_, PrivateKeyId> {
        tag::Update {
            tag: self.private_key_tag_id,
            name: self.new_private_key_tag_name.as_ref(),
            add: (&self.add_private_key_ids, "addPrivateKeyIds"),
            remove: (&self.remove_private_key_ids, "removePrivateKeyIds"),
        }
    }
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::PrivateKey));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        tag::check_update::<PrivateKey>(view, &self.update())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        tag::update::<PrivateKey>(&self.update(), context)?;
        Ok(Outcome { private_key_tag_id: self.private_key_tag_id })
    }
}
