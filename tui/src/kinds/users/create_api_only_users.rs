//! Adds users whose only credentials are API keys.

use crate::kinds::prelude::*;
use crate::kinds::shared::new_user::describe_added;

pub(super) const KIND: Kind =
    Kind::new("CREATE_API_ONLY_USERS", "Create API users", |parameters, context| {
        describe_added(&parameters.list("apiOnlyUsers")?, context)
    });
