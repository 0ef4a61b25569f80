//! The requests that there can be, one of each sort: what is known of it before anybody makes it.

use crate::check::namespaces;
use crate::plan::Member;
use crate::request::{Named, kind_of, offer_of};
use crate::value::Value;

/// A type of activity that policies are asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityType {
    /// `ACTIVITY_TYPE_…`.
    pub name: String,
    /// `activity.action`.
    pub action: String,
    /// `activity.resource`.
    pub resource: String,
}

/// What is known of a part of a request.
pub(super) enum Fact {
    /// It is this, for all requests of the sort.
    Is(Value),
    /// It is there.
    Some,
    /// It may be missing.
    Perhaps,
    /// It is missing, for all requests of the sort.
    Absent,
}

/// One sort of request.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) activity: ActivityType,
    /// Members of `activity.params` with a value that makes the sort.
    params: Vec<(&'static str, &'static str)>,
    /// Roots, or namespaces such as `eth.tx`, that are there.
    present: Vec<&'static str>,
}

/// Encodings of payloads that are read, and what they show.
const ENCODINGS: [(&str, &str); 3] = [
    ("PAYLOAD_ENCODING_HEXADECIMAL", ""),
    ("PAYLOAD_ENCODING_EIP712", "eth.eip_712"),
    ("PAYLOAD_ENCODING_EIP7702_AUTHORIZATION", "eth.eip_7702_authorization"),
];
/// Types of transactions, and what they show.
const TRANSACTIONS: [(&str, &str); 5] = [
    ("TRANSACTION_TYPE_ETHEREUM", "eth.tx"),
    ("TRANSACTION_TYPE_SOLANA", "solana.tx"),
    ("TRANSACTION_TYPE_TRON", "tron.tx"),
    ("TRANSACTION_TYPE_BITCOIN", "bitcoin.tx"),
    ("TRANSACTION_TYPE_TEMPO", "tempo.tx"),
];
/// Members of a wallet account that only its export shows.
const EXPORTED: [&str; 5] = ["path", "path_indexes", "path_hardened", "curve", "address_format"];

/// The sorts of requests of a type.
pub(super) fn of_type(activity: &ActivityType) -> Vec<Scenario> {
    let kind = kind_of(&activity.name);
    let named = offer_of(kind).map_or(Named::Nothing, |offer| offer.named);
    let subjects: &[&[&str]] = match named {
        Named::Nothing => &[&[]],
        Named::Signer(_) => &[&["wallet", "wallet_account"], &["private_key"]],
        Named::Wallet(_) | Named::Accounts(_) => &[&["wallet"]],
        Named::Wallets(_) => &[&["wallets"]],
        Named::Address(_) => &[&["wallet", "wallet_account"]],
        Named::PrivateKey(_) => &[&["private_key"]],
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

/// A member of the parameters, if one makes the sort, and the namespace that is there.
type Content = (Option<(&'static str, &'static str)>, &'static str);

fn each(table: &'static [(&'static str, &'static str)], member: &'static str) -> Vec<Content> {
    table.iter().map(|(value, namespace)| (Some((member, *value)), *namespace)).collect()
}

impl Scenario {
    /// What is known of a root.
    pub(super) fn root(&self, root: &str) -> Fact {
        match root {
            "activity" | "approvers" | "credentials" | "time" => Fact::Some,
            _ if self.present.iter().any(|name| name.split('.').next() == Some(root)) => Fact::Some,
            _ => Fact::Absent,
        }
    }

    /// What is known of a member of a root.
    pub(super) fn path(&self, root: &str, members: &[Member]) -> Fact {
        let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
        match (root, names.as_slice()) {
            ("activity", ["type"]) => Fact::Is(Value::text(self.activity.name.clone())),
            ("activity", ["kind"]) => Fact::Is(Value::text(kind_of(&self.activity.name).to_owned())),
            ("activity", ["action"]) => Fact::Is(Value::text(self.activity.action.clone())),
            ("activity", ["resource"]) => Fact::Is(Value::text(self.activity.resource.clone())),
            ("activity", ["params", member, ..]) => self.param(member),
            ("wallet_account", [member])
                if EXPORTED.contains(member) && kind_of(&self.activity.name) != "EXPORT_WALLET_ACCOUNT" =>
            {
                Fact::Absent
            }
            (root, [namespace, ..]) if namespaces::is_divided(root) => {
                let wanted = |name: &&str| name.split_once('.') == Some((root, namespace));
                if self.present.iter().any(wanted) { Fact::Perhaps } else { Fact::Absent }
            }
            (root, _) => self.root(root),
        }
    }

    fn param(&self, name: &str) -> Fact {
        if let Some((_, value)) = self.params.iter().find(|(member, _)| *member == name) {
            // Payloads of other encodings show as much as those in hexadecimal.
            let others = *value == "PAYLOAD_ENCODING_HEXADECIMAL";
            return if others { Fact::Some } else { Fact::Is(Value::text(*value)) };
        }
        let offered =
            offer_of(kind_of(&self.activity.name)).is_some_and(|offer| offer.params.contains(&name));
        if offered { Fact::Some } else { Fact::Absent }
    }
}
