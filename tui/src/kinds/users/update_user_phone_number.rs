//! Changes or removes the telephone number of a user.

use super::change::TELEPHONE_NUMBER;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("UPDATE_USER_PHONE_NUMBER", "Change telephone number", |parameters, context| {
        TELEPHONE_NUMBER.describe(parameters, context)
    });
