//! Scenarios: all sorts of requests, with what is known about their facts before a request is made.

use crate::check::namespaces;
use crate::plan::Member;
use crate::request::{ObjectReference, kind_of, schema_of};
use crate::value::Value;

/// An activity type that policies decide on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityType {
    /// Name on the wire, `ACTIVITY_TYPE_…`.
    pub name: String,
    /// Value of `activity.action`.
    pub action: String,
    /// Value of `activity.resource`.
    pub resource: String,
}

/// What is known about a fact in all requests of a scenario.
pub(super) enum Fact {
    /// It always has this value.
    Known(Value),
    /// It is always present, with any value.
    Present,
    /// It may be absent.
    Optional,
    /// It is always absent.
    Absent,
}

/// One sort of request: an activity type with one kind of subject and content.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) activity: ActivityType,
    /// Members of `activity.params` whose value distinguishes the scenario.
    params: Vec<(&'static str, &'static str)>,
    /// Roots, or namespaces such as `eth.tx`, that are present.
    present: Vec<&'static str>,
}

/// Encodings of payloads that are decoded, and the namespace that each provides.
const ENCODINGS: [(&str, &str); 3] = [
    ("PAYLOAD_ENCODING_HEXADECIMAL", ""),
    ("PAYLOAD_ENCODING_EIP712", "eth.eip_712"),
    ("PAYLOAD_ENCODING_EIP7702_AUTHORIZATION", "eth.eip_7702_authorization"),
];
/// Types of transactions, and the namespace that each provides.
const TRANSACTIONS: [(&str, &str); 5] = [
    ("TRANSACTION_TYPE_ETHEREUM", "eth.tx"),
    ("TRANSACTION_TYPE_SOLANA", "solana.tx"),
    ("TRANSACTION_TYPE_TRON", "tron.tx"),
    ("TRANSACTION_TYPE_BITCOIN", "bitcoin.tx"),
    ("TRANSACTION_TYPE_TEMPO", "tempo.tx"),
];
/// Members of a wallet account that are present only when it is exported.
const EXPORTED: [&str; 5] = ["path", "path_indexes", "path_hardened", "curve", "address_format"];

/// Returns the scenarios of an activity type.
pub(super) fn of_type(activity: &ActivityType) -> Vec<Scenario> {
    let kind = kind_of(&activity.name);
    let reference = schema_of(kind).map_or(ObjectReference::Nothing, |schema| schema.reference);
    let subjects: &[&[&str]] = match reference {
        ObjectReference::Nothing => &[&[]],
        ObjectReference::Signer(_) => &[&["wallet", "wallet_account"], &["private_key"]],
        ObjectReference::Wallet(_) | ObjectReference::Accounts(_) => &[&["wallet"]],
        ObjectReference::Wallets(_) => &[&["wallets"]],
        ObjectReference::Address(_) => &[&["wallet", "wallet_account"]],
        ObjectReference::PrivateKey(_) => &[&["private_key"]],
    };
    let contents: Vec<Content> = match kind {
        "SIGN_RAW_PAYLOAD" | "SIGN_RAW_PAYLOADS" => each(&ENCODINGS, "encoding"),
        "SIGN_TRANSACTION" => each(&TRANSACTIONS, "type"),
        "ETH_SEND_TRANSACTION" => vec![(None, "eth.tx")],
        "SOL_SEND_TRANSACTION" => vec![(None, "solana.tx")],
        "EXPORT_SECRETS" => vec![(None, "secret")],
        _ => vec![(None, "")],
    };
    let one = |(subject, (param, content)): (&&[&'static str], &Content)| Scenario {
        activity: activity.clone(),
        params: param.iter().copied().collect(),
        present: subject.iter().copied().chain(Some(*content).filter(|name| !name.is_empty())).collect(),
    };
    subjects
        .iter()
        .flat_map(|subject| contents.iter().map(move |content| (subject, content)))
        .map(one)
        .collect()
}

/// The parameter that distinguishes the scenario, if there is one, and the namespace that is present.
type Content = (Option<(&'static str, &'static str)>, &'static str);

fn each(table: &'static [(&'static str, &'static str)], member: &'static str) -> Vec<Content> {
    table.iter().map(|(value, namespace)| (Some((member, *value)), *namespace)).collect()
}

impl Scenario {
    /// Returns what is known about a root.
    pub(super) fn root(&self, root: &str) -> Fact {
        match root {
            "activity" | "approvers" | "credentials" | "time" => Fact::Present,
            _ if self.present.iter().any(|name| name.split('.').next() == Some(root)) => Fact::Present,
            _ => Fact::Absent,
        }
    }

    /// Returns what is known about a member of a root.
    pub(super) fn path(&self, root: &str, members: &[Member]) -> Fact {
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        match (root, names.as_slice()) {
            ("activity", ["type"]) => Fact::Known(Value::text(self.activity.name.clone())),
            ("activity", ["kind"]) => Fact::Known(Value::text(kind_of(&self.activity.name).to_owned())),
            ("activity", ["action"]) => Fact::Known(Value::text(self.activity.action.clone())),
            ("activity", ["resource"]) => Fact::Known(Value::text(self.activity.resource.clone())),
            ("activity", ["params", member, ..]) => self.param(member),
            ("wallet_account", [member])
                if EXPORTED.contains(member) && kind_of(&self.activity.name) != "EXPORT_WALLET_ACCOUNT" =>
            {
                Fact::Absent
            }
            (root, [namespace, ..]) if namespaces::is_divided(root) => {
                let wanted = |name: &&str| name.split_once('.') == Some((root, namespace));
                if self.present.iter().any(wanted) { Fact::Optional } else { Fact::Absent }
            }
            (root, _) => self.root(root),
        }
    }

    fn param(&self, name: &str) -> Fact {
        if let Some((_, value)) = self.params.iter().find(|(member, _)| *member == name) {
            // This scenario also represents the encodings that are not in the table.
            let is_any_other = *value == "PAYLOAD_ENCODING_HEXADECIMAL";
            return if is_any_other { Fact::Present } else { Fact::Known(Value::text(*value)) };
        }
        let is_readable =
            schema_of(kind_of(&self.activity.name)).is_some_and(|schema| schema.params.contains(&name));
        if is_readable { Fact::Present } else { Fact::Absent }
    }
}
