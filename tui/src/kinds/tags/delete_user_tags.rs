//! Deletes tags of users.

use super::tag::USERS;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_USER_TAGS", "Delete user tags", |parameters, context| {
    USERS.describe_deletion(parameters, "userTagIds", context)
});
