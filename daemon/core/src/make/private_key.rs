//! Validates, generates and imports private keys.

use quorate_chain::address::{AddressError, address};
use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::bounded::AtMost;
use quorate_common::ids::PrivateKeyId;
use quorate_common::wire::Address;

use crate::error::{Conflict, Corrupt, Intent, RequestError};
use crate::execution::Execution;
use crate::model::layout::SecretOf;
use crate::model::{Change, PrivateKey};
use crate::params::PrivateKeyParams;
use crate::params::keys::PrivateKeyResult;
use crate::secret::SecretBytes;
use crate::view::{View, distinct};

/// Checks that names are unique within the request, and that each address format fits its curve and occurs
/// once.
///
/// # Errors
/// If a name or an address format occurs twice, or a format does not fit its curve.
pub fn check(keys: &[PrivateKeyParams]) -> Result<(), RequestError> {
    distinct(keys.iter().map(|key| key.private_key_name.as_str()), "privateKeys")?;
    for key in keys {
        distinct(key.address_formats.iter().map(|format| format.name()), "addressFormats")?;
        if !key.address_formats.iter().all(|format| format.fits(key.curve)) {
            return Err(Intent::Text("invalid address format").into());
        }
    }
    Ok(())
}

/// Generates a private key; returns the changes that store it, and its result.
///
/// # Errors
/// If the source of randomness yields no valid key, or an address format does not fit the curve.
pub fn private_key(
    params: PrivateKeyParams,
    context: &mut Execution<'_>,
) -> Result<(Vec<Change>, PrivateKeyResult), RequestError> {
    let secret = SecretKey::generate(params.curve, context.entropy())
        .map_err(|_| Corrupt::Invariant("the source of randomness yields no valid key"))?;
    from_secret(params, &secret, false, context)
}

/// Parses an imported private key of 32 bytes.
///
/// # Errors
/// If it is not a secret key of the curve, or was imported before.
pub fn parse_imported(curve: Curve, bytes: &[u8], view: &View<'_>) -> Result<SecretKey, RequestError> {
    let invalid = || Intent::Text("invalid private key");
    let bytes: &[u8; 32] = bytes.try_into().map_err(|_| invalid())?;
    let secret = SecretKey::from_bytes(curve, bytes).map_err(|_| invalid())?;
    let public_key = secret.public().compressed_hex();
    let same = |key: &&PrivateKey| key.imported && key.curve == curve && key.public_key == public_key;
    match view.organization.private_keys().find(same) {
        Some(known) => Err(Conflict::ImportedKey(known.id.to_string()).into()),
        None => Ok(secret),
    }
}

/// Creates a private key with this secret; returns the changes that store it, and its result.
///
/// # Errors
/// If an address format does not fit the curve.
pub fn from_secret(
    params: PrivateKeyParams,
    secret: &SecretKey,
    imported: bool,
    context: &mut Execution<'_>,
) -> Result<(Vec<Change>, PrivateKeyResult), RequestError> {
    let now = context.now();
    let mut addresses = Vec::with_capacity(params.address_formats.len());
    for format in &params.address_formats {
        let address = address(*format, secret.public()).map_err(|AddressError::UnsupportedCurve| {
            RequestError::from(Intent::Text("invalid address format"))
        })?;
        addresses.push(Address { format: format.name().to_owned(), address });
    }
    let id = PrivateKeyId::random(context.random());
    let result = PrivateKeyResult { private_key_id: id, addresses: AtMost::cut(addresses.clone()) };
    let key = PrivateKey {
        id,
        name: params.private_key_name,
        curve: params.curve,
        public_key: secret.public().compressed_hex(),
        addresses,
        tags: params.private_key_tags.into_vec(),
        exported: false,
        imported,
        disabled: false,
        created: now,
        updated: now,
    };
    let secret = Change::AddSecret(SecretOf::PrivateKey(id), SecretBytes::private_key(secret));
    Ok((vec![Change::AddPrivateKey(key), secret], result))
}
