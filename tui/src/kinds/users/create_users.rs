//! Adds users with their first credentials.

use crate::kinds::prelude::*;
use crate::kinds::shared::new_user::describe_added;

pub(super) const KIND: Kind = Kind::new("CREATE_USERS", "Create users", |parameters, context| {
    describe_added(&parameters.list("users")?, context)
});
