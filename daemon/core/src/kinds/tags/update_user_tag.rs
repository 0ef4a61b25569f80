//! Renames a user tag, assigns it to some users and removes it from others.

use crate::kinds::prelude::*;
use crate::make::tag;

/// Renames a user tag, assigns it to some users and removes it from others.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_tag_id: TagId,
    /// New name of the tag. If absent, the tag keeps its name.
    new_user_tag_name: Option<Label>,
    #[serde(default)]
    add_user_ids: AtMost<UserId, BATCH>,
    #[serde(default)]
    remove_user_ids: AtMost<UserId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_tag_id: TagId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_TAG";
    const NUMBER: u16 = 31;
}

impl Intent {
    fn update(&self) -> tag::Update<'_, UserId> {
        tag::Update {
            tag: self.user_tag_id,
            name: self.new_user_tag_name.as_ref(),
            add: (&self.add_user_ids, "addUserIds"),
            remove: (&self.remove_user_ids, "removeUserIds"),
        }
    }
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::User));
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        tag::check_update::<User>(view, &self.update())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        tag::update::<User>(&self.update(), context)?;
        Ok(Outcome { user_tag_id: self.user_tag_id })
    }
}
