//! Deletes user tags and removes them from all users.

use crate::kinds::prelude::*;
use crate::make::{invitation, tag};

/// Maximum number of users in a result. Limits keep organizations below it.
const MEMBERS: usize = 10_000;

/// Deletes user tags and removes them from all users.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    user_tag_ids: AtMost<TagId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_tag_ids: AtMost<TagId, BATCH>,
    user_ids: AtMost<UserId, MEMBERS>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_USER_TAGS";
    const NUMBER: u16 = 15;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::User));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        tag::check_delete::<User>(view, &self.user_tag_ids, "userTagIds")
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        invitation::untag(&self.user_tag_ids, context);
        let members = tag::delete::<User>(&self.user_tag_ids, context);
        Ok(Outcome { user_tag_ids: self.user_tag_ids, user_ids: AtMost::cut(members) })
    }
}
