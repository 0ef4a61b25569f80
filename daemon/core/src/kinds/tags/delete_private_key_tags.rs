//! Deletes tags of private keys, and takes them off all that bear them.

use quorate_common::ids::{PrivateKeyId, TagId};

use crate::kinds::prelude::*;
use crate::make::tag;
use crate::model::PrivateKey;

/// How many private keys a result names; limits keep organizations below it.
const BEARERS: usize = 10_000;

pub(in crate::kinds) struct DeletePrivateKeyTags;

/// Deletes tags of private keys, and takes them off all that bear them.
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
    private_key_ids: AtMost<PrivateKeyId, BEARERS>,
}

impl Form for Intent {
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

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        not_empty(&intent.private_key_tag_ids, "privateKeyTagIds")?;
        tag::check_delete::<PrivateKey>(view, &intent.private_key_tag_ids, "privateKeyTagIds")?;
        Ok((Facts::default(), ()))
    }

    fn execute(intent: Intent, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let bearers = tag::delete::<PrivateKey>(&intent.private_key_tag_ids, cx);
        Ok(Outcome { private_key_tag_ids: intent.private_key_tag_ids, private_key_ids: AtMost::cut(bearers) })
    }
}
