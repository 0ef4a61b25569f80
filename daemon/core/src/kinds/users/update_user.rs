//! Updates a user: name, contacts and tags.

use crate::kinds::prelude::*;
use crate::make::user;
use crate::params::user::UserResult;

/// Updates a user: name, contacts and tags.
///
/// Absent members keep their values.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    user_name: Option<Label>,
    user_email: Option<Email>,
    /// Replaces all tags of the user. An empty list changes nothing, since clients cannot distinguish it from
    /// an absent one.
    #[serde(default)]
    user_tag_ids: AtMost<TagId, BATCH>,
    user_phone_number: Option<Phone>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER";
    const NUMBER: u16 = 41;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::User));
    type Plan = User;
    type Outcome = UserResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        distinct(self.user_tag_ids.iter(), "userTagIds")?;
        user::check_email(self.user_email.as_ref(), "userEmail")?;
        let user = view.user(self.user_id)?.clone();
        view.tags_exist(&self.user_tag_ids, TagKind::User)?;
        Ok(user)
    }

    fn execute(self, mut user: User, context: &mut Execution<'_>) -> Result<UserResult, RequestError> {
        user.name = self.user_name.unwrap_or(user.name);
        if self.user_email.is_some() {
            user = user.with_email(self.user_email, false);
        }
        if self.user_phone_number.is_some() {
            (user.phone, user.phone_verified) = (self.user_phone_number, false);
        }
        if !self.user_tag_ids.is_empty() {
            user.tags = self.user_tag_ids.into_vec();
        }
        context.update_user(user);
        Ok(UserResult { user_id: self.user_id })
    }
}
