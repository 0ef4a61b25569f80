//! Deletes private key tags and removes them from all private keys.

use crate::kinds::prelude::*;
use crate::make::tag;

/// Maximum number of private keys in a result. Limits keep organizations below it.
const MEMBERS: usize = 10_000;

/// Deletes private key tags and removes them from all private keys.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    private_key_tag_ids: AtMost<TagId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_key_tag_ids: AtMost<TagId, BATCH>,
    private_key_ids: AtMost<PrivateKeyId, MEMBERS>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS";
    const NUMBER: u16 = 23;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::PrivateKey));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        tag::check_delete::<PrivateKey>(view, &self.private_key_tag_ids, "privateKeyTagIds")
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let members = tag::delete::<PrivateKey>(&self.private_key_tag_ids, context);
        Ok(Outcome { private_key_tag_ids: self.private_key_tag_ids, private_key_ids: AtMost::cut(members) })
    }
}
