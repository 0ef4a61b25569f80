//! What kinds of several nouns share.

pub(super) mod endpoint;
pub(super) mod key_deletion;
pub(super) mod key_export;
pub(super) mod key_import;
pub(super) mod message;
pub(super) mod new_key;
pub(super) mod new_user;
pub(super) mod read_by_policies;
pub(super) mod verification_token;
