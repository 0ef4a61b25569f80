//! Changes or removes the mail address of a user.

use super::change::MAIL_ADDRESS;
use crate::kinds::prelude::*;
use crate::kinds::shared::verification_token::{TOKEN, TOKEN_HIDDEN};

pub(super) const KIND: Kind = Kind {
    abridged: &[TOKEN],
    hidden: Some((&["ACTIVITY_TYPE_UPDATE_USER_EMAIL"], TOKEN_HIDDEN)),
    ..Kind::new("UPDATE_USER_EMAIL", "Change mail address", |parameters, context| {
        MAIL_ADDRESS.describe(parameters, context)
    })
};
