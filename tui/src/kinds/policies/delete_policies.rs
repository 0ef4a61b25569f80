//! Deletes policies.

use super::rule::describe_deletion;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_POLICIES", "Delete policies", |parameters, context| {
    Ok(describe_deletion(&parameters.texts("policyIds")?, context))
});
