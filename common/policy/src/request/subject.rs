//! The objects that a request is about, and their roots.

use crate::number::Integer;
use crate::value::Value;

/// A wallet, as conditions read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// Id, readable as `wallet.id`.
    pub id: String,
    /// Name, readable as `wallet.label`.
    pub label: String,
    /// Whether the wallet was imported.
    pub imported: bool,
    /// Whether the wallet was exported.
    pub exported: bool,
}

/// A private key, as conditions read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateKey {
    /// Id, readable as `private_key.id`.
    pub id: String,
    /// Name, readable as `private_key.label`.
    pub label: String,
    /// Ids of the tags.
    pub tags: Vec<String>,
    /// Whether the key was imported.
    pub imported: bool,
    /// Whether the key was exported.
    pub exported: bool,
}

/// A wallet account, as conditions read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletAccount {
    /// Address, as stored.
    pub address: String,
    /// Id of the wallet.
    pub wallet_id: String,
    /// Derivation of the key; present only for requests whose conditions may read it.
    pub derivation: Option<Derivation>,
}

/// The derivation of a key from a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// BIP-32 path, such as `m/44'/60'/0'/0/0`.
    pub path: String,
    /// Curve on the wire, `CURVE_…`.
    pub curve: String,
    /// Address format on the wire, `ADDRESS_FORMAT_…`.
    pub address_format: String,
}

/// The objects that a request is about. A batch has one subject for each item that is decided on separately.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// Wallet that the request uses.
    pub wallet: Option<Wallet>,
    /// Wallets of a request that is about several wallets together.
    pub wallets: Vec<Wallet>,
    /// Account that signs.
    pub account: Option<WalletAccount>,
    /// Private key that signs.
    pub private_key: Option<PrivateKey>,
    /// Further roots by name: the contents of a transaction or message, decoded by the caller.
    pub content: Vec<(String, Value)>,
}

/// Returns the root of an exported secret for [`Subject::content`], with its static properties.
pub fn secret<'a>(static_properties: impl IntoIterator<Item = (&'a str, &'a str)>) -> (String, Value) {
    let texts = static_properties.into_iter().map(|(key, value)| (key, Value::text(value.to_owned())));
    ("secret".to_owned(), Value::record([("static_properties", Value::map(texts))]))
}

pub(super) fn wallet(wallet: &Wallet) -> Value {
    Value::record([
        ("id", Value::text(wallet.id.clone())),
        ("label", Value::text(wallet.label.clone())),
        ("imported", Value::Bool(wallet.imported)),
        ("exported", Value::Bool(wallet.exported)),
    ])
}

pub(super) fn account(account: &WalletAccount) -> Value {
    let derived = |value: fn(&Derivation) -> Value| account.derivation.as_ref().map(value);
    Value::record([
        ("address", Some(Value::text(account.address.clone()))),
        ("wallet_id", Some(Value::text(account.wallet_id.clone()))),
        ("path", derived(|one| Value::text(one.path.clone()))),
        ("path_indexes", derived(|one| steps(&one.path).map(|(index, _)| index).collect())),
        (
            "path_hardened",
            derived(|one| steps(&one.path).map(|(_, hardened)| Value::Bool(hardened)).collect()),
        ),
        ("curve", derived(|one| Value::text(one.curve.clone()))),
        ("address_format", derived(|one| Value::text(one.address_format.clone()))),
    ])
}

/// Returns the index of each step of a derivation path after `m`, and whether the step is hardened.
fn steps(path: &str) -> impl Iterator<Item = (Value, bool)> {
    path.split('/').skip(1).map(|step| {
        let (digits, hardened) = step.strip_suffix('\'').map_or((step, false), |digits| (digits, true));
        (Integer::from_decimal(digits).map_or(Value::Unreadable, Value::int), hardened)
    })
}

pub(super) fn private_key(key: &PrivateKey) -> Value {
    Value::record([
        ("id", Value::text(key.id.clone())),
        ("label", Value::text(key.label.clone())),
        ("tags", Value::texts(key.tags.iter().cloned())),
        ("imported", Value::Bool(key.imported)),
        ("exported", Value::Bool(key.exported)),
    ])
}
