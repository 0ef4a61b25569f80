//! Verification tokens, which prove a contact. The daemon stores none of them.

use crate::kinds::Replacement;
use crate::kinds::prelude::*;

/// Phrase that names what the daemon hides.
pub(in crate::kinds) const TOKEN_HIDDEN: &str = "the daemon hides the verification token";

/// Member whose value is not shown.
pub(in crate::kinds) const TOKEN: (&str, Replacement) =
    ("verificationToken", |_| Some("(hidden)".to_owned()));

/// Returns whether a token is used. A stored activity contains an empty text instead of the token.
pub(in crate::kinds) fn is_given(parameters: &Reader<'_>) -> bool {
    parameters.has("verificationToken")
}
