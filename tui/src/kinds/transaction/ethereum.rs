//! Transactions of Ethereum.

use std::fmt::Write as _;

use quorate_chain::address::{Chain, of_account};
use quorate_chain::authorization::Signed;
use quorate_chain::contract::Call;
use quorate_chain::transaction::Ethereum;
use quorate_policy::Integer;

use super::recipient::Recipients;
use super::token::{self, TokenCall};
use super::{Key, fee};
use crate::contracts::{Stated, argument};
use crate::kinds::payload::authorization;
use crate::kinds::scene::count;
use crate::kinds::{Level, Scene, Story};
use crate::text::{clean, grouped, quoted};

/// Gas that a plain transfer takes.
const TRANSFER_GAS: u64 = 21_000;
/// A fee in wei that needs no second look, however little is sent: a tenth of an ether.
const USUAL_FEE: u128 = 100_000_000_000_000_000;

/// The chain that lists need not name.
const MAINNET: u64 = 1;
/// Chains whose own coin is ether: the main network, OP, Zora, Base, Arbitrum One and Nova, Linea, Blast, Scroll, `ZKsync`,
/// Mode and World Chain; and the test networks Sepolia, Hoodi, Base Sepolia, OP Sepolia and Arbitrum Sepolia.
const CHAINS_OF_ETHER: [u64; 17] = [
    1, 10, 324, 480, 8453, 34443, 42161, 42170, 59144, 81457, 534_352, 7_777_777, 11_155_111, 560_048, 84532,
    11_155_420, 421_614,
];

/// A call as an interface of the organization tells it.
struct Told {
    call: Call,
    /// Name of the interface, in quotes.
    interface: String,
}

impl Told {
    fn of(transaction: &Ethereum, scene: &Scene<'_>) -> Option<Self> {
        let stated = Stated::of(&scene.organization.smart_contract_interfaces);
        let interface = quoted(&stated.ethereum(&transaction.to()?)?.label);
        Some(Self { call: transaction.call(&stated)?, interface })
    }
}

pub(super) fn told(transaction: &Ethereum, signer: &str, key: &Key<'_>, scene: &Scene<'_>) -> Story {
    let mut recipients = Recipients::new(Chain::Ethereum, key, scene);
    let (to, data) = (transaction.to().map(|to| of_account(&to)), transaction.data());
    let known = Told::of(transaction, scene);
    let token = to.as_ref().and_then(|_| TokenCall::read(data));
    let (mut brief, mut what) = does(transaction, token.as_ref(), known.as_ref(), &recipients);
    match transaction.chain_id() {
        Some(chain) => {
            let _ = write!(what, ", on chain {chain}");
            if chain != MAINNET {
                let _ = write!(brief, ", on chain {chain}");
            }
        }
        None => what.push_str(", on ANY chain"),
    }
    what.push_str(&delegates(&transaction.authorizations()));
    let mut story = Story::new(brief, format!("Sign a transaction with {signer} that would {what}."));
    if let Some(to) = &to {
        // A contract of tokens gets nothing itself, unless something comes with the call.
        if token.is_some() && !is_paid(transaction) {
            recipients.tell_keeper("to, in full", to, &mut story);
        } else {
            recipients.tell("to, in full", to, &mut story);
        }
    }
    let is_to_itself = to.as_ref().is_some_and(|to| recipients.is_own(to));
    cost(transaction, is_to_itself, &mut story);
    story.fact("nonce", transaction.nonce().to_string());
    story.fact("kind", transaction.kind().to_owned());
    if let Some(known) = &known {
        arguments(known, &mut recipients, &mut story);
    }
    if !data.is_empty() {
        story.fact("data", const_hex::encode_prefixed(data));
    }
    match token {
        Some(token) => token.tell(of_account, &mut recipients, &mut story),
        None if to.is_some() && !data.is_empty() => token::unknown(known.is_some(), &mut story),
        None => {}
    }
    delegations(transaction, &mut recipients, &mut story);
    recipients.finish(&mut story);
    rest(transaction, &mut story);
    story.fact("digest, computed here", grouped(&const_hex::encode(transaction.digest())));
    story
}

/// What it does, in a few words and in more.
fn does(
    transaction: &Ethereum,
    token: Option<&TokenCall<'_>>,
    known: Option<&Told>,
    recipients: &Recipients<'_>,
) -> (String, String) {
    let value = coins(transaction, &transaction.value());
    let data = transaction.data();
    let Some(to) = transaction.to().map(|to| of_account(&to)) else {
        let what = format!("create a contract from {} bytes of code, with {value}", data.len());
        return (format!("{value} to a new contract"), what);
    };
    let (short, named) = (recipients.short(&to), recipients.named(&to));
    if let Some(token) = token {
        let (brief, what) = token.words(of_account, recipients);
        let paid = if is_paid(transaction) { format!(", with {value}") } else { String::new() };
        return (brief + &paid, format!("call {named} as a contract of tokens, to {what}{paid}"));
    }
    let brief = format!("{value} to {short}");
    if let Some(Told { call, interface }) = known {
        let (name, spelled) = (clean(&call.name), spelled(call));
        let what = format!(
            "call {name}{spelled} of {named}, in the words of its interface {interface}, with {value}"
        );
        return (brief, what);
    }
    let what = if data.is_empty() {
        format!("send {value} to {named}")
    } else {
        format!("call {named} with {} bytes of data and {value}", data.len())
    };
    (brief, what)
}

fn is_paid(transaction: &Ethereum) -> bool {
    transaction.value() != [0; 32]
}

/// What it costs at most, and whether to believe that.
fn cost(transaction: &Ethereum, is_to_itself: bool, story: &mut Story) {
    let told = |wei: u128| coins(transaction, &wide(wei));
    let (most, tip) = transaction.fees();
    let gas = transaction.gas();
    let mut cost = u128::from(gas).saturating_mul(most);
    let tipped =
        tip.map_or_else(String::new, |tip| format!(", of which {tip} at most for whoever includes it"));
    story.fact("fee at most", format!("{}: {gas} gas at {most} wei each{tipped}", told(cost)));
    if let Some((number, most)) = transaction.blobs() {
        story.fact("blobs", format!("{number}, for {} at most on top", told(most)));
        cost = cost.saturating_add(most);
    }
    let value = transaction.value();
    let sent = match (is_to_itself, value.split_first_chunk::<16>()) {
        (true, _) => 0,
        (false, Some(([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], low))) => {
            low.try_into().map_or(u128::MAX, u128::from_be_bytes)
        }
        (false, _) => u128::MAX,
    };
    fee::judge(cost, USUAL_FEE, sent, told, story);
    if tip.is_some_and(|tip| tip > most) {
        story.flag(
            Level::Med,
            "tip-above-fee",
            "a larger tip than the whole price of gas: no block takes it",
        );
    }
}

/// Whose code it changes, as the end of a sentence.
fn delegates(signed: &[Signed]) -> String {
    match signed {
        [] => String::new(),
        [Signed { authorization, authority: Some(authority) }] if !authorization.is_revocation() => {
            format!(", and let the code of {} act for {authority}", of_account(authorization.address()))
        }
        several => format!(", and change whose code acts for {}", count(several.len(), "account")),
    }
}

/// Whose code it changes, one by one.
fn delegations(transaction: &Ethereum, recipients: &mut Recipients<'_>, story: &mut Story) {
    for (place, Signed { authorization, authority }) in transaction.authorizations().iter().enumerate() {
        let label = format!("authorization[{place}] ");
        let whose = authority.clone().unwrap_or_else(|| "nobody: its signature is no account's".to_owned());
        story.fact(&format!("{label}of"), whose);
        authorization::tell(authorization, &label, recipients, story);
    }
}

/// What is not the plain transfer of some ether.
fn rest(transaction: &Ethereum, story: &mut Story) {
    if transaction.to().is_none() {
        story.flag(Level::High, "creates-contract", "creates a contract whose code is not looked into here");
        story.danger("the word CONTRACT", "CONTRACT");
    }
    if transaction.chain_id().is_none() {
        story.flag(Level::High, "any-chain", "names no chain: it can be sent on every one");
        story.danger("the word ANY", "ANY");
    }
    if transaction.accessed() > 0 {
        story.fact("access list", format!("{} addresses", transaction.accessed()));
    }
    if transaction.data().is_empty() && transaction.gas() > TRANSFER_GAS {
        story.fact("gas", format!("more than the {TRANSFER_GAS} of a plain transfer"));
    }
    story.flag(Level::Med, "moves-funds", "moves funds, or acts for whoever holds the address");
}

/// The arguments of a call in brackets, if they are few.
fn spelled(call: &Call) -> String {
    const FEW: usize = 3;
    let lines = call.lines().filter(|told| told.left_out == 0 && (1..=FEW).contains(&told.lines.len()));
    let told = lines.map(|told| {
        let spelled = told.lines.iter().map(|line| format!("{} {}", clean(&line.path), argument(line)));
        format!("({})", spelled.collect::<Vec<_>>().join(", "))
    });
    told.unwrap_or_default()
}

/// Tells the arguments of a call by their names.
fn arguments(known: &Told, recipients: &mut Recipients<'_>, story: &mut Story) {
    let Told { call, interface } = known;
    story.fact("calls", format!("{} ({})", clean(&call.name), const_hex::encode_prefixed(call.selector)));
    let Some(told) = call.lines() else {
        let text = format!("NOT what {} takes by the interface {interface}", clean(&call.name));
        story.fact("arguments", text);
        return;
    };
    for line in &told.lines {
        let path = clean(&line.path);
        story.fact(&path, format!("{} ({})", argument(line), clean(&line.kind)));
        if line.kind == "address" {
            recipients.tell(&format!("{path}, in full"), &line.text, story);
        }
    }
    if told.left_out > 0 {
        story.fact("more arguments", format!("{} that are not shown", told.left_out));
    }
    story.fact(
        "names by",
        format!("the interface {interface}, which the organization uploaded, as the daemon states [s]: what they mean is not proven by the bytes"),
    );
}

fn wide(number: u128) -> [u8; 32] {
    let mut bytes = [0; 32];
    if let Some(low) = bytes.last_chunk_mut::<16>() {
        *low = number.to_be_bytes();
    }
    bytes
}

/// An amount of wei in the coin of the chain, exactly. Few chains have ether, and where none is named it may be any.
fn coins(transaction: &Ethereum, wei: &[u8; 32]) -> String {
    let amount = ether(wei);
    match transaction.chain_id() {
        Some(chain) if CHAINS_OF_ETHER.contains(&chain) => format!("{amount} ETH"),
        Some(chain) => format!("{amount} coins of chain {chain}"),
        None => format!("{amount} coins"),
    }
}

/// An amount of wei in ether, exactly.
fn ether(wei: &[u8; 32]) -> String {
    const DECIMALS: usize = 18;
    let digits = Integer::from_be_bytes(wei).map(|number| number.to_string()).unwrap_or_default();
    let digits = format!("{digits:0>width$}", width = DECIMALS + 1);
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(DECIMALS));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
