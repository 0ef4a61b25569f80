//! Typed data (EIP-712): the contract and chain it is meant for, and every signed member.

use quorate_chain::address::of_account;
use quorate_chain::typed_data::{Member, TypedData, TypedValue};

use crate::kinds::prelude::*;
use crate::kinds::signing::recipient::Recipients;

/// Prefix of the names of types that let others move tokens (EIP-2612, Permit2).
const PERMIT: &str = "Permit";
/// Members that name the accounts that may move tokens.
const SPENDERS: [&str; 2] = ["spender", "operator"];
/// Members that name recipients and delegates.
const RECIPIENTS: [&str; 8] =
    ["to", "recipient", "receiver", "dst", "destination", "beneficiary", "delegate", "delegatee"];
/// Minimum number of bytes of a call: its selector.
const CALL_BYTES: usize = 4;
/// Types that move tokens (ERC-3009).
const TRANSFERS: [&str; 2] = ["TransferWithAuthorization", "ReceiveWithAuthorization"];
/// Types of orders that exchange one asset for another: Seaport, and exchanges that execute signed orders.
const ORDERS: [&str; 4] = ["OrderComponents", "BulkOrder", "Order", "LimitOrder"];
/// Members that hold an amount.
const AMOUNTS: [&str; 5] = ["value", "amount", "wad", "startAmount", "endAmount"];
/// Members whose greatest value is harmless: expiry times, and numbers that are no amounts.
const OTHERS: [&str; 7] = ["deadline", "sigDeadline", "expiry", "expiration", "validBefore", "nonce", "salt"];
/// Minimum number of bits of an amount of tokens.
const AMOUNT_BITS: usize = 96;

/// Returns the data as text.
pub(super) fn describe(data: &TypedData) -> String {
    let domain = |name: &str| member(data.domain(), name);
    let mut text = format!("typed data of the type {}", quoted(data.primary_type()));
    if let Some(name) = domain("name") {
        text = format!("{text} for {}", quoted(&shown(name)));
    }
    if let Some(version) = domain("version") {
        text = format!("{text} version {}", quoted(&shown(version)));
    }
    let contract = domain("verifyingContract").map(|contract| clean(&shown(contract)));
    let chain = domain("chainId").map(|chain| clean(&shown(chain)));
    let contract =
        contract.map_or_else(|| "NO contract".to_owned(), |contract| format!("the contract {contract}"));
    let chain = chain.map_or_else(|| "ANY chain".to_owned(), |chain| format!("chain {chain}"));
    let outcome = outcome(data).map_or_else(String::new, |outcome| format!(", which {outcome}"));
    format!("{text}{outcome}, meant for {contract} on {chain}")
}

/// Returns the effect of a permit or a transfer of tokens. Only known if its members have the names that the
/// standards define, with exactly one account and one amount.
fn outcome(data: &TypedData) -> Option<String> {
    let mut leaves = Leaves::default();
    leaves.members("message", data.message()?);
    let amount = leaves.single(|leaf| {
        leaf.is_unlimited || (AMOUNTS.contains(&leaf.name) && leaf.type_name.starts_with("uint"))
    })?;
    let amount = if amount.is_unlimited {
        "tokens WITHOUT LIMIT".to_owned()
    } else {
        format!("{} of the token's smallest units", amount.shown)
    };
    let account =
        |names: &[&str]| leaves.single(|leaf| names.contains(&leaf.name) && leaf.type_name == "address");
    if TRANSFERS.contains(&data.primary_type()) {
        return Some(format!("moves {amount} to {}", account(&["to"])?.shown));
    }
    let spender = account(&SPENDERS).filter(|_| data.primary_type().starts_with(PERMIT))?;
    Some(format!("lets {} move {amount}", spender.shown))
}

/// Returns the data in a few words.
pub(super) fn brief(data: &TypedData) -> String {
    let name = member(data.domain(), "name").map(|name| format!(" for {}", quoted(&shown(name))));
    format!("{}{}", clean(data.primary_type()), name.unwrap_or_default())
}

/// Adds every signed member as a fact, and the flags.
pub(super) fn add_details(
    data: &TypedData,
    label: &str,
    recipients: &mut Recipients<'_>,
    description: &mut Description,
) {
    description.fact(&format!("{label}primaryType"), clean(data.primary_type()));
    let mut leaves = Leaves::default();
    leaves.members("domain", data.domain());
    leaves.members("message", data.message().unwrap_or_default());
    for leaf in &leaves.all {
        let mark = if leaf.is_unlimited { " [!] WITHOUT LIMIT" } else { "" };
        let value = if leaf.is_text { quoted(&leaf.shown) } else { clean(&leaf.shown) };
        let path = clean(&format!("{label}{}", leaf.path));
        description.fact(&path, format!("{value} ({}){mark}", clean(leaf.type_name)));
        if leaf.is_account {
            let in_full = format!("{path}, in full");
            if RECIPIENTS.contains(&leaf.name) || SPENDERS.contains(&leaf.name) {
                recipients.add(&in_full, &leaf.shown, description);
            } else {
                recipients.add_if_known(&in_full, &leaf.shown, description);
            }
        }
    }
    flag_permissions(data, &leaves, label, description);
    flag_calls(&leaves, label, description);
    for leaf in leaves.all.iter().filter(|leaf| leaf.is_unlimited) {
        description.flag_with_word(
            "unlimited",
            format!("{label}Allows an unlimited amount: {}.", leaf.path),
            "UNLIMITED",
        );
    }
    flag_domain(data, label, description);
    flag_unsigned_members(data, label, description);
}

/// Flags permits, transfers and orders: others can move what the signer has.
fn flag_permissions(data: &TypedData, leaves: &Leaves<'_>, label: &str, description: &mut Description) {
    let type_name = data.primary_type();
    let spenders =
        leaves.all.iter().filter(|leaf| SPENDERS.contains(&leaf.name) && leaf.type_name == "address");
    let spenders: Vec<&str> = spenders.map(|leaf| leaf.shown.as_str()).collect();
    if type_name.starts_with(PERMIT) || !spenders.is_empty() {
        let spender_text =
            if spenders.is_empty() { "anyone who has it".to_owned() } else { spenders.join(", ") };
        let text =
            format!("{label}Lets {spender_text} move tokens without a further transaction: it is a permit.");
        description.flag_with_word("token-approval", text, "APPROVAL");
    }
    if TRANSFERS.contains(&type_name) {
        description.flag_with_word(
            "token-transfer",
            format!("{label}Moves tokens: anyone who has the signature can carry out the transfer."),
            "TRANSFER",
        );
    }
    let is_barter =
        |members: &[Member]| ["offer", "consideration"].iter().all(|name| member(members, name).is_some());
    if ORDERS.contains(&type_name) || data.message().is_some_and(is_barter) {
        let text = format!(
            "{label}Sells what it offers for the price that it states: anyone who has the signature can fill the order."
        );
        description.flag_with_word("order", text, "ORDER");
    }
}

/// Flags members that let others call a contract for the signer, as multi-signature wallets and relayers do
/// (ERC-2771).
fn flag_calls(leaves: &Leaves<'_>, label: &str, description: &mut Description) {
    let calls =
        leaves.all.iter().filter(|leaf| leaf.type_name == "bytes" || leaf.type_name.starts_with("bytes["));
    for leaf in calls.filter(|leaf| leaf.bytes >= CALL_BYTES) {
        let text = format!(
            "{label}May let others call a contract in the signer's name: {} holds {} that are not decoded here.",
            leaf.path,
            count(leaf.bytes, "byte")
        );
        description.flag_with_word("relayed-call", clean(&text), "UNDECODED");
    }
}

/// Flags a domain that does not limit the signature to one chain and one contract.
fn flag_domain(data: &TypedData, label: &str, description: &mut Description) {
    if member(data.domain(), "chainId").is_none() {
        description.flag_medium("any-chain", format!("{label}May be valid on every chain: it names none."));
    }
    if member(data.domain(), "verifyingContract").is_none() {
        description.flag_medium("any-contract", format!("{label}Any contract may accept it: it names none."));
    }
    if data.message().is_none() {
        description.flag_high(
            "domain-only",
            format!("{label}Its purpose is unknown: it signs a domain without a message."),
        );
    }
}

/// Flags members of the payload that are not signed, because readers could take them for signed.
fn flag_unsigned_members(data: &TypedData, label: &str, description: &mut Description) {
    let unsigned = data.unsigned();
    if unsigned.count > 0 {
        let shown: Vec<String> = unsigned.paths.iter().map(|path| clean(path)).collect();
        let more = unsigned.count.saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text =
            format!("{label}Do not rely on these members, which are NOT signed: {}{more}.", shown.join(", "));
        description.flag_high("unsigned-members", text);
    }
}

fn member<'d>(members: &'d [Member], name: &str) -> Option<&'d TypedValue> {
    members.iter().find(|member| &*member.name == name).map(|member| &member.value)
}

/// Returns a leaf value as text that is not cleaned yet.
fn shown(value: &TypedValue) -> String {
    match value {
        TypedValue::Address(account) => of_account(account),
        TypedValue::Bool(truth) => truth.to_string(),
        TypedValue::Bytes(bytes) => const_hex::encode_prefixed(bytes),
        TypedValue::Integer { .. } => value.integer().map(|number| number.to_string()).unwrap_or_default(),
        TypedValue::Text(text) => text.clone(),
        TypedValue::List(_) => "empty list".to_owned(),
        TypedValue::Struct(_) => "no members".to_owned(),
        TypedValue::Nothing => "nothing".to_owned(),
    }
}

/// A leaf value and its path.
struct Leaf<'d> {
    path: String,
    name: &'d str,
    type_name: &'d str,
    shown: String,
    is_unlimited: bool,
    is_text: bool,
    is_account: bool,
    /// Number of bytes of a byte string, 0 otherwise.
    bytes: usize,
}

#[derive(Default)]
struct Leaves<'d> {
    all: Vec<Leaf<'d>>,
}

impl<'d> Leaves<'d> {
    /// Returns the leaf that matches, or `None` unless exactly one matches.
    fn single(&self, matches: impl Fn(&Leaf<'d>) -> bool) -> Option<&Leaf<'d>> {
        let mut matching = self.all.iter().filter(|leaf| matches(leaf));
        matching.next().filter(|_| matching.next().is_none())
    }

    fn members(&mut self, path: &str, members: &'d [Member]) {
        for member in members {
            self.value(&format!("{path}.{}", member.name), member, &member.value);
        }
    }

    /// Adds the leaves of a value. The recursion is bounded, because the parser limits the nesting.
    fn value(&mut self, path: &str, of: &'d Member, value: &'d TypedValue) {
        match value {
            TypedValue::Struct(members) if !members.is_empty() => self.members(path, members),
            TypedValue::List(values) if !values.is_empty() => {
                for (index, value) in values.iter().enumerate() {
                    self.value(&format!("{path}[{index}]"), of, value);
                }
            }
            leaf => self.all.push(Leaf {
                path: path.to_owned(),
                name: &of.name,
                type_name: &of.type_name,
                shown: shown(leaf),
                is_unlimited: is_unlimited(&of.name, leaf),
                is_text: matches!(leaf, TypedValue::Text(_)),
                is_account: matches!(leaf, TypedValue::Address(_)),
                bytes: if let TypedValue::Bytes(bytes) = leaf { bytes.len() } else { 0 },
            }),
        }
    }
}

/// Returns whether a value allows an unlimited amount. This is the greatest number of its type, an amount of at
/// least half of the range, or `allowed: true` of a Dai permit.
fn is_unlimited(name: &str, value: &TypedValue) -> bool {
    match value {
        TypedValue::Bool(allowed) => *allowed && name == "allowed",
        TypedValue::Integer { word, is_signed: false, bits } if *bits >= AMOUNT_BITS => {
            let bytes = word.get(32_usize.saturating_sub(bits / 8)..).unwrap_or_default();
            let is_greatest = bytes.iter().all(|byte| *byte == 0xff);
            let is_large = bytes.first().is_some_and(|first| *first >= 0x80);
            (is_greatest && !OTHERS.contains(&name)) || (is_large && AMOUNTS.contains(&name))
        }
        _ => false,
    }
}
