//! Signing: checks which resource signs, not the signature values. This covers lookups by id, address and
//! public key, and disabled keys.

use serde_json::{Value, json};

use super::{Move, text};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::Organization;

/// The requested signer.
struct With {
    name: String,
    is_on_ed25519: bool,
}

/// A resource that can sign.
struct Signer<'a> {
    names: Vec<&'a str>,
    is_on_ed25519: bool,
    is_disabled: bool,
}

fn signers(organization: &Organization) -> Vec<Signer<'_>> {
    let accounts = organization.accounts.iter().map(|account| Signer {
        names: [account.address.as_str()].into_iter().chain(account.public_key.as_deref()).collect(),
        is_on_ed25519: account.derivation.curve == "ED25519",
        is_disabled: false,
    });
    let keys = organization.private_keys.iter().map(|key| {
        let addresses = key.addresses.iter().flatten().map(String::as_str);
        Signer {
            names: addresses.chain([key.id.as_str()]).chain(key.public_key.as_deref()).collect(),
            is_on_ed25519: key.curve == "ED25519",
            is_disabled: key.is_disabled,
        }
    });
    accounts.chain(keys).collect()
}

/// Chooses a signer: mostly of this organization, rarely of another one or an unknown one.
fn with(chooser: &mut Chooser<'_>) -> With {
    let own = signers(chooser.organization());
    let other = signers(chooser.any_organization());
    let signers = if chooser.rarely() { &other } else { &own };
    if let Some(signer) = chooser.choices.pick(signers)
        && let Some(name) = chooser.choices.pick(&signer.names)
        && !chooser.rarely()
    {
        return With { name: (*name).to_owned(), is_on_ed25519: signer.is_on_ed25519 };
    }
    // Possibly a former signer: addresses of deleted accounts are still in `derived`.
    let derived: Vec<&String> =
        chooser.organization().derived.iter().map(|derived| &derived.address).collect();
    let name = match chooser.choices.pick(&derived) {
        Some(address) if chooser.choices.one_in(2) => (*address).clone(),
        _ => chooser.id(&chooser.organization().deleted_ids),
    };
    With { name, is_on_ed25519: false }
}

impl With {
    /// Returns the parameters that signing one and several payloads share.
    fn parameters(&self) -> Value {
        json!({
            "signWith": self.name,
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
            "hashFunction":
                if self.is_on_ed25519 { "HASH_FUNCTION_NOT_APPLICABLE" } else { "HASH_FUNCTION_SHA256" },
        })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let signers = signers(organization);
        match signers.iter().find(|signer| signer.names.contains(&self.name.as_str())) {
            Some(signer) => {
                objections.invalid(signer.is_on_ed25519 != self.is_on_ed25519, "invalid hash function");
                objections.invalid(signer.is_disabled, "");
            }
            None => {
                objections.when(true, Code::NotFound, "Could not find any resource to sign with");
            }
        }
        objections
    }
}

fn assert_signature(reported: &Value) {
    assert_eq!((text(&reported["r"]).len(), text(&reported["s"]).len()), (64, 64), "{reported}");
}

struct Sign(With);

pub(super) fn sign(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Sign(with(chooser)))
}

impl Move for Sign {
    fn name(&self) -> &'static str {
        "SIGN_RAW_PAYLOAD_V2"
    }

    fn result_name(&self) -> &'static str {
        "signRawPayloadResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = self.0.parameters();
        parameters["payload"] = json!("model");
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        self.0.objections(organization)
    }

    fn apply(&self, _organization: &mut Organization, result: &Value) {
        assert_signature(result);
    }
}

struct SignSeveral {
    with: With,
    payloads: Vec<String>,
}

pub(super) fn sign_several(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let with = with(chooser);
    let wrong = chooser.one(&[0, 101]);
    let count = if chooser.rarely() { wrong } else { chooser.one(&[1, 2, 3, 5]) };
    // Payloads may repeat: each is signed.
    let payloads = (0..count).map(|number| format!("model {}", number / 2)).collect();
    Box::new(SignSeveral { with, payloads })
}

impl Move for SignSeveral {
    fn name(&self) -> &'static str {
        "SIGN_RAW_PAYLOADS"
    }

    fn result_name(&self) -> &'static str {
        "signRawPayloadsResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = self.with.parameters();
        parameters["payloads"] = json!(self.payloads);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = self.with.objections(organization);
        objections.batch(&self.payloads);
        objections
    }

    fn apply(&self, _organization: &mut Organization, result: &Value) {
        let signatures = result["signatures"].as_array().expect("a list of signatures");
        assert_eq!(signatures.len(), self.payloads.len(), "{result}");
        signatures.iter().for_each(assert_signature);
    }
}
