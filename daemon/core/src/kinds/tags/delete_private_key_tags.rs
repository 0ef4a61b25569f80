//! Deletes private key tags and removes them from all private keys.

use quorate_common::ids::{PrivateKeyId, TagId};

use crate::kinds::prelude::*;
use crate::make::tag;
use crate::model::PrivateKey;

/// Maximum number of private keys in a result. Limits keep organizations below it.
const MEMBERS: usize = 10_000;

pub(in crate::kinds) struct DeletePrivateKeyTags;

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
    type Kind = DeletePrivateKeyTags;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS";
    const NUMBER: u16 = 23;
    const RESULT: &'static str = "deletePrivateKeyTagsResult";
}

impl Kind for DeletePrivateKeyTags {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.private_key_tag_ids, "privateKeyTagIds")?;
        tag::check_delete::<PrivateKey>(view, &intent.private_key_tag_ids, "privateKeyTagIds")?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let members = tag::delete::<PrivateKey>(&intent.private_key_tag_ids, context);
        Ok(Outcome { private_key_tag_ids: intent.private_key_tag_ids, private_key_ids: AtMost::cut(members) })
    }
}
