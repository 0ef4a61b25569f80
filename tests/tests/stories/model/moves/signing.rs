//! Signatures: not the numbers, but whether what is named signs. This is how lookups by id, address and public
//! key are seen, and that a disabled key is.

use serde_json::{Value, json};

use super::{Move, text};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::Organization;

struct Sign {
    with: String,
    is_on_ed25519: bool,
}

/// A thing that signs.
struct Signer<'a> {
    names: Vec<&'a str>,
    is_on_ed25519: bool,
    is_disabled: bool,
}

fn signers(organization: &Organization) -> Vec<Signer<'_>> {
    let accounts = organization.accounts.iter().map(|account| Signer {
        names: [account.address.as_str()].into_iter().chain(account.public_key.as_deref()).collect(),
        is_on_ed25519: account.place.curve == "ED25519",
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

pub(super) fn sign(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let here = signers(chooser.here());
    let elsewhere = chooser.choices.below(chooser.world.organizations.len());
    let elsewhere = signers(&chooser.world.organizations[elsewhere]);
    let signers = if chooser.seldom() { &elsewhere } else { &here };
    if let Some(signer) = chooser.choices.pick(signers)
        && let Some(with) = chooser.choices.pick(&signer.names)
        && !chooser.seldom()
    {
        return Box::new(Sign { with: (*with).to_owned(), is_on_ed25519: signer.is_on_ed25519 });
    }
    // What once was signed with, perhaps: deleted accounts leave the addresses of their places.
    let derived: Vec<&String> = chooser.here().derived.iter().map(|derived| &derived.address).collect();
    let with = match chooser.choices.pick(&derived) {
        Some(address) if chooser.choices.one_in(2) => (*address).clone(),
        _ => chooser.id(&chooser.here().gone),
    };
    Box::new(Sign { with, is_on_ed25519: false })
}

impl Move for Sign {
    fn name(&self) -> &'static str {
        "SIGN_RAW_PAYLOAD_V2"
    }

    fn result_name(&self) -> &'static str {
        "signRawPayloadResult"
    }

    fn parameters(&self) -> Value {
        json!({
            "signWith": self.with,
            "payload": "model",
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
            "hashFunction":
                if self.is_on_ed25519 { "HASH_FUNCTION_NOT_APPLICABLE" } else { "HASH_FUNCTION_SHA256" },
        })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let signers = signers(organization);
        match signers.iter().find(|signer| signer.names.contains(&self.with.as_str())) {
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

    fn happen(&self, _organization: &mut Organization, result: &Value) {
        assert_eq!((text(&result["r"]).len(), text(&result["s"]).len()), (64, 64), "{result}");
    }
}
