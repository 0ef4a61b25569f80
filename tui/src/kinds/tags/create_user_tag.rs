//! Creates a tag and adds it to users.

use super::tag::USERS;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("CREATE_USER_TAG", "Create user tag", |parameters, context| {
    USERS.describe_creation(parameters, "userTagName", "userIds", context)
});
