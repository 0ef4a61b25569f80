//! Changes or removes the mail address of a user.

use super::change::MAIL_ADDRESS;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_USER_EMAIL", "Change mail address", |parameters, context| {
    MAIL_ADDRESS.describe(parameters, context)
});
