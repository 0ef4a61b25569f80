//! The key that a request to sign names.

use crate::kinds::prelude::*;

/// The key that would sign.
pub(super) struct Key<'a> {
    /// The key as sentences name it, cleaned.
    pub(super) signer: String,
    /// An address, a public key or another name of the key.
    pub(super) text: &'a str,
    /// Name of the key in the request.
    pub(super) name: &'a str,
    /// Whether only the daemon states that this is the public key of the signer.
    pub(super) is_stated: bool,
}

impl<'a> Key<'a> {
    /// Returns the key that the parameters name.
    pub(super) fn read(parameters: &Reader<'a>, context: &ReviewContext<'a>) -> Result<Self> {
        let name = match parameters.maybe_text("signWith")? {
            Some(name) => name,
            None => parameters.text("privateKeyId")?,
        };
        Ok(Self::of(name, context))
    }

    /// Returns the key with this name, which may be the id of a private key.
    pub(super) fn of(name: &'a str, context: &ReviewContext<'a>) -> Self {
        let stated = context.private_key(name).map(|key| key.public_key.as_str());
        let signer = context.signer_named(name);
        Self { signer, text: stated.unwrap_or(name), name, is_stated: stated.is_some() }
    }
}
