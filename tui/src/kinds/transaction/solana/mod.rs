//! Transactions of Solana.

mod act;

use std::cmp::Reverse;
use std::fmt::Write as _;

use quorate_chain::address::Chain;
use quorate_chain::transaction::Solana;
use quorate_chain::transaction::solana::{Act, ComputeBudget, LOOKED_UP, System};
use sha2::{Digest, Sha256};

use self::act::{Alarm, Known, Told, told as told_act};
use super::recipient::Recipients;
use super::{Key, fee};
use crate::contracts::Stated;
use crate::kinds::scene::{count, listed};
use crate::kinds::{Level, Scene, Story};
use crate::text::grouped;

/// What a signature costs, in lamports.
const SIGNATURE_LAMPORTS: u128 = 5_000;
/// A fee in lamports that needs no second look, however little is sent: a twentieth of a SOL.
const USUAL_FEE: u128 = 50_000_000;
/// Most units of computation a transaction can have; what it may use if it names no limit is less.
const MAX_UNITS: u32 = 1_400_000;
/// Acts that the sentence spells out.
const SPELLED_ACTS: usize = 3;

pub(super) fn told(transaction: &Solana, signer: &str, key: &Key<'_>, scene: &Scene<'_>) -> Story {
    let recipients = Recipients::new(Chain::Solana, key, scene);
    let stated = Stated::of(&scene.organization.smart_contract_interfaces);
    let known = Known { programs: transaction.interfaces(&stated), stated };
    let instructions = transaction.instructions().enumerate();
    let acts: Vec<(usize, Told<'_>)> = instructions
        .filter_map(|(place, instruction)| Some((place, told_act(&instruction, &known)?)))
        .map(|(place, act)| (place, with_name(act, transaction, &recipients)))
        .collect();
    let (brief, sentence) = summary(&acts, &recipients);
    let mut story = Story::new(brief, format!("Sign a transaction with {signer} that {sentence}."));
    for (place, act) in &acts {
        story.fact(&format!("instructions[{place}]"), act.what.clone());
        for (name, value) in &act.details {
            story.fact(&format!("instructions[{place}] {name}"), value.clone());
        }
    }
    gets(transaction, acts.iter().filter_map(|(_, act)| act.to), recipients, &mut story);
    rest(transaction, &mut story);
    let alarms: Vec<_> = acts.iter().filter_map(|(place, act)| alarms_of(*place, act)).collect();
    flags(transaction, &alarms, &mut story);
    story
}

/// The act with the name that its recipient has in the address book.
fn with_name<'a>(mut act: Told<'a>, transaction: &Solana, recipients: &Recipients<'_>) -> Told<'a> {
    if let Some((to, wallet)) = act.to.and_then(|to| Some((to, holder(transaction, to)?)))
        && recipients.named(wallet) != wallet
    {
        act.brief = act.brief.replace(to, &recipients.short(wallet));
        act.what = act.what.replace(to, &format!("{to} of {}", recipients.named(wallet)));
    }
    if let Some(to) = act.to.filter(|to| recipients.named(to) != *to) {
        act.brief = act.brief.replace(to, &recipients.short(to));
        act.what = act.what.replace(to, &recipients.named(to));
    }
    act
}

/// The wallet of a token account that the transaction makes.
fn holder<'a>(transaction: &'a Solana, token_account: &str) -> Option<&'a str> {
    transaction.instructions().find_map(|instruction| match instruction.act() {
        Act::CreateAssociatedTokenAccount { account, wallet, .. } if account == token_account => Some(wallet),
        _ => None,
    })
}

/// Tells who gets something. Tokens go to accounts; where the bytes make such an account, its program holds it to the
/// wallet that they name, so it is the wallet that counts.
fn gets<'a>(
    transaction: &'a Solana,
    to: impl Iterator<Item = &'a str>,
    mut recipients: Recipients<'_>,
    story: &mut Story,
) {
    let mut seen: Vec<&str> = Vec::new();
    for to in to.filter(|to| *to != LOOKED_UP) {
        if seen.contains(&to) {
            continue;
        }
        seen.push(to);
        match holder(transaction, to).filter(|wallet| *wallet != LOOKED_UP && recipients.named(to) == to) {
            None => recipients.tell("to, in full", to, story),
            Some(wallet) => {
                story.fact("to, in full", format!("{}, a token account of the wallet below", grouped(to)));
                recipients.tell("wallet, in full", wallet, story);
            }
        }
    }
    recipients.finish(story);
}

/// A few words, and in whole sentences what is worst, then what goes to strangers, then the largest amounts.
fn summary(acts: &[(usize, Told<'_>)], recipients: &Recipients<'_>) -> (String, String) {
    let mut sorted: Vec<&Told<'_>> = acts.iter().map(|(_, act)| act).collect();
    sorted.sort_by_key(|act| {
        let severity = Alarm::ALL.iter().position(|alarm| act.alarm == Some(*alarm));
        let is_to_stranger = act.to.is_some_and(|to| !recipients.knows(to));
        (severity.unwrap_or(usize::MAX), !is_to_stranger, act.to.is_none(), Reverse(act.lamports))
    });
    let brief = match sorted.as_slice() {
        [] => return ("nothing but a fee".to_owned(), "would do nothing but pay its fee".to_owned()),
        [only] => only.brief.clone(),
        [first, more @ ..] => format!("{}, and {} more", first.brief, more.len()),
    };
    let mut whats: Vec<String> =
        sorted.iter().take(SPELLED_ACTS).map(|act| format!("would {}", act.what)).collect();
    let more = acts.len().saturating_sub(whats.len());
    if more > 0 {
        whats.push(format!("would do {} told below", count(more, "more thing")));
    }
    (brief, whats.join("; that "))
}

fn alarms_of(place: usize, act: &Told<'_>) -> Option<(Alarm, String)> {
    let subject = |alarm: Alarm| match alarm {
        Alarm::Undecoded | Alarm::Stated => act.program.to_owned(),
        _ => format!("instructions[{place}]"),
    };
    act.alarm.map(|alarm| (alarm, subject(alarm)))
}

/// Who pays, who signs, until when.
fn rest(transaction: &Solana, story: &mut Story) {
    let (cost, text) = cost(transaction);
    story.fact("fee at most", text);
    let sent = transaction.instructions().filter_map(|instruction| match instruction.act() {
        Act::System(System::Transfer { from, to, lamports }) if from != to => Some(u128::from(lamports)),
        _ => None,
    });
    fee::judge(cost, USUAL_FEE, sent.sum(), |lamports| format!("{} SOL", decimal(lamports, 9)), story);
    if let Some(payer) = transaction.account_keys().first() {
        story.fact("fee payer", payer.clone());
    }
    for (key, is_filled) in transaction.signers() {
        let state = if is_filled { "there is a signature, not checked here" } else { "not signed yet" };
        story.fact("signer", format!("{key}: {state}"));
    }
    for instruction in transaction.instructions() {
        let (name, value) = match instruction.act() {
            Act::ComputeBudget(ComputeBudget::SetLoadedAccountsDataSizeLimit(bytes)) => {
                ("accounts at most", format!("{bytes} bytes"))
            }
            Act::ComputeBudget(ComputeBudget::RequestHeapFrame(bytes)) => {
                ("memory", format!("{bytes} bytes for each program"))
            }
            _ => continue,
        };
        story.fact(name, value);
    }
    for table in transaction.tables() {
        let entries = |indexes: &[u8]| listed(indexes.iter().map(ToString::to_string));
        let (writable, readonly) = (entries(&table.writable), entries(&table.readonly));
        story.fact(
            "lookup table",
            format!("{}: writes entries {writable}; reads entries {readonly}", table.key),
        );
    }
    let follows = transaction.recent_blockhash();
    let name = if transaction.uses_durable_nonce() { "nonce" } else { "expires soon after block" };
    story.fact(name, follows);
    let kind = transaction.version().map_or("legacy".to_owned(), |version| format!("version {version}"));
    story.fact("kind", kind);
    let digest = Sha256::digest(transaction.message());
    story.fact("SHA-256 of the message, computed here", grouped(&const_hex::encode(digest)));
}

/// The fee at most, in lamports and in words.
fn cost(transaction: &Solana) -> (u128, String) {
    let (mut price, mut limit) = (0, None);
    for instruction in transaction.instructions() {
        match instruction.act() {
            Act::ComputeBudget(ComputeBudget::SetComputeUnitPrice(named)) => price = named,
            Act::ComputeBudget(ComputeBudget::SetComputeUnitLimit(named)) => limit = Some(named),
            _ => {}
        }
    }
    let signatures = u128::try_from(transaction.signers().count()).unwrap_or_default();
    let base = signatures.saturating_mul(SIGNATURE_LAMPORTS);
    let units = limit.unwrap_or(MAX_UNITS).min(MAX_UNITS);
    // Both are below 2^64, and the price is in millionths.
    let priority = u128::from(price).saturating_mul(units.into()).div_ceil(1_000_000);
    let cost = base.saturating_add(priority);
    let mut text =
        format!("{} SOL: {signatures} x {SIGNATURE_LAMPORTS} lamports for signatures", decimal(cost, 9));
    if price > 0 {
        let told = if limit.is_some() { "units" } else { "units, since it names no limit," };
        let _ = write!(text, ", and {units} {told} at {price} millionths of a lamport");
    } else if let Some(limit) = limit {
        let _ = write!(text, "; {limit} units of computation at no price");
    }
    (cost, text)
}

/// What needs the most care, the worst first: its word is the one to type.
fn flags(transaction: &Solana, alarms: &[(Alarm, String)], story: &mut Story) {
    for alarm in Alarm::ALL {
        let mut subjects: Vec<&str> = Vec::new();
        for (_, subject) in alarms.iter().filter(|(raised, _)| raised == alarm) {
            if !subjects.contains(&subject.as_str()) {
                subjects.push(subject);
            }
        }
        if !subjects.is_empty() {
            let (name, text, word) = alarm.told();
            story.flag(Level::High, name, format!("{text}: {}", subjects.join(", ")));
            story.danger(&format!("the word {word}"), word);
        }
    }
    if !transaction.tables().is_empty() {
        let text = "takes accounts from lookup tables: the keys are not in the bytes, and cannot be shown";
        story.flag(Level::High, "looked-up-accounts", text);
        story.danger("the word LOOKUP", "LOOKUP");
    }
    if transaction.uses_durable_nonce() {
        let text = "uses a durable nonce: once signed it does not expire, and can be sent at any later time";
        story.flag(Level::High, "durable-nonce", text);
        story.danger("the word DURABLE", "DURABLE");
    }
    let signers = transaction.signers().count();
    if signers > 1 {
        story.flag(
            Level::Low,
            "several-signers",
            format!("asks for {signers} signatures, each of another key"),
        );
    }
    story.flag(Level::Med, "moves-funds", "moves funds, or acts for whoever holds the address");
}

/// A number of smallest parts in whole units, exactly.
fn decimal(parts: u128, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let digits = format!("{parts:0>width$}", width = decimals.saturating_add(1));
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(decimals));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
