//! Private keys: created, disabled, deleted.

use serde_json::{Value, json};

use super::{Move, deletion, new_ids, text, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::world::{Organization, PrivateKey, Tagged};

const PRIVATE_KEYS: usize = 1000;
const UNKNOWN_KEY: &str = "no private key found";

/// A private key to create.
pub(super) struct NewPrivateKey {
    name: String,
    curve: &'static str,
    formats: Vec<&'static str>,
    tags: Vec<String>,
    /// Whether it requests an address format that its curve does not have.
    is_mismatched: bool,
}

/// Address formats by curve.
const FORMATS: [(&str, &[&str]); 3] = [
    ("SECP256K1", &["ETHEREUM", "COMPRESSED", "UNCOMPRESSED", "BITCOIN_MAINNET_P2WPKH"]),
    ("ED25519", &["SOLANA", "COMPRESSED"]),
    ("P256", &["UNCOMPRESSED", "COMPRESSED"]),
];

impl NewPrivateKey {
    /// Chooses a private key. A new organization has no tags.
    pub(super) fn choose(chooser: &mut Chooser<'_>, has_tags: bool) -> Self {
        let (curve, formats) = chooser.one(&FORMATS);
        let is_mismatched = chooser.rarely();
        let count = chooser.choices.below(formats.len() + 1);
        let mut formats: Vec<&str> = formats.iter().copied().take(count).collect();
        if is_mismatched {
            formats.push(if curve == "ED25519" { "ETHEREUM" } else { "SOLANA" });
        }
        let tags = chooser.organization().tag_ids(Tagged::PrivateKeys);
        let name = chooser.name("private key");
        let tags = if has_tags { chooser.optional_ids(&tags) } else { Vec::new() };
        Self { name, curve, formats, tags, is_mismatched }
    }

    /// Returns the JSON of the request.
    pub(super) fn json(&self) -> Value {
        let formats: Vec<String> = self.formats.iter().map(|name| format!("ADDRESS_FORMAT_{name}")).collect();
        json!({
            "privateKeyName": self.name,
            "curve": format!("CURVE_{}", self.curve),
            "privateKeyTags": self.tags,
            "addressFormats": formats,
        })
    }

    /// Returns the entry in the model.
    pub(super) fn to_model(&self, id: String, addresses: Option<&Value>) -> PrivateKey {
        let addresses = addresses.map(|addresses| {
            let list = addresses.as_array().expect("a list of addresses");
            let formats: Vec<String> = list.iter().map(|address| text(&address["format"])).collect();
            let requested: Vec<String> =
                self.formats.iter().map(|name| format!("ADDRESS_FORMAT_{name}")).collect();
            assert_eq!(formats, requested, "addresses are in the requested order");
            list.iter().map(|address| text(&address["address"])).collect()
        });
        PrivateKey {
            id,
            name: self.name.clone(),
            curve: self.curve,
            formats: self.formats.clone(),
            addresses,
            public_key: None,
            tags: self.tags.iter().cloned().collect(),
            is_disabled: false,
        }
    }
}

/// Adds the objections to creating these private keys.
pub(super) fn object_to_keys(
    objections: &mut Objections,
    organization: &Organization,
    keys: &[NewPrivateKey],
) {
    for key in keys {
        objections.free_label(&key.name, organization.private_keys.iter().map(|key| key.name.as_str()));
        objections.invalid(key.is_mismatched, "invalid address format");
        let is_tag = |id: &str| organization.tag(Tagged::PrivateKeys, id).is_some();
        objections.tags_exist(&key.tags, is_tag, "no private key tag found");
    }
    objections.distinct(&keys.iter().map(|key| &key.name).collect::<Vec<_>>());
    objections.capacity(organization.private_keys.len(), keys.len(), PRIVATE_KEYS, "");
}

/// Returns the private keys of a result.
pub(super) fn to_model(keys: &[NewPrivateKey], reported: &Value) -> Vec<PrivateKey> {
    let reported = reported.as_array().expect("a list of private keys");
    assert_eq!(reported.len(), keys.len(), "as many as requested");
    let pairs = keys.iter().zip(reported);
    pairs
        .map(|(key, reported)| key.to_model(text(&reported["privateKeyId"]), Some(&reported["addresses"])))
        .collect()
}

struct Create {
    keys: Vec<NewPrivateKey>,
    is_first_version: bool,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let is_first_version = chooser.choices.one_in(3);
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 2, 2, 3]);
    let keys = (0..count).map(|_| NewPrivateKey::choose(chooser, true)).collect();
    Box::new(Create { keys, is_first_version })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        if self.is_first_version { "CREATE_PRIVATE_KEYS" } else { "CREATE_PRIVATE_KEYS_V2" }
    }

    fn result_name(&self) -> &'static str {
        if self.is_first_version { "createPrivateKeysResult" } else { "createPrivateKeysResultV2" }
    }

    fn parameters(&self) -> Value {
        json!({ "privateKeys": self.keys.iter().map(NewPrivateKey::json).collect::<Vec<_>>() })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.keys);
        object_to_keys(&mut objections, organization, &self.keys);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        if self.is_first_version {
            let ids = new_ids(&result["privateKeyIds"], self.keys.len());
            organization
                .private_keys
                .extend(self.keys.iter().zip(ids).map(|(key, id)| key.to_model(id, None)));
        } else {
            organization.private_keys.extend(to_model(&self.keys, &result["privateKeys"]));
        }
    }
}

struct Disable {
    id: String,
}

pub(super) fn disable(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Disable { id: chooser.id(&chooser.organization().private_key_ids()) })
}

impl Move for Disable {
    fn name(&self) -> &'static str {
        "DISABLE_PRIVATE_KEY"
    }

    fn result_name(&self) -> &'static str {
        "disablePrivateKeyResult"
    }

    fn parameters(&self) -> Value {
        json!({ "privateKeyId": self.id })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.exists(&self.id, organization.private_key(&self.id).is_some(), UNKNOWN_KEY);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["privateKeyId"], self.id.as_str());
        let key = organization.private_keys.iter_mut().find(|key| key.id == self.id);
        key.expect("an existing private key").is_disabled = true;
    }
}

struct Delete {
    ids: Vec<String>,
    without_export: Option<bool>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let ids = chooser.ids(&chooser.organization().private_key_ids());
    Box::new(Delete { ids, without_export: chooser.without_export() })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_PRIVATE_KEYS"
    }

    fn result_name(&self) -> &'static str {
        "deletePrivateKeysResult"
    }

    fn parameters(&self) -> Value {
        deletion("privateKeyIds", &self.ids, self.without_export)
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.ids);
        objections.all_exist(&self.ids, |id| organization.private_key(id).is_some(), UNKNOWN_KEY);
        let is_not_exported = self.without_export != Some(true);
        objections.invalid(is_not_exported, "private key has not been exported");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(texts(&result["privateKeyIds"]), self.ids);
        organization.private_keys.retain(|key| !self.ids.contains(&key.id));
        organization.deleted_ids.extend(self.ids.iter().cloned());
    }
}
