//! Deletes a policy.

use super::rule::describe_deletion;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("DELETE_POLICY", "Delete policy", |parameters, context| {
    Ok(describe_deletion(&[parameters.text("policyId")?], context))
});
