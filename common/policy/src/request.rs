//! From a request to what conditions may ask about it: which members `activity.params` has, which other roots there
//! are, and the facts themselves, each made when it is first asked for.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::number::Integer;
use crate::timestamp::Timestamp;
use crate::value::{Facts, Value};

const PREFIX: &str = "ACTIVITY_TYPE_";

/// What policies call `activity.kind`: the type without its prefix and version.
pub fn kind_of(activity_type: &str) -> &str {
    let name = activity_type.strip_prefix(PREFIX).unwrap_or(activity_type);
    match name.rsplit_once("_V") {
        Some((kind, version)) if is_number(version) => kind,
        _ => name,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What the parameters of a kind name that is a root of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Nothing.
    Nothing,
    /// The key that signs: an address, a public key, or the id of a private key.
    Signer(&'static str),
    /// A wallet by its id.
    Wallet(&'static str),
    /// Several wallets by their ids, judged together.
    Wallets(&'static str),
    /// Accounts by their ids; the wallet of each is judged by itself.
    Accounts(&'static str),
    /// An account by its address.
    Address(&'static str),
    /// A private key by its id.
    PrivateKey(&'static str),
}

/// What a kind of activity lets conditions ask, beside what all of them do.
#[derive(Debug)]
pub struct Offer {
    /// `activity.kind`.
    pub kind: &'static str,
    /// Members of `activity.params`.
    pub params: &'static [&'static str],
    /// What stands behind `wallet`, `wallets`, `wallet_account` and `private_key`.
    pub named: Named,
    /// Roots about what is signed or exported; which of them is there depends on the request.
    pub content: &'static [&'static str],
}

const fn offer(kind: &'static str, params: &'static [&'static str], named: Named) -> Offer {
    Offer { kind, params, named, content: &[] }
}

/// Roots of transactions.
const TRANSACTIONS: &[&str] = &["eth", "solana", "tron", "bitcoin", "tempo"];

/// Kinds that let conditions ask more than `activity.type`, `kind`, `resource` and `action`.
static OFFERS: &[Offer] = &[
    offer("CREATE_API_KEYS", &["user_id"], Named::Nothing),
    offer("CREATE_WALLET_ACCOUNTS", &[], Named::Wallet("walletId")),
    offer("DELETE_API_KEYS", &["user_id", "api_key_ids"], Named::Nothing),
    offer("DELETE_USERS", &["user_ids"], Named::Nothing),
    offer("DELETE_WALLETS", &[], Named::Wallets("walletIds")),
    offer("DELETE_WALLET_ACCOUNTS", &[], Named::Accounts("walletAccountIds")),
    offer("DELETE_WEBHOOK_ENDPOINT", &["endpoint_id"], Named::Nothing),
    Offer { content: &["eth"], ..offer("ETH_SEND_TRANSACTION", &[], Named::Signer("from")) },
    offer("EXPORT_PRIVATE_KEY", &["target_public_key"], Named::PrivateKey("privateKeyId")),
    Offer { content: &["secret"], ..offer("EXPORT_SECRETS", &[], Named::Nothing) },
    offer("EXPORT_WALLET", &["target_public_key"], Named::Wallet("walletId")),
    offer("EXPORT_WALLET_ACCOUNT", &["target_public_key"], Named::Address("address")),
    offer("INIT_OTP_AUTH", &["otp_length"], Named::Nothing),
    offer("OAUTH_LOGIN", &["session_profile_id"], Named::Nothing),
    offer("OTP_LOGIN", &["session_profile_id"], Named::Nothing),
    Offer { content: &["eth"], ..offer("SIGN_RAW_PAYLOAD", SIGNED, Named::Signer("signWith")) },
    Offer { content: &["eth"], ..offer("SIGN_RAW_PAYLOADS", SIGNED, Named::Signer("signWith")) },
    Offer { content: TRANSACTIONS, ..offer("SIGN_TRANSACTION", &["type"], Named::Signer("signWith")) },
    Offer { content: &["solana"], ..offer("SOL_SEND_TRANSACTION", &[], Named::Signer("signWith")) },
    offer("STAMP_LOGIN", &["session_profile_id"], Named::Nothing),
    offer("UPDATE_WALLET", &["wallet_id"], Named::Wallet("walletId")),
    offer("UPDATE_WALLET_ACCOUNT_NAME", &[], Named::Accounts("walletAccountId")),
    offer("UPDATE_WEBHOOK_ENDPOINT", &["endpoint_id"], Named::Nothing),
];

const SIGNED: &[&str] = &["encoding", "hash_function"];

/// What a kind lets conditions ask; `None` if nothing beside what all of them do.
pub fn offer_of(kind: &str) -> Option<&'static Offer> {
    OFFERS.iter().find(|offer| offer.kind == kind)
}

/// What the parameters of a type name. The first versions of signing name a private key by its id.
pub fn named_of(activity_type: &str) -> Named {
    match activity_type {
        "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD" | "ACTIVITY_TYPE_SIGN_TRANSACTION" => {
            Named::PrivateKey("privateKeyId")
        }
        _ => offer_of(kind_of(activity_type)).map_or(Named::Nothing, |offer| offer.named),
    }
}

/// What must be looked up before a request can be judged: addresses, public keys and ids of whatever signs. Wallets and
/// private keys that are named by their ids are not among them.
pub fn names_of(activity_type: &str, parameters: &RawValue) -> Vec<String> {
    let (Named::Signer(member) | Named::Address(member) | Named::Accounts(member)) = named_of(activity_type)
    else {
        return Vec::new();
    };
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(parameters.get()).unwrap_or_default();
    let given = members.get(member).and_then(|json| serde_json::from_str(json.get()).ok());
    match given {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => {
            names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

/// Members that are the empty text where they are left out.
const EMPTY_IF_ABSENT: &[&str] = &["session_profile_id"];

/// The members of `activity.params` that a request of this kind has; `parameters` are those of the wire. Whatever is no
/// object has none.
pub fn params(kind: &str, parameters: &RawValue) -> Vec<(&'static str, Value)> {
    let Some(offer) = offer_of(kind).filter(|offer| !offer.params.is_empty()) else { return Vec::new() };
    // The other members may be long, and are not read.
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(parameters.get()).unwrap_or_default();
    let given = |name| members.get(&camel_case(name)).and_then(|json| serde_json::from_str(json.get()).ok());
    let member = |name: &&'static str| {
        let given = given(name).as_ref().and_then(value);
        let absent = || EMPTY_IF_ABSENT.contains(name).then(|| Value::text(""));
        Some((*name, given.or_else(absent)?))
    };
    offer.params.iter().filter_map(member).collect()
}

/// `user_ids` is `userIds` on the wire.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut joined = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        joined.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}

fn value(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(truth) => Some(Value::Bool(*truth)),
        Json::String(text) => Some(Value::text(text.clone())),
        Json::Number(number) => {
            Some(Integer::from_decimal(&number.to_string()).map_or(Value::Unreadable, Value::int))
        }
        Json::Array(elements) => elements.iter().map(value).collect::<Option<Value>>(),
        Json::Null | Json::Object(_) => None,
    }
}

/// A wallet, as conditions see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wallet {
    /// Id.
    pub id: String,
    /// Name.
    pub label: String,
    /// Whether it was brought in from elsewhere.
    pub imported: bool,
    /// Whether it was taken out.
    pub exported: bool,
}

/// A private key, as conditions see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateKey {
    /// Id.
    pub id: String,
    /// Name.
    pub label: String,
    /// Ids of its tags.
    pub tags: Vec<String>,
    /// Whether it was brought in from elsewhere.
    pub imported: bool,
    /// Whether it was taken out.
    pub exported: bool,
}

/// A wallet account, as conditions see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletAccount {
    /// Address, as stored.
    pub address: String,
    /// Id of its wallet.
    pub wallet_id: String,
    /// How its key comes of the wallet, for requests that let policies ask that.
    pub derivation: Option<Derivation>,
}

/// How a key comes of a wallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// Path, such as `m/44'/60'/0'/0/0`.
    pub path: String,
    /// `CURVE_…`.
    pub curve: String,
    /// `ADDRESS_FORMAT_…`.
    pub address_format: String,
}

/// What a request is about, beside its parameters. A request about several things has one for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subject {
    /// The wallet that is used.
    pub wallet: Option<Wallet>,
    /// The wallets of a request that is about several.
    pub wallets: Vec<Wallet>,
    /// The account that signs.
    pub account: Option<WalletAccount>,
    /// The private key that signs.
    pub private_key: Option<PrivateKey>,
    /// Other roots by their names: what a transaction or message says, decoded elsewhere.
    pub content: Vec<(String, Value)>,
}

/// A secret that is taken out, as [`Subject::content`]: the root and what conditions may ask about it.
pub fn secret<'a>(static_properties: impl IntoIterator<Item = (&'a str, &'a str)>) -> (String, Value) {
    let texts = static_properties.into_iter().map(|(key, value)| (key, Value::text(value.to_owned())));
    ("secret".to_owned(), Value::record([("static_properties", Value::map(texts))]))
}

/// A request, apart from what it is about.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// `ACTIVITY_TYPE_…`.
    pub activity_type: &'a str,
    /// `activity.action` and `activity.resource`, where policies are asked at all.
    pub acts: Option<(&'a str, &'a str)>,
    /// Its parameters, as on the wire.
    pub parameters: &'a RawValue,
    /// The time by which it is decided.
    pub now: Option<Timestamp>,
}

/// The facts of a request and one of its subjects. Each root is made when it is first asked for.
pub struct RequestFacts<'a> {
    request: Request<'a>,
    subject: &'a Subject,
    roots: [OnceCell<Option<Value>>; ROOTS.len()],
}

/// Roots that requests have, but for those of [`Subject::content`].
const ROOTS: [&str; 6] = ["activity", "wallet", "wallet_account", "private_key", "wallets", "time"];

impl<'a> RequestFacts<'a> {
    /// Of a request and one of its subjects.
    pub fn new(request: Request<'a>, subject: &'a Subject) -> Self {
        Self { request, subject, roots: Default::default() }
    }

    fn made(&self, root: &str) -> Option<Value> {
        match root {
            "activity" => Some(activity(&self.request)),
            "wallet" => self.subject.wallet.as_ref().map(wallet),
            "wallet_account" => self.subject.account.as_ref().map(account),
            "private_key" => self.subject.private_key.as_ref().map(private_key),
            "wallets" => {
                let wallets = &self.subject.wallets;
                (!wallets.is_empty()).then(|| wallets.iter().map(wallet).collect())
            }
            _ => self.request.now.map(|now| Value::record([("now", Value::Timestamp(now))])),
        }
    }
}

impl Facts for RequestFacts<'_> {
    fn root(&self, name: &str) -> Option<&Value> {
        match ROOTS.iter().position(|root| *root == name) {
            Some(place) => self.roots.get(place)?.get_or_init(|| self.made(name)).as_ref(),
            None => self.subject.content.iter().find(|(root, _)| root == name).map(|(_, value)| value),
        }
    }
}

fn activity(request: &Request<'_>) -> Value {
    let kind = kind_of(request.activity_type);
    let (action, resource) = request.acts.unzip();
    let word = |word: Option<&str>| word.map(|word| Value::text(word.to_owned()));
    Value::record([
        ("type", Some(Value::text(request.activity_type.to_owned()))),
        ("kind", Some(Value::text(kind.to_owned()))),
        ("action", word(action)),
        ("resource", word(resource)),
        ("params", Some(Value::record(params(kind, request.parameters)))),
    ])
}

fn wallet(wallet: &Wallet) -> Value {
    Value::record([
        ("id", Value::text(wallet.id.clone())),
        ("label", Value::text(wallet.label.clone())),
        ("imported", Value::Bool(wallet.imported)),
        ("exported", Value::Bool(wallet.exported)),
    ])
}

fn account(account: &WalletAccount) -> Value {
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

/// The steps of a path behind its `m`: the number of each without the mark, and whether it is marked as hardened.
fn steps(path: &str) -> impl Iterator<Item = (Value, bool)> {
    path.split('/').skip(1).map(|step| {
        let (digits, hardened) = step.strip_suffix('\'').map_or((step, false), |digits| (digits, true));
        (Integer::from_decimal(digits).map_or(Value::Unreadable, Value::int), hardened)
    })
}

fn private_key(key: &PrivateKey) -> Value {
    Value::record([
        ("id", Value::text(key.id.clone())),
        ("label", Value::text(key.label.clone())),
        ("tags", Value::texts(key.tags.iter().cloned())),
        ("imported", Value::Bool(key.imported)),
        ("exported", Value::Bool(key.exported)),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::namespaces;
    use crate::program::{ExpressionKind, Program};

    #[test]
    fn types_are_of_a_kind() {
        for (activity_type, kind) in [
            ("ACTIVITY_TYPE_CREATE_WALLET", "CREATE_WALLET"),
            ("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "SIGN_RAW_PAYLOAD"),
            ("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V10", "CREATE_SUB_ORGANIZATION"),
            ("ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", "OAUTH2_AUTHENTICATE"),
            ("ACTIVITY_TYPE_X_V", "X_V"),
        ] {
            assert_eq!(kind_of(activity_type), kind);
        }
    }

    #[test]
    fn offers_name_members_and_roots_that_exist() {
        for offer in OFFERS {
            for member in offer.params {
                let read = format!("activity.params.{member} == activity.params.{member}");
                let parsed = Program::parse(ExpressionKind::Condition, &read);
                assert!(parsed.is_ok(), "{} has {member}", offer.kind);
            }
            for root in offer.content {
                assert!(namespaces::is_reserved(root), "{} has {root}", offer.kind);
            }
        }
        assert!(OFFERS.windows(2).all(|pair| matches!(pair, [one, next] if one.kind != next.kind)));
    }

    #[test]
    fn parameters_become_members() {
        let params = |kind, json: Json| {
            let json = serde_json::value::to_raw_value(&json);
            json.map(|json| super::params(kind, &json)).unwrap_or_default()
        };
        let users = json!({"userIds": ["a", "b"], "more": 1});
        assert_eq!(params("DELETE_USERS", users), [("user_ids", Value::texts(["a", "b"]))]);
        assert_eq!(params("DELETE_USERS", json!({"userIds": null})), []);
        assert_eq!(params("DELETE_USERS", json!([])), []);
        assert_eq!(params("INIT_OTP_AUTH", json!({"otpLength": 6})), [("otp_length", Value::int(6_u64))]);
        assert_eq!(params("STAMP_LOGIN", json!({})), [("session_profile_id", Value::text(""))]);
        assert_eq!(params("CREATE_WALLET", json!({"walletName": "w"})), []);
    }
}
