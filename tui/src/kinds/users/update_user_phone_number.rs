//! Changes or removes the telephone number of a user.

use super::change::TELEPHONE_NUMBER;
use crate::kinds::prelude::*;
use crate::kinds::shared::verification_token::{TOKEN, TOKEN_HIDDEN};

pub(super) const KIND: Kind = Kind {
    abridged: &[TOKEN],
    hidden: Some((&["ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER"], TOKEN_HIDDEN)),
    ..Kind::new("UPDATE_USER_PHONE_NUMBER", "Change telephone number", |parameters, context| {
        TELEPHONE_NUMBER.describe(parameters, context)
    })
};
