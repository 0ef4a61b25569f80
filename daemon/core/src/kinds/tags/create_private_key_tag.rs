//! Creates a tag for private keys and assigns it to some of them.

use crate::kinds::prelude::*;
use crate::make::tag;

/// Creates a tag for private keys and assigns it to some of them.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    private_key_tag_name: Label,
    #[serde(default)]
    private_key_ids: AtMost<PrivateKeyId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_key_tag_id: TagId,
    private_key_ids: AtMost<PrivateKeyId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG";
    const NUMBER: u16 = 22;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::PrivateKey));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        tag::check_new::<PrivateKey>(view, &self.private_key_tag_name, &self.private_key_ids, "privateKeyIds")
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let private_key_tag_id =
            tag::create::<PrivateKey>(self.private_key_tag_name, &self.private_key_ids, context)?;
        Ok(Outcome { private_key_tag_id, private_key_ids: self.private_key_ids })
    }
}
