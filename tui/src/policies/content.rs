//! What policies may ask about that which a request would sign, read here from its bytes.

use std::collections::BTreeMap;

use quorate_chain::address::AddressFormat;
use quorate_chain::transaction::{Signer, TransactionType, Unsigned};
use quorate_chain::{Curve, PublicKey};
use quorate_common::console::OrganizationDetail;
use quorate_policy::Value;
use quorate_policy::request::{Named, kind_of, named_of};
use serde_json::Value as Json;

use super::Looked;

/// Roots and their facts; none of a request that signs nothing that is decoded. The error says why it cannot be read.
pub(super) fn of(
    activity_type: &str,
    members: &BTreeMap<String, Json>,
    organization: &OrganizationDetail,
    looked: &Looked,
) -> Result<Vec<(String, Value)>, String> {
    if kind_of(activity_type) != "SIGN_TRANSACTION" {
        return Ok(Vec::new());
    }
    let text = |name: &str| members.get(name).and_then(Json::as_str).unwrap_or_default();
    let kind = TransactionType::from_name(text("type")).ok_or("invalid transaction type")?;
    let transaction = Unsigned::read(kind, text("unsignedTransaction")).map_err(|flaw| flaw.to_string())?;
    let (key, format) = signer(activity_type, members, organization, looked).ok_or("its key is not known")?;
    let signable = transaction.for_signer(&Signer { key: &key, format }).map_err(|flaw| flaw.to_string())?;
    let (root, value) = signable.facts();
    Ok(vec![(root.to_owned(), value)])
}

/// The key that would sign, and the format of the address by which it is named, if it is named by one.
fn signer(
    activity_type: &str,
    members: &BTreeMap<String, Json>,
    organization: &OrganizationDetail,
    looked: &Looked,
) -> Option<(PublicKey, Option<AddressFormat>)> {
    let (curve, public_key, format) = match named_of(activity_type) {
        Named::Signer(member) => {
            let name = members.get(member)?.as_str()?;
            let found = looked.get(name)?;
            match (&found.wallet_account, &found.private_key) {
                (Some(account), _) => {
                    let format = (account.address == name).then_some(account.address_format.as_str());
                    (account.curve.as_str(), account.public_key.as_deref()?, format)
                }
                (None, key) => {
                    let key = key.as_ref()?;
                    let named = key.addresses.iter().find(|one| one.address == name);
                    let format = named.map(|one| one.format.as_str());
                    (key.curve.as_str(), key.public_key.as_str(), format)
                }
            }
        }
        Named::PrivateKey(member) => {
            let id = members.get(member)?.as_str()?;
            let mut keys = organization.private_keys.iter();
            let key = keys.find(|key| key.private_key_id.to_string() == id)?;
            (key.curve.as_str(), key.public_key.as_str(), None)
        }
        _ => return None,
    };
    let key = PublicKey::from_hex(Curve::from_name(curve)?, public_key).ok()?;
    Some((key, format.and_then(AddressFormat::from_name)))
}
