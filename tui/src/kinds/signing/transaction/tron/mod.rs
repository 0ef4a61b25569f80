//! Describes Tron transactions.

use quorate_chain::address::{Chain, of_tron_account};
use quorate_chain::transaction::{Tron, TronContract, TronResource};

use super::fee;
use super::token::{self, TokenCall};
use crate::kinds::prelude::*;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::text::{date_time, duration, grouped};

mod permission;
mod transfer;

pub(super) use self::transfer::transfer;

/// Lowest id of an active permission, which lets others sign for an account.
const FIRST_ACTIVE: u64 = 2;
/// Time between two blocks, in milliseconds.
const BLOCK_MILLIS: u64 = 3_000;
/// Largest fee limit of a call in sun that is never flagged.
const USUAL_FEE: u64 = 500_000_000;

pub(super) fn describe(transaction: &Tron, key: &Key<'_>, context: &ReviewContext<'_>) -> Description {
    let account = of_tron_account(&transaction.owner());
    let recipients = Recipients::new(Chain::Tron, key, context);
    let (brief, what) = summarize(transaction.contract(), &account, &recipients);
    let sentence = format!("Sign a transaction with {} that would {what}, on Tron.", key.signer);
    let mut description = Description::new(brief, sentence);
    add_contract(transaction, recipients, &mut description);
    description.fact("account, in full", grouped(&account));
    let permission = transaction.permission_id();
    if permission >= FIRST_ACTIVE {
        description.flag_medium(
            "active-permission",
            format!(
                "Signs for {account} under its permission {permission}, whose keys are not in these bytes."
            ),
        );
    }
    if permission > 0 {
        description.fact("permission", permission.to_string());
    }
    let memo = transaction.memo();
    if !memo.is_empty() {
        description.fact(
            "memo",
            std::str::from_utf8(memo).map_or_else(|_| const_hex::encode_prefixed(memo), quoted),
        );
    }
    description.fact("fee", cost(transaction));
    if let TronContract::Trigger { call_value, .. } = transaction.contract() {
        let format_amount = |sun| format!("{} TRX", u64::try_from(sun).map(trx).unwrap_or_default());
        fee::flag_high_fee(
            transaction.fee_limit().into(),
            USUAL_FEE.into(),
            (*call_value).into(),
            format_amount,
            &mut description,
        );
    }
    if transaction.timestamp() > 0 {
        description.fact("created", date_time(transaction.timestamp()));
    }
    description.fact("expires", date_time(transaction.expiration()));
    let (number, hash) = transaction.reference();
    description.fact("reference block", format!("{} {}", const_hex::encode(number), const_hex::encode(hash)));
    description.fact("kind", transaction.contract().name());
    description.flag_medium("moves-funds", "Moves funds, or acts for the holder of the address.");
    description.fact("digest, computed here", grouped(&const_hex::encode(transaction.digest())));
    description
}

/// Returns the effect of a contract of `account` in a few words and as a clause.
fn summarize(contract: &TronContract, account: &str, recipients: &Recipients<'_>) -> (String, String) {
    let texts_of = |account: &[u8; 20]| {
        let address = of_tron_account(account);
        (recipients.short(&address), recipients.named(&address))
    };
    match contract {
        TronContract::Transfer { to, amount } => {
            let (amount, (short, to)) = (trx(*amount), texts_of(to));
            (format!("{amount} TRX to {short}"), format!("send {amount} TRX from {account} to {to}"))
        }
        TronContract::Trigger { contract, call_value, data, call_token_value, token_id } => {
            let tokens = if *call_token_value > 0 || *token_id > 0 {
                format!(" and {call_token_value} of the smallest units of the token {token_id} (TRC-10)")
            } else {
                String::new()
            };
            let is_paid = *call_value > 0 || !tokens.is_empty();
            let value = format!("{} TRX{tokens}", trx(*call_value));
            match TokenCall::read(data) {
                Some(call) => {
                    let paid = if is_paid { format!(", with {value}") } else { String::new() };
                    let (brief, what) = call.words(of_tron_account, recipients);
                    let to = texts_of(contract).1;
                    (brief + &paid, format!("have {account} call {to} as a token contract, to {what}{paid}"))
                }
                None => summarize_undecoded_call(texts_of(contract), account, data, &value),
            }
        }
        TronContract::Delegate { resource, balance, receiver, .. } => {
            let (what, (short, to)) = (staked_resource(*resource, *balance), texts_of(receiver));
            (format!("lend {what} to {short}"), format!("let {to} use {what} of {account}"))
        }
        TronContract::Undelegate { resource, balance, receiver } => {
            let (what, (short, from)) = (staked_resource(*resource, *balance), texts_of(receiver));
            (format!("take back {what} from {short}"), format!("stop lending {what} of {account} to {from}"))
        }
        TronContract::Freeze { resource, balance } => {
            let (name, amount) = (named(*resource), trx(*balance));
            (
                format!("stake {amount} TRX for {name}"),
                format!("stake {amount} TRX of {account}, which gives {name}"),
            )
        }
        TronContract::Unfreeze { resource, balance } => {
            let (name, amount) = (named(*resource), trx(*balance));
            (
                format!("end a stake of {amount} TRX"),
                format!("end the stake of {amount} TRX of {account}, which gave {name}"),
            )
        }
        TronContract::Permissions { .. } => (
            format!("[!] ALL permissions replaced, of {account}"),
            format!("replace ALL permissions of {account}"),
        ),
    }
}

/// Returns a call whose effect is unknown in a few words and as a clause.
fn summarize_undecoded_call(
    (short, to): (String, String),
    account: &str,
    data: &[u8],
    value: &str,
) -> (String, String) {
    let length = count(data.len(), "byte");
    (
        format!("UNDECODED call with {value} of {short}"),
        format!("have {account} call {to} with {length} of data and {value}"),
    )
}

/// Adds the facts and flags of this kind of contract.
fn add_contract(transaction: &Tron, mut recipients: Recipients<'_>, description: &mut Description) {
    match transaction.contract() {
        TronContract::Transfer { to, .. } => recipients.add("to, in full", &of_tron_account(to), description),
        TronContract::Trigger { contract, data, call_value, call_token_value, .. } => {
            let to = of_tron_account(contract);
            // A token contract receives nothing itself, unless the call sends something along.
            let call = TokenCall::read(data);
            if call.is_some() && *call_value == 0 && *call_token_value == 0 {
                recipients.add_contract("contract, in full", &to, description);
            } else {
                recipients.add("contract, in full", &to, description);
            }
            if !data.is_empty() {
                description.fact("data", const_hex::encode_prefixed(data));
                match call {
                    Some(call) => call.add_details(of_tron_account, &mut recipients, description),
                    None => token::flag_unknown_call(false, description),
                }
            }
        }
        TronContract::Delegate { receiver, lock, lock_period, .. } => {
            recipients.add("to, in full", &of_tron_account(receiver), description);
            description.fact("can be taken back", locked(*lock, *lock_period));
        }
        TronContract::Undelegate { receiver, .. } => {
            description.fact("from, in full", grouped(&of_tron_account(receiver)));
        }
        TronContract::Freeze { .. } | TronContract::Unfreeze { .. } => {
            description.fact("staked funds", "are returned only days after the stake ends");
        }
        TronContract::Permissions { owner, witness, actives } => {
            let others = witness.iter().chain(actives);
            permission::add_permissions(&transaction.owner(), owner.as_ref(), others, description);
        }
    }
    recipients.finish(description);
}

/// Returns the cost of the transaction as text.
fn cost(transaction: &Tron) -> String {
    match (transaction.contract(), transaction.fee_limit()) {
        (TronContract::Trigger { .. }, limit) => {
            format!(
                "at most {} TRX for energy that stakes do not cover, plus the cost of bandwidth",
                trx(limit)
            )
        }
        (_, 0) => "set by the network: these bytes set no limit".to_owned(),
        (_, limit) => format!("set by the network: the limit of {} TRX is for calls only", trx(limit)),
    }
}

/// Returns when a lent resource can be taken back.
fn locked(lock: bool, period: u64) -> String {
    match (lock, period) {
        (false, _) => "at any time".to_owned(),
        (true, 0) => "not before three days".to_owned(),
        (true, period) => {
            let time = period.checked_mul(BLOCK_MILLIS).map(duration);
            format!("not before {period} blocks, about {}", time.as_deref().unwrap_or("forever"))
        }
    }
}

fn staked_resource(resource: TronResource, balance: u64) -> String {
    format!("the {} of {} staked TRX", named(resource), trx(balance))
}

fn named(resource: TronResource) -> &'static str {
    match resource {
        TronResource::Bandwidth => "bandwidth",
        TronResource::Energy => "energy",
    }
}

/// Formats an amount of sun in TRX, exactly.
fn trx(sun: u64) -> String {
    const SUN: u64 = 1_000_000;
    let text = format!("{}.{:06}", sun / SUN, sun % SUN);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
