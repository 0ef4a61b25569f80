//! Creates a tag for users and assigns it to some of them.

use crate::kinds::prelude::*;
use crate::make::tag;

/// Creates a tag for users and assigns it to some of them.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_tag_name: Label,
    #[serde(default)]
    user_ids: AtMost<UserId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_tag_id: TagId,
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USER_TAG";
    const NUMBER: u16 = 14;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::User));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        tag::check_new::<User>(view, &self.user_tag_name, &self.user_ids, "userIds")
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let user_tag_id = tag::create::<User>(self.user_tag_name, &self.user_ids, context)?;
        Ok(Outcome { user_tag_id, user_ids: self.user_ids })
    }
}
