//! Facts for policies about the content that a request signs or exports, parsed here from its bytes.

use std::collections::BTreeMap;

use quorate_chain::address::AddressFormat;
use quorate_chain::payload::{HashFunction, Payload, PayloadEncoding};
use quorate_chain::transaction::{Signer, TransactionType, Unsigned};
use quorate_chain::{Curve, PublicKey};
use quorate_common::console::OrganizationDetail;
use quorate_policy::Value;
use quorate_policy::request::{ObjectReference, kind_of, reference_of};
use serde_json::Value as Json;

use crate::contracts::StatedInterfaces;

/// Resolved names of a request: addresses, keys and contracts.
pub(crate) type ResolvedNames = BTreeMap<String, quorate_common::console::Signer>;

/// The name of a root in the policy language, and its facts.
pub(super) type Content = (String, Value);

/// Returns the content of each transaction, payload or secret that policies judge separately. Empty for a
/// request that signs nothing that can be decoded.
///
/// # Errors
///
/// Fails with the reason if the content cannot be decoded.
pub(super) fn of(
    activity_type: &str,
    members: &BTreeMap<String, Json>,
    organization: &OrganizationDetail,
    resolved: &ResolvedNames,
) -> Result<Vec<Content>, String> {
    let signer =
        || signer(activity_type, members, organization, resolved).ok_or("the signing key is unknown");
    let payloads = |texts: &[&str]| {
        let (key, _) = signer()?;
        let contents = texts.iter().map(|text| payload(key.curve(), members, text));
        contents.filter_map(Result::transpose).collect()
    };
    match kind_of(activity_type) {
        "SIGN_TRANSACTION" => {
            let kind = TransactionType::from_name(text(members, "type")).ok_or("invalid transaction type")?;
            let read = Unsigned::read(kind, text(members, "unsignedTransaction"));
            let transaction = read.map_err(|error| error.to_string())?;
            let (key, format) = signer()?;
            let signable = transaction.for_signer(&Signer { key: &key, format });
            let interfaces =
                StatedInterfaces::of(resolved.values().filter_map(|found| found.contract.as_ref()));
            let (root, value) = signable.map_err(|error| error.to_string())?.facts(&interfaces);
            Ok(vec![(root.to_owned(), value)])
        }
        "SIGN_RAW_PAYLOAD" if is_structured(members) => payloads(&[text(members, "payload")]),
        "SIGN_RAW_PAYLOADS" if is_structured(members) => {
            let payload_list = members.get("payloads").and_then(Json::as_array).map(Vec::as_slice);
            let texts = payload_list.unwrap_or_default().iter().map(|text| text.as_str().unwrap_or_default());
            payloads(&texts.collect::<Vec<_>>())
        }
        "EXPORT_SECRETS" => {
            let secret_list = members.get("secrets").and_then(Json::as_array).map(Vec::as_slice);
            let ids = secret_list
                .unwrap_or_default()
                .iter()
                .map(|one| one["secretId"].as_str().unwrap_or_default());
            ids.map(|id| secret(organization, id)).collect()
        }
        _ => Ok(Vec::new()),
    }
}

fn secret(organization: &OrganizationDetail, id: &str) -> Result<Content, String> {
    let found = organization.secrets.iter().find(|one| one.secret_id.to_string() == id);
    let found = found.ok_or_else(|| format!("secret {id} does not exist"))?;
    let properties = found.static_properties.iter().map(|one| (one.key.as_str(), one.value.as_str()));
    Ok(quorate_policy::request::secret(properties))
}

fn text<'m>(members: &'m BTreeMap<String, Json>, name: &str) -> &'m str {
    members.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Returns whether the encoding gives payloads more meaning than plain bytes.
fn is_structured(members: &BTreeMap<String, Json>) -> bool {
    let encoding = PayloadEncoding::from_name(text(members, "encoding"));
    matches!(encoding, Some(PayloadEncoding::Eip712 | PayloadEncoding::Eip7702Authorization))
}

fn payload(curve: Curve, members: &BTreeMap<String, Json>, payload: &str) -> Result<Option<Content>, String> {
    let encoding = PayloadEncoding::from_name(text(members, "encoding")).ok_or("invalid payload encoding")?;
    let hash = HashFunction::from_name(text(members, "hashFunction")).ok_or("invalid hash function")?;
    let payload = Payload::read(curve, encoding, hash, payload).map_err(|error| error.to_string())?;
    Ok(payload.facts().map(|(root, value)| (root.to_owned(), value)))
}

/// Returns the addresses of the contracts that a request calls. Empty for a request that signs no decodable
/// transaction.
pub(super) fn contracts(activity_type: &str, members: &BTreeMap<String, Json>) -> Vec<String> {
    if kind_of(activity_type) != "SIGN_TRANSACTION" {
        return Vec::new();
    }
    let kind = TransactionType::from_name(text(members, "type"));
    let read = kind.and_then(|kind| Unsigned::read(kind, text(members, "unsignedTransaction")).ok());
    read.map(|transaction| transaction.contracts()).unwrap_or_default()
}

/// Returns the key that would sign, and the format of the address that names it, if an address does.
fn signer(
    activity_type: &str,
    members: &BTreeMap<String, Json>,
    organization: &OrganizationDetail,
    resolved: &ResolvedNames,
) -> Option<(PublicKey, Option<AddressFormat>)> {
    let (curve, public_key, format) = match reference_of(activity_type) {
        ObjectReference::Signer(member) => {
            let name = members.get(member)?.as_str()?;
            let found = resolved.get(name)?;
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
        ObjectReference::PrivateKey(member) => {
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
