//! Typed data (EIP-712): for whom it is meant, and every member that is signed.

use quorate_chain::address::of_account;
use quorate_chain::typed_data::{Member, TypedData, TypedValue};

use crate::kinds::transaction::recipient::Recipients;
use crate::kinds::{Level, Story};
use crate::text::{clean, quoted};

/// Names of types that let another move tokens start so (EIP-2612, Permit2).
const PERMIT: &str = "Permit";
/// Members that name who may move tokens.
const SPENDERS: [&str; 2] = ["spender", "operator"];
/// Members that name who gets something, or is given a say.
const GETTERS: [&str; 8] =
    ["to", "recipient", "receiver", "dst", "destination", "beneficiary", "delegate", "delegatee"];
/// Fewest bytes that can call something: its selector.
const CALL_BYTES: usize = 4;
/// Types that move tokens (ERC-3009).
const TRANSFERS: [&str; 2] = ["TransferWithAuthorization", "ReceiveWithAuthorization"];
/// Types that give away one thing for another: of Seaport, and of exchanges that settle what is signed elsewhere.
const ORDERS: [&str; 4] = ["OrderComponents", "BulkOrder", "Order", "LimitOrder"];
/// Members that say how much.
const AMOUNTS: [&str; 5] = ["value", "amount", "wad", "startAmount", "endAmount"];
/// Members that say until when, which nobody need limit, or that mean nothing as a number.
const OTHERS: [&str; 7] = ["deadline", "sigDeadline", "expiry", "expiration", "validBefore", "nonce", "salt"];
/// Fewest bits of an amount of tokens.
const AMOUNT_BITS: usize = 96;

/// The data in words.
pub(super) fn told(data: &TypedData) -> String {
    let domain = |name: &str| member(data.domain(), name);
    let mut told = format!("typed data of the type {}", quoted(data.primary_type()));
    if let Some(name) = domain("name") {
        told = format!("{told} for {}", quoted(&shown(name)));
    }
    if let Some(version) = domain("version") {
        told = format!("{told} version {}", quoted(&shown(version)));
    }
    let contract = domain("verifyingContract").map(|contract| clean(&shown(contract)));
    let chain = domain("chainId").map(|chain| clean(&shown(chain)));
    let contract =
        contract.map_or_else(|| "NO contract".to_owned(), |contract| format!("the contract {contract}"));
    let chain = chain.map_or_else(|| "ANY chain".to_owned(), |chain| format!("chain {chain}"));
    let outcome = outcome(data).map_or_else(String::new, |outcome| format!(", which {outcome}"));
    format!("{told}{outcome}, meant for {contract} on {chain}")
}

/// What permits and transfers of tokens come to, where their members say so in the names that standards give them, and name
/// one account and one amount only.
fn outcome(data: &TypedData) -> Option<String> {
    let mut leaves = Leaves::default();
    leaves.members("message", data.message()?);
    let amount = leaves.only(|leaf| {
        leaf.is_unlimited || (AMOUNTS.contains(&leaf.name) && leaf.type_name.starts_with("uint"))
    })?;
    let amount = if amount.is_unlimited {
        "tokens WITHOUT LIMIT".to_owned()
    } else {
        format!("{} of the token's smallest parts", amount.shown)
    };
    let account =
        |names: &[&str]| leaves.only(|leaf| names.contains(&leaf.name) && leaf.type_name == "address");
    if TRANSFERS.contains(&data.primary_type()) {
        return Some(format!("moves {amount} to {}", account(&["to"])?.shown));
    }
    let spender = account(&SPENDERS).filter(|_| data.primary_type().starts_with(PERMIT))?;
    Some(format!("lets {} move {amount}", spender.shown))
}

/// The data in a few words.
pub(super) fn brief(data: &TypedData) -> String {
    let name = member(data.domain(), "name").map(|name| format!(" for {}", quoted(&shown(name))));
    format!("{}{}", clean(data.primary_type()), name.unwrap_or_default())
}

/// Adds every member that is signed, and what needs care about them.
pub(super) fn tell(data: &TypedData, label: &str, recipients: &mut Recipients<'_>, story: &mut Story) {
    story.fact(&format!("{label}primaryType"), clean(data.primary_type()));
    let mut leaves = Leaves::default();
    leaves.members("domain", data.domain());
    leaves.members("message", data.message().unwrap_or_default());
    for leaf in &leaves.found {
        let mark = if leaf.is_unlimited { " [!] WITHOUT LIMIT" } else { "" };
        let value = if leaf.is_text { quoted(&leaf.shown) } else { clean(&leaf.shown) };
        let path = clean(&format!("{label}{}", leaf.path));
        story.fact(&path, format!("{value} ({}){mark}", clean(leaf.type_name)));
        if leaf.is_account {
            let in_full = format!("{path}, in full");
            if GETTERS.contains(&leaf.name) || SPENDERS.contains(&leaf.name) {
                recipients.tell(&in_full, &leaf.shown, story);
            } else {
                recipients.note(&in_full, &leaf.shown, story);
            }
        }
    }
    permission(data, &leaves, label, story);
    calls(&leaves, label, story);
    for leaf in leaves.found.iter().filter(|leaf| leaf.is_unlimited) {
        story.flag(Level::High, "unlimited", format!("{label}{} is without limit", leaf.path));
        story.danger("the word UNLIMITED", "UNLIMITED");
    }
    domain(data, label, story);
    unsigned(data, label, story);
}

/// What lets others move what the signer has.
fn permission(data: &TypedData, leaves: &Leaves<'_>, label: &str, story: &mut Story) {
    let type_name = data.primary_type();
    let spenders =
        leaves.found.iter().filter(|leaf| SPENDERS.contains(&leaf.name) && leaf.type_name == "address");
    let spenders: Vec<&str> = spenders.map(|leaf| leaf.shown.as_str()).collect();
    if type_name.starts_with(PERMIT) || !spenders.is_empty() {
        let whom = if spenders.is_empty() { "whoever has it".to_owned() } else { spenders.join(", ") };
        let text =
            format!("{label}a permit: {whom} may move tokens from then on, without a transaction of yours");
        story.flag(Level::High, "token-approval", text);
        story.danger("the word APPROVAL", "APPROVAL");
    }
    if TRANSFERS.contains(&type_name) {
        story.flag(
            Level::High,
            "token-transfer",
            format!("{label}whoever has it may make the transfer of tokens"),
        );
        story.danger("the word TRANSFER", "TRANSFER");
    }
    let is_barter =
        |members: &[Member]| ["offer", "consideration"].iter().all(|name| member(members, name).is_some());
    if ORDERS.contains(&type_name) || data.message().is_some_and(is_barter) {
        let text = format!("{label}an order: whoever has it may take what it offers, for what it asks");
        story.flag(Level::High, "order", text);
        story.danger("the word ORDER", "ORDER");
    }
}

/// What lets others call a contract in the name of the signer: as wallets of several owners and relayers do (ERC-2771).
fn calls(leaves: &Leaves<'_>, label: &str, story: &mut Story) {
    let calls =
        leaves.found.iter().filter(|leaf| leaf.type_name == "bytes" || leaf.type_name.starts_with("bytes["));
    for leaf in calls.filter(|leaf| leaf.bytes >= CALL_BYTES) {
        let text = format!(
            "{label}{} may let another call a contract for you: {} bytes that are not decoded here",
            leaf.path, leaf.bytes
        );
        story.flag(Level::High, "relayed-call", clean(&text));
        story.danger("the word UNDECODED", "UNDECODED");
    }
}

/// How far the signature reaches.
fn domain(data: &TypedData, label: &str, story: &mut Story) {
    if member(data.domain(), "chainId").is_none() {
        story.flag(Level::Med, "any-chain", format!("{label}names no chain: it may hold on every one"));
    }
    if member(data.domain(), "verifyingContract").is_none() {
        story.flag(
            Level::Med,
            "any-contract",
            format!("{label}names no contract: any may take it for its own"),
        );
    }
    if data.message().is_none() {
        story.flag(Level::High, "domain-only", format!("{label}signs a domain and no message"));
    }
}

/// What stands beside what is signed, so that people take it for signed.
fn unsigned(data: &TypedData, label: &str, story: &mut Story) {
    let unsigned = data.unsigned();
    if unsigned.count > 0 {
        let shown: Vec<String> = unsigned.paths.iter().map(|path| clean(path)).collect();
        let more = unsigned.count.saturating_sub(shown.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!("{label}NOT signed, though the payload holds it: {}{more}", shown.join(", "));
        story.flag(Level::High, "unsigned-members", text);
    }
}

fn member<'d>(members: &'d [Member], name: &str) -> Option<&'d TypedValue> {
    members.iter().find(|member| &*member.name == name).map(|member| &member.value)
}

/// A value that holds no others, not yet cleaned.
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

/// A value that holds no others, and where it stands.
struct Leaf<'d> {
    path: String,
    name: &'d str,
    type_name: &'d str,
    shown: String,
    is_unlimited: bool,
    is_text: bool,
    is_account: bool,
    /// How many bytes it has, if it is of such.
    bytes: usize,
}

#[derive(Default)]
struct Leaves<'d> {
    found: Vec<Leaf<'d>>,
}

impl<'d> Leaves<'d> {
    /// The one that is such; nothing if there are several.
    fn only(&self, is_such: impl Fn(&Leaf<'d>) -> bool) -> Option<&Leaf<'d>> {
        let mut such = self.found.iter().filter(|leaf| is_such(leaf));
        such.next().filter(|_| such.next().is_none())
    }

    fn members(&mut self, path: &str, members: &'d [Member]) {
        for member in members {
            self.value(&format!("{path}.{}", member.name), member, &member.value);
        }
    }

    /// As deep as values nest, which reading them bounds.
    fn value(&mut self, path: &str, of: &'d Member, value: &'d TypedValue) {
        match value {
            TypedValue::Struct(members) if !members.is_empty() => self.members(path, members),
            TypedValue::List(values) if !values.is_empty() => {
                for (index, value) in values.iter().enumerate() {
                    self.value(&format!("{path}[{index}]"), of, value);
                }
            }
            leaf => self.found.push(Leaf {
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

/// Whether it allows as much as there is: the greatest number of its type, more than half of it for an amount, or all that the
/// `allowed` of the permit of Dai stands for.
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
