//! Adds passkeys or security keys to a user.

use super::credential::describe_added;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("CREATE_AUTHENTICATORS", "Add authenticators", |parameters, context| {
        describe_added(parameters, "authenticators", "authenticatorName", "authenticator", context)
    });
