//! Creates a tag for private keys and assigns it to some of them.

use quorate_common::ids::{PrivateKeyId, TagId};

use crate::kinds::prelude::*;
use crate::make::tag;
use crate::model::PrivateKey;

pub(in crate::kinds) struct CreatePrivateKeyTag;

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
    type Kind = CreatePrivateKeyTag;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG";
    const NUMBER: u16 = 22;
    const RESULT: &'static str = "createPrivateKeyTagResult";
}

impl Kind for CreatePrivateKeyTag {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        tag::check_new::<PrivateKey>(
            view,
            &intent.private_key_tag_name,
            &intent.private_key_ids,
            "privateKeyIds",
        )?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let private_key_tag_id =
            tag::create::<PrivateKey>(intent.private_key_tag_name, &intent.private_key_ids, context)?;
        Ok(Outcome { private_key_tag_id, private_key_ids: intent.private_key_ids })
    }
}
