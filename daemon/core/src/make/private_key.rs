//! Private keys: what must hold of new ones, and how they come about.

use quorate_chain::address::{AddressFlaw, address};
use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::bounded::AtMost;
use quorate_common::ids::PrivateKeyId;
use quorate_common::wire::Address;

use crate::cx::Cx;
use crate::model::layout::SecretOf;
use crate::model::{Change, PrivateKey};
use crate::params::PrivateKeyParams;
use crate::params::keys::PrivateKeyResult;
use crate::refusal::{Clash, Corrupt, Intent, Refusal};
use crate::secret::SecretBytes;
use crate::view::{View, distinct};

/// Names differ within the request, and each address format fits its curve and stands once.
pub fn check(keys: &[PrivateKeyParams]) -> Result<(), Refusal> {
    distinct(keys.iter().map(|key| key.private_key_name.as_str()), "privateKeys")?;
    for key in keys {
        distinct(key.address_formats.iter().map(|format| format.name()), "addressFormats")?;
        if !key.address_formats.iter().all(|format| format.fits(key.curve)) {
            return Err(Intent::Text("invalid address format").into());
        }
    }
    Ok(())
}

/// A private key as described, as changes and as a result tells of it.
pub fn private_key(
    params: PrivateKeyParams,
    cx: &mut Cx<'_, '_>,
) -> Result<(Vec<Change>, PrivateKeyResult), Refusal> {
    let secret = SecretKey::generate(params.curve, cx.entropy())
        .map_err(|_| Corrupt::Invariant("the random source gives no key"))?;
    keep(params, &secret, false, cx)
}

/// Reads a private key that somebody brings in: 32 bytes. It must not have been imported before.
pub fn imported(curve: Curve, bytes: &[u8], view: &View<'_>) -> Result<SecretKey, Refusal> {
    let invalid = || Intent::Text("invalid private key");
    let bytes: &[u8; 32] = bytes.try_into().map_err(|_| invalid())?;
    let secret = SecretKey::from_bytes(curve, bytes).map_err(|_| invalid())?;
    let public_key = secret.public().compressed_hex();
    let same = |key: &&PrivateKey| key.imported && key.curve == curve && key.public_key == public_key;
    match view.organization.private_keys().find(same) {
        Some(known) => Err(Clash::ImportedKey(known.id.to_string()).into()),
        None => Ok(secret),
    }
}

/// A private key with this secret, as changes and as a result tells of it.
pub fn keep(
    params: PrivateKeyParams,
    secret: &SecretKey,
    imported: bool,
    cx: &mut Cx<'_, '_>,
) -> Result<(Vec<Change>, PrivateKeyResult), Refusal> {
    let now = cx.now();
    let mut addresses = Vec::with_capacity(params.address_formats.len());
    for format in &params.address_formats {
        let address = address(*format, secret.public())
            .map_err(|AddressFlaw::UnfitCurve| Refusal::from(Intent::Text("invalid address format")))?;
        addresses.push(Address { format: format.name().to_owned(), address });
    }
    let id = PrivateKeyId::random(cx.random());
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
