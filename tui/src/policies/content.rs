//! What policies may ask about that which a request would sign, read here from its bytes, or take out.

use std::collections::BTreeMap;

use quorate_chain::address::AddressFormat;
use quorate_chain::payload::{HashFunction, Payload, PayloadEncoding};
use quorate_chain::transaction::{Signer, TransactionType, Unsigned};
use quorate_chain::{Curve, PublicKey};
use quorate_common::console::OrganizationDetail;
use quorate_policy::Value;
use quorate_policy::request::{Named, kind_of, named_of};
use serde_json::Value as Json;

use super::Looked;
use crate::contracts::Stated;

/// A root and its facts.
pub(super) type Content = (String, Value);

/// One for each thing that is signed or taken out and judged by itself; none of a request that signs nothing that is
/// decoded. The error says why it cannot be read.
pub(super) fn of(
    activity_type: &str,
    members: &BTreeMap<String, Json>,
    organization: &OrganizationDetail,
    looked: &Looked,
) -> Result<Vec<Content>, String> {
    let signer = || signer(activity_type, members, organization, looked).ok_or("its key is not known");
    let payloads = |texts: &[&str]| {
        let (key, _) = signer()?;
        let contents = texts.iter().map(|text| payload(key.curve(), members, text));
        contents.filter_map(Result::transpose).collect()
    };
    match kind_of(activity_type) {
        "SIGN_TRANSACTION" => {
            let kind = TransactionType::from_name(text(members, "type")).ok_or("invalid transaction type")?;
            let read = Unsigned::read(kind, text(members, "unsignedTransaction"));
            let transaction = read.map_err(|flaw| flaw.to_string())?;
            let (key, format) = signer()?;
            let signable = transaction.for_signer(&Signer { key: &key, format });
            let interfaces = Stated::of(looked.values().filter_map(|found| found.contract.as_ref()));
            let (root, value) = signable.map_err(|flaw| flaw.to_string())?.facts(&interfaces);
            Ok(vec![(root.to_owned(), value)])
        }
        "SIGN_RAW_PAYLOAD" if says_more(members) => payloads(&[text(members, "payload")]),
        "SIGN_RAW_PAYLOADS" if says_more(members) => {
            let given = members.get("payloads").and_then(Json::as_array).map(Vec::as_slice);
            let texts = given.unwrap_or_default().iter().map(|text| text.as_str().unwrap_or_default());
            payloads(&texts.collect::<Vec<_>>())
        }
        "EXPORT_SECRETS" => {
            let asked = members.get("secrets").and_then(Json::as_array).map(Vec::as_slice);
            let ids =
                asked.unwrap_or_default().iter().map(|one| one["secretId"].as_str().unwrap_or_default());
            ids.map(|id| secret(organization, id)).collect()
        }
        _ => Ok(Vec::new()),
    }
}

fn secret(organization: &OrganizationDetail, id: &str) -> Result<Content, String> {
    let found = organization.secrets.iter().find(|one| one.secret_id.to_string() == id);
    let found = found.ok_or_else(|| format!("there is no secret {id}"))?;
    let properties = found.static_properties.iter().map(|one| (one.key.as_str(), one.value.as_str()));
    Ok(quorate_policy::request::secret(properties))
}

fn text<'m>(members: &'m BTreeMap<String, Json>, name: &str) -> &'m str {
    members.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// Whether the encoding of payloads says more of them than that they are bytes.
fn says_more(members: &BTreeMap<String, Json>) -> bool {
    let encoding = PayloadEncoding::from_name(text(members, "encoding"));
    matches!(encoding, Some(PayloadEncoding::Eip712 | PayloadEncoding::Eip7702Authorization))
}

fn payload(curve: Curve, members: &BTreeMap<String, Json>, payload: &str) -> Result<Option<Content>, String> {
    let encoding = PayloadEncoding::from_name(text(members, "encoding")).ok_or("invalid payload encoding")?;
    let hash = HashFunction::from_name(text(members, "hashFunction")).ok_or("invalid hash function")?;
    let payload = Payload::read(curve, encoding, hash, payload).map_err(|flaw| flaw.to_string())?;
    Ok(payload.facts().map(|(root, value)| (root.to_owned(), value)))
}

/// The addresses of the contracts that it calls; none of a request that signs nothing that is decoded.
pub(super) fn contracts(activity_type: &str, members: &BTreeMap<String, Json>) -> Vec<String> {
    if kind_of(activity_type) != "SIGN_TRANSACTION" {
        return Vec::new();
    }
    let kind = TransactionType::from_name(text(members, "type"));
    let read = kind.and_then(|kind| Unsigned::read(kind, text(members, "unsignedTransaction")).ok());
    read.map(|transaction| transaction.contracts()).unwrap_or_default()
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
