//! Builds the facts of a request: the members of `activity.params`, the other roots, and the schema of each
//! activity kind. Each root is built on first use.

mod subject;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value as Json;
use serde_json::value::RawValue;

use crate::number::Integer;
use crate::timestamp::Timestamp;
use crate::value::{Facts, Value};

pub use self::subject::{Derivation, PrivateKey, Subject, Wallet, WalletAccount, secret};
use self::subject::{account, private_key, wallet};

const PREFIX: &str = "ACTIVITY_TYPE_";

/// Returns `activity.kind`: the activity type without its prefix and version.
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

/// The objects that the parameters of an activity kind refer to and that become roots.
///
/// Each variant contains the name of the parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectReference {
    /// No object.
    Nothing,
    /// The signing key: an address, a public key, or the id of a private key.
    Signer(&'static str),
    /// A wallet by its id.
    Wallet(&'static str),
    /// Several wallets by their ids, decided on together.
    Wallets(&'static str),
    /// Accounts by their ids; each wallet is decided on separately.
    Accounts(&'static str),
    /// An account by its address.
    Address(&'static str),
    /// A private key by its id.
    PrivateKey(&'static str),
}

/// The facts that conditions may read for an activity kind, in addition to those of all kinds.
#[derive(Debug)]
pub struct KindSchema {
    /// Value of `activity.kind`.
    pub kind: &'static str,
    /// Members of `activity.params`.
    pub params: &'static [&'static str],
    /// Source of the roots `wallet`, `wallets`, `wallet_account` and `private_key`.
    pub reference: ObjectReference,
    /// Roots that describe what is signed or exported; the request determines which of them are present.
    pub content: &'static [&'static str],
}

const fn schema(
    kind: &'static str,
    params: &'static [&'static str],
    reference: ObjectReference,
) -> KindSchema {
    KindSchema { kind, params, reference, content: &[] }
}

impl KindSchema {
    const fn with(self, content: &'static [&'static str]) -> Self {
        Self { content, ..self }
    }
}

/// Roots of transactions.
const TRANSACTIONS: &[&str] = &["eth", "solana", "tron", "bitcoin", "tempo"];

/// Kinds with more facts than `activity.type`, `kind`, `resource` and `action`.
static SCHEMAS: &[KindSchema] = &[
    schema("CREATE_API_KEYS", &["user_id"], ObjectReference::Nothing),
    schema("CREATE_WALLET_ACCOUNTS", &[], ObjectReference::Wallet("walletId")),
    schema("DELETE_API_KEYS", &["user_id", "api_key_ids"], ObjectReference::Nothing),
    schema("DELETE_USERS", &["user_ids"], ObjectReference::Nothing),
    schema("DELETE_WALLETS", &[], ObjectReference::Wallets("walletIds")),
    schema("DELETE_WALLET_ACCOUNTS", &[], ObjectReference::Accounts("walletAccountIds")),
    schema("DELETE_WEBHOOK_ENDPOINT", &["endpoint_id"], ObjectReference::Nothing),
    schema("ETH_SEND_TRANSACTION", &[], ObjectReference::Signer("from")).with(&["eth"]),
    schema("EXPORT_PRIVATE_KEY", &["target_public_key"], ObjectReference::PrivateKey("privateKeyId")),
    schema("EXPORT_SECRETS", &[], ObjectReference::Nothing).with(&["secret"]),
    schema("EXPORT_WALLET", &["target_public_key"], ObjectReference::Wallet("walletId")),
    schema("EXPORT_WALLET_ACCOUNT", &["target_public_key"], ObjectReference::Address("address")),
    schema("INIT_OTP_AUTH", &["otp_length"], ObjectReference::Nothing),
    schema("OAUTH_LOGIN", &["session_profile_id"], ObjectReference::Nothing),
    schema("OTP_LOGIN", &["session_profile_id"], ObjectReference::Nothing),
    schema("SIGN_RAW_PAYLOAD", SIGNED, ObjectReference::Signer("signWith")).with(&["eth"]),
    schema("SIGN_RAW_PAYLOADS", SIGNED, ObjectReference::Signer("signWith")).with(&["eth"]),
    schema("SIGN_TRANSACTION", &["type"], ObjectReference::Signer("signWith")).with(TRANSACTIONS),
    schema("SOL_SEND_TRANSACTION", &[], ObjectReference::Signer("signWith")).with(&["solana"]),
    schema("STAMP_LOGIN", &["session_profile_id"], ObjectReference::Nothing),
    schema("UPDATE_WALLET", &["wallet_id"], ObjectReference::Wallet("walletId")),
    schema("UPDATE_WALLET_ACCOUNT_NAME", &[], ObjectReference::Accounts("walletAccountId")),
    schema("UPDATE_WEBHOOK_ENDPOINT", &["endpoint_id"], ObjectReference::Nothing),
];

const SIGNED: &[&str] = &["encoding", "hash_function"];

/// Returns the schema of a kind, or `None` if it has only the facts of all kinds.
pub fn schema_of(kind: &str) -> Option<&'static KindSchema> {
    SCHEMAS.iter().find(|schema| schema.kind == kind)
}

/// Returns the objects that the parameters of an activity type refer to.
///
/// The first versions of the signing activities refer to a private key by its id.
pub fn reference_of(activity_type: &str) -> ObjectReference {
    match activity_type {
        "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD" | "ACTIVITY_TYPE_SIGN_TRANSACTION" => {
            ObjectReference::PrivateKey("privateKeyId")
        }
        _ => schema_of(kind_of(activity_type)).map_or(ObjectReference::Nothing, |schema| schema.reference),
    }
}

/// Returns the names to look up before a decision: addresses, public keys and ids of signers and accounts.
///
/// Wallets and private keys that the request refers to by id are not included.
pub fn lookup_names(activity_type: &str, parameters: &RawValue) -> Vec<String> {
    let (ObjectReference::Signer(member)
    | ObjectReference::Address(member)
    | ObjectReference::Accounts(member)) = reference_of(activity_type)
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

/// Members that are empty text if the request omits them.
const EMPTY_IF_ABSENT: &[&str] = &["session_profile_id"];

/// Returns the members of `activity.params` for a request of this kind.
///
/// `parameters` are the parameters on the wire; anything but a JSON object has no members.
pub fn params(kind: &str, parameters: &RawValue) -> Vec<(&'static str, Value)> {
    let Some(schema) = schema_of(kind).filter(|schema| !schema.params.is_empty()) else { return Vec::new() };
    // Other members may be long and are not parsed.
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(parameters.get()).unwrap_or_default();
    let given = |name| members.get(&camel_case(name)).and_then(|json| serde_json::from_str(json.get()).ok());
    let member = |name: &&'static str| {
        let given = given(name).as_ref().and_then(value);
        let absent = || EMPTY_IF_ABSENT.contains(name).then(|| Value::text(""));
        Some((*name, given.or_else(absent)?))
    };
    schema.params.iter().filter_map(member).collect()
}

/// Converts a member name to its name on the wire, such as `user_ids` to `userIds`.
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

/// A request without its subjects.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Activity type on the wire, `ACTIVITY_TYPE_…`.
    pub activity_type: &'a str,
    /// Values of `activity.action` and `activity.resource`, if policies decide on the type.
    pub acts: Option<(&'a str, &'a str)>,
    /// Parameters as on the wire.
    pub parameters: &'a RawValue,
    /// Time of the decision.
    pub now: Option<Timestamp>,
}

/// The facts of a request and one of its subjects. Each root is built on first use.
pub struct RequestFacts<'a> {
    request: Request<'a>,
    subject: &'a Subject,
    roots: [OnceCell<Option<Value>>; ROOTS.len()],
}

/// Roots of requests, except those of [`Subject::content`].
const ROOTS: [&str; 6] = ["activity", "wallet", "wallet_account", "private_key", "wallets", "time"];

impl<'a> RequestFacts<'a> {
    /// Creates the facts of a request and one of its subjects.
    pub fn new(request: Request<'a>, subject: &'a Subject) -> Self {
        Self { request, subject, roots: Default::default() }
    }

    fn build(&self, root: &str) -> Option<Value> {
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
            Some(index) => self.roots.get(index)?.get_or_init(|| self.build(name)).as_ref(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::namespaces;
    use crate::expression_kind::ExpressionKind;
    use crate::program::Program;

    #[test]
    fn kind_is_the_type_without_prefix_and_version() {
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
    fn schemas_contain_existing_members_and_roots() {
        for schema in SCHEMAS {
            for member in schema.params {
                let source = format!("activity.params.{member} == activity.params.{member}");
                let parsed = Program::parse(ExpressionKind::Condition, &source);
                assert!(parsed.is_ok(), "{} has {member}", schema.kind);
            }
            for root in schema.content {
                assert!(namespaces::is_reserved(root), "{} has {root}", schema.kind);
            }
        }
        assert!(SCHEMAS.windows(2).all(|pair| matches!(pair, [one, next] if one.kind != next.kind)));
    }

    #[test]
    fn converts_parameters_to_members() {
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
