//! What policies may ask about that which a request would sign, read here from its bytes.

use std::collections::BTreeMap;

use quorate_chain::fact::Fact;
use quorate_chain::transaction::{TransactionType, Unsigned};
use quorate_chain::{Curve, PublicKey};
use quorate_common::console::OrganizationDetail;
use quorate_policy::request::{Named, kind_of, named_of};
use quorate_policy::{Integer, Value};
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
    let signer = signer(activity_type, members, organization, looked).ok_or("its key is not known")?;
    transaction.message(signer.curve()).map_err(|flaw| flaw.to_string())?;
    let (root, fact) = transaction.facts(&signer);
    Ok(vec![(root.to_owned(), value(fact))])
}

/// The key that would sign.
fn signer(
    activity_type: &str,
    members: &BTreeMap<String, Json>,
    organization: &OrganizationDetail,
    looked: &Looked,
) -> Option<PublicKey> {
    let (curve, public_key) = match named_of(activity_type) {
        Named::Signer(member) => {
            let found = looked.get(members.get(member)?.as_str()?)?;
            match (&found.wallet_account, &found.private_key) {
                (Some(account), _) => (account.curve.as_str(), account.public_key.as_deref()?),
                (None, key) => key.as_ref().map(|key| (key.curve.as_str(), key.public_key.as_str()))?,
            }
        }
        Named::PrivateKey(member) => {
            let id = members.get(member)?.as_str()?;
            let mut keys = organization.private_keys.iter();
            let key = keys.find(|key| key.private_key_id.to_string() == id)?;
            (key.curve.as_str(), key.public_key.as_str())
        }
        _ => return None,
    };
    PublicKey::from_hex(Curve::from_name(curve)?, public_key).ok()
}

/// A fact as policies read it. Numbers beyond what they can read are refused when they are asked for.
fn value(fact: Fact) -> Value {
    match fact {
        Fact::Text(text) => Value::text(text),
        Fact::Folded(text) => Value::folded(text),
        Fact::Number(bytes) => Integer::from_be_bytes(&bytes).map_or(Value::Unreadable, Value::int),
        Fact::Record(members) => Value::record(members.into_iter().map(|(name, fact)| (name, value(fact)))),
    }
}
