//! Transactions of Tron.

mod permission;

use quorate_chain::address::{Chain, of_tron_account};
use quorate_chain::transaction::{Tron, TronContract, TronResource};

use super::recipient::Recipients;
use super::token::{self, TokenCall};
use super::{Key, fee};
use crate::kinds::{Level, Scene, Story};
use crate::text::{date_time, duration, grouped, quoted};

/// The lowest number of an active permission, under which others sign for an account.
const FIRST_ACTIVE: u64 = 2;
/// Milliseconds from one block to the next.
const BLOCK_MILLIS: u64 = 3_000;
/// What a call may cost without a second look, in sun.
const USUAL_FEE: u64 = 500_000_000;

pub(super) fn told(transaction: &Tron, signer: &str, key: &Key<'_>, scene: &Scene<'_>) -> Story {
    let account = of_tron_account(&transaction.owner());
    let recipients = Recipients::new(Chain::Tron, key, scene);
    let (brief, what) = does(transaction.contract(), &account, &recipients);
    let sentence = format!("Sign a transaction with {signer} that would {what}, on Tron.");
    let mut story = Story::new(brief, sentence);
    contract(transaction, recipients, &mut story);
    story.fact("account, in full", grouped(&account));
    let permission = transaction.permission_id();
    if permission >= FIRST_ACTIVE {
        story.flag(
            Level::Med,
            "active-permission",
            format!(
                "signs for {account} under its permission {permission}, whose keys are not in these bytes"
            ),
        );
    }
    if permission > 0 {
        story.fact("permission", permission.to_string());
    }
    let memo = transaction.memo();
    if !memo.is_empty() {
        story.fact(
            "memo",
            std::str::from_utf8(memo).map_or_else(|_| const_hex::encode_prefixed(memo), quoted),
        );
    }
    story.fact("fee", cost(transaction));
    if let TronContract::Trigger { call_value, .. } = transaction.contract() {
        let told = |sun| format!("{} TRX", u64::try_from(sun).map(trx).unwrap_or_default());
        fee::judge(transaction.fee_limit().into(), USUAL_FEE.into(), (*call_value).into(), told, &mut story);
    }
    if transaction.timestamp() > 0 {
        story.fact("made", date_time(transaction.timestamp()));
    }
    story.fact("expires", date_time(transaction.expiration()));
    let (number, hash) = transaction.reference();
    story.fact("reference block", format!("{} {}", const_hex::encode(number), const_hex::encode(hash)));
    story.fact("kind", transaction.contract().name());
    story.flag(Level::Med, "moves-funds", "moves funds, or acts for whoever holds the address");
    story.fact("digest, computed here", grouped(&const_hex::encode(transaction.digest())));
    story
}

/// What a contract of `account` does, in a few words and in more.
fn does(contract: &TronContract, account: &str, recipients: &Recipients<'_>) -> (String, String) {
    let whom = |account: &[u8; 20]| {
        let address = of_tron_account(account);
        (recipients.short(&address), recipients.named(&address))
    };
    match contract {
        TronContract::Transfer { to, amount } => {
            let (amount, (short, to)) = (trx(*amount), whom(to));
            (format!("{amount} TRX to {short}"), format!("send {amount} TRX from {account} to {to}"))
        }
        TronContract::Trigger { contract, call_value, data, call_token_value, token_id } => {
            let (value, (short, to)) = (trx(*call_value), whom(contract));
            let tokens = if *call_token_value > 0 || *token_id > 0 {
                format!(" and {call_token_value} of the smallest parts of the token {token_id} (TRC-10)")
            } else {
                String::new()
            };
            if let Some(call) = TokenCall::read(data) {
                let (brief, what) = call.words(of_tron_account, recipients);
                let paid = if *call_value > 0 || !tokens.is_empty() {
                    format!(", with {value} TRX{tokens}")
                } else {
                    String::new()
                };
                return (
                    brief + &paid,
                    format!("have {account} call {to} as a contract of tokens, to {what}{paid}"),
                );
            }
            let length = data.len();
            (
                format!("call {short} with {value} TRX{tokens}"),
                format!("have {account} call {to} with {length} bytes of data and {value} TRX{tokens}"),
            )
        }
        TronContract::Delegate { resource, balance, receiver, .. } => {
            let (what, (short, to)) = (given(*resource, *balance), whom(receiver));
            (format!("lend {what} to {short}"), format!("let {to} use {what} of {account}"))
        }
        TronContract::Undelegate { resource, balance, receiver } => {
            let (what, (short, from)) = (given(*resource, *balance), whom(receiver));
            (format!("take back {what} from {short}"), format!("end that {from} uses {what} of {account}"))
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
        TronContract::Permissions { .. } => {
            (format!("all permissions of {account}"), format!("replace ALL permissions of {account}"))
        }
    }
}

/// Adds what its kind of contract needs to be looked at for.
fn contract(transaction: &Tron, mut recipients: Recipients<'_>, story: &mut Story) {
    match transaction.contract() {
        TronContract::Transfer { to, .. } => recipients.tell("to, in full", &of_tron_account(to), story),
        TronContract::Trigger { contract, data, call_value, call_token_value, .. } => {
            let to = of_tron_account(contract);
            // A contract of tokens gets nothing itself, unless something comes with the call.
            let call = TokenCall::read(data);
            if call.is_some() && *call_value == 0 && *call_token_value == 0 {
                recipients.tell_keeper("contract, in full", &to, story);
            } else {
                recipients.tell("contract, in full", &to, story);
            }
            if !data.is_empty() {
                story.fact("data", const_hex::encode_prefixed(data));
                match call {
                    Some(call) => call.tell(of_tron_account, &mut recipients, story),
                    None => token::unknown(false, story),
                }
            }
        }
        TronContract::Delegate { receiver, lock, lock_period, .. } => {
            recipients.tell("to, in full", &of_tron_account(receiver), story);
            story.fact("taken back", locked(*lock, *lock_period));
        }
        TronContract::Undelegate { receiver, .. } => {
            story.fact("from, in full", grouped(&of_tron_account(receiver)));
        }
        TronContract::Freeze { .. } | TronContract::Unfreeze { .. } => {
            story.fact("staked funds", "come back only days after the stake is ended");
        }
        TronContract::Permissions { owner, witness, actives } => {
            let others = witness.iter().chain(actives);
            permission::told(&transaction.owner(), owner.as_ref(), others, story);
        }
    }
    recipients.finish(story);
}

/// What the network takes for it.
fn cost(transaction: &Tron) -> String {
    match (transaction.contract(), transaction.fee_limit()) {
        (TronContract::Trigger { .. }, limit) => {
            format!("at most {} TRX for energy beyond what stakes give; bandwidth comes on top", trx(limit))
        }
        (_, 0) => "what the network takes: these bytes set no limit".to_owned(),
        (_, limit) => format!("what the network takes: the limit of {} TRX is for calls only", trx(limit)),
    }
}

/// When what is lent can be taken back.
fn locked(lock: bool, period: u64) -> String {
    match (lock, period) {
        (false, _) => "at any time".to_owned(),
        (true, 0) => "not before three days".to_owned(),
        (true, period) => {
            let time = period.checked_mul(BLOCK_MILLIS).map(duration);
            format!("not before {period} blocks, about {}", time.as_deref().unwrap_or("for ever"))
        }
    }
}

fn given(resource: TronResource, balance: u64) -> String {
    format!("the {} of {} staked TRX", named(resource), trx(balance))
}

fn named(resource: TronResource) -> &'static str {
    match resource {
        TronResource::Bandwidth => "bandwidth",
        TronResource::Energy => "energy",
    }
}

/// An amount of sun in TRX, exactly.
fn trx(sun: u64) -> String {
    const SUN: u64 = 1_000_000;
    let text = format!("{}.{:06}", sun / SUN, sun % SUN);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
