//! Describes Solana transactions.

mod description;
mod instruction;
mod programs;
mod transfer;

use std::cmp::Reverse;
use std::fmt::Write as _;

use quorate_chain::address::Chain;
use quorate_chain::transaction::Solana;
use quorate_chain::transaction::solana::{Act, ComputeBudget, LOOKED_UP, System};
use sha2::{Digest, Sha256};

use self::description::{InstructionDescription, Warning};
use self::instruction::{KnownInterfaces, describe as describe_instruction};
use super::fee;
use crate::contracts::StatedInterfaces;
use crate::kinds::prelude::*;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::text::grouped;

pub(super) use self::transfer::transfer;

/// Fee of a signature, in lamports.
const SIGNATURE_LAMPORTS: u128 = 5_000;
/// Largest fee in lamports that is never flagged: 0.05 SOL.
const USUAL_FEE: u128 = 50_000_000;
/// Maximum compute units of a transaction. Its default limit is lower.
const MAX_UNITS: u32 = 1_400_000;
/// Maximum number of instructions that the sentence describes.
const SPELLED_INSTRUCTIONS: usize = 3;

pub(super) fn describe(transaction: &Solana, key: &Key<'_>, context: &ReviewContext<'_>) -> Description {
    let recipients = Recipients::new(Chain::Solana, key, context);
    let stated = StatedInterfaces::of(&context.organization.smart_contract_interfaces);
    let known = KnownInterfaces { programs: transaction.interfaces(&stated), stated };
    let instructions = transaction.instructions().enumerate();
    let descriptions: Vec<(usize, InstructionDescription<'_>)> = instructions
        .filter_map(|(index, instruction)| Some((index, describe_instruction(&instruction, &known)?)))
        .map(|(index, described)| (index, with_name(described, transaction, &recipients)))
        .collect();
    let (brief, sentence) = summary(&descriptions, &recipients);
    let mut description =
        Description::new(brief, format!("Sign a transaction with {} that {sentence}.", key.signer));
    for (index, described) in &descriptions {
        description.fact(&format!("instructions[{index}]"), described.what.clone());
        for (name, value) in &described.details {
            description.fact(&format!("instructions[{index}] {name}"), value.clone());
        }
    }
    add_recipients(
        transaction,
        descriptions.iter().filter_map(|(_, described)| described.to),
        recipients,
        &mut description,
    );
    add_other_facts(transaction, &mut description);
    let warnings: Vec<_> =
        descriptions.iter().filter_map(|(index, described)| warnings_of(*index, described)).collect();
    add_flags(transaction, &warnings, &mut description);
    description
}

/// Returns the description with the name of its recipient in the address book.
fn with_name<'a>(
    mut described: InstructionDescription<'a>,
    transaction: &Solana,
    recipients: &Recipients<'_>,
) -> InstructionDescription<'a> {
    if let Some((to, wallet)) = described.to.and_then(|to| Some((to, holder(transaction, to)?)))
        && recipients.named(wallet) != wallet
    {
        described.brief = described.brief.replace(to, &recipients.short(wallet));
        described.what = described.what.replace(to, &format!("{to} of {}", recipients.named(wallet)));
    }
    if let Some(to) = described.to.filter(|to| recipients.named(to) != *to) {
        described.brief = described.brief.replace(to, &recipients.short(to));
        described.what = described.what.replace(to, &recipients.named(to));
    }
    described
}

/// Returns the wallet of a token account that the transaction creates.
fn holder<'a>(transaction: &'a Solana, token_account: &str) -> Option<&'a str> {
    transaction.instructions().find_map(|instruction| match instruction.act() {
        Act::CreateAssociatedTokenAccount { account, wallet, .. } if account == token_account => Some(wallet),
        _ => None,
    })
}

/// Adds the recipients. Tokens go to token accounts. If the transaction creates such an account, its program
/// ties it to the wallet in the bytes, so the wallet is the recipient.
fn add_recipients<'a>(
    transaction: &'a Solana,
    to: impl Iterator<Item = &'a str>,
    mut recipients: Recipients<'_>,
    description: &mut Description,
) {
    let mut seen: Vec<&str> = Vec::new();
    for to in to.filter(|to| *to != LOOKED_UP) {
        if seen.contains(&to) {
            continue;
        }
        seen.push(to);
        match holder(transaction, to).filter(|wallet| *wallet != LOOKED_UP && recipients.named(to) == to) {
            None => recipients.add("to, in full", to, description),
            Some(wallet) => {
                description
                    .fact("to, in full", format!("{}, a token account of the wallet below", grouped(to)));
                recipients.add("wallet, in full", wallet, description);
            }
        }
    }
    recipients.finish(description);
}

/// Returns a summary of a few words, and clauses: the most dangerous first, then payments to unknown
/// recipients, then the largest amounts.
fn summary(
    descriptions: &[(usize, InstructionDescription<'_>)],
    recipients: &Recipients<'_>,
) -> (String, String) {
    let mut sorted: Vec<&InstructionDescription<'_>> =
        descriptions.iter().map(|(_, described)| described).collect();
    sorted.sort_by_key(|described| {
        let severity = Warning::ALL.iter().position(|warning| described.warning == Some(*warning));
        let is_to_unknown = described.to.is_some_and(|to| !recipients.knows(to));
        (severity.unwrap_or(usize::MAX), !is_to_unknown, described.to.is_none(), Reverse(described.lamports))
    });
    let brief = match sorted.as_slice() {
        [] => return ("nothing but a fee".to_owned(), "would do nothing but pay its fee".to_owned()),
        [only] => only.brief.clone(),
        [first, more @ ..] => format!("{}, and {} more", first.brief, more.len()),
    };
    let mut whats: Vec<String> = sorted
        .iter()
        .take(SPELLED_INSTRUCTIONS)
        .map(|described| format!("would {}", described.what))
        .collect();
    let more = descriptions.len().saturating_sub(whats.len());
    if more > 0 {
        whats.push(format!("would do {} listed below", count(more, "more thing")));
    }
    (brief, whats.join("; that "))
}

fn warnings_of(index: usize, described: &InstructionDescription<'_>) -> Option<(Warning, String)> {
    let subject = |warning: Warning| match warning {
        Warning::Undecoded | Warning::Stated => described.program.to_owned(),
        _ => format!("instructions[{index}]"),
    };
    described.warning.map(|warning| (warning, subject(warning)))
}

/// Adds the fee, the signers, the limits and the expiry.
fn add_other_facts(transaction: &Solana, description: &mut Description) {
    let (cost, text) = cost(transaction);
    description.fact("fee at most", text);
    let sent = transaction.instructions().filter_map(|instruction| match instruction.act() {
        Act::System(System::Transfer { from, to, lamports }) if from != to => Some(u128::from(lamports)),
        _ => None,
    });
    fee::flag_high_fee(
        cost,
        USUAL_FEE,
        sent.sum(),
        |lamports| format!("{} SOL", decimal(lamports, 9)),
        description,
    );
    if let Some(payer) = transaction.account_keys().first() {
        description.fact("fee payer", payer.clone());
    }
    for (key, is_filled) in transaction.signers() {
        let state = if is_filled { "signed, signature not verified here" } else { "not signed yet" };
        description.fact("signer", format!("{key}: {state}"));
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
        description.fact(name, value);
    }
    for table in transaction.tables() {
        let entries = |indexes: &[u8]| listed(indexes.iter().map(ToString::to_string));
        let (writable, readonly) = (entries(&table.writable), entries(&table.readonly));
        description.fact(
            "lookup table",
            format!("{}: writes entries {writable}; reads entries {readonly}", table.key),
        );
    }
    let follows = transaction.recent_blockhash();
    let name = if transaction.uses_durable_nonce() { "nonce" } else { "expires soon after block" };
    description.fact(name, follows);
    let kind = transaction.version().map_or("legacy".to_owned(), |version| format!("version {version}"));
    description.fact("kind", kind);
    let digest = Sha256::digest(transaction.message());
    description.fact("SHA-256 of the message, computed here", grouped(&const_hex::encode(digest)));
}

/// Returns the maximum fee in lamports and as text.
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
    // Both are below 2^64, and the price is in micro-lamports.
    let priority = u128::from(price).saturating_mul(units.into()).div_ceil(1_000_000);
    let cost = base.saturating_add(priority);
    let mut text = format!(
        "{} SOL ({cost} lamports): {signatures} x {SIGNATURE_LAMPORTS} lamports for signatures",
        decimal(cost, 9)
    );
    if price > 0 {
        let unit_text = if limit.is_some() { "units" } else { "units, because it sets no limit," };
        let _ = write!(text, ", and {units} {unit_text} at {price} millionths of a lamport");
    } else if let Some(limit) = limit {
        let _ = write!(text, "; {limit} compute units at no price");
    }
    (cost, text)
}

/// Adds the flags, worst first. The first one sets the word to type.
fn add_flags(transaction: &Solana, warnings: &[(Warning, String)], description: &mut Description) {
    for warning in Warning::ALL {
        let mut subjects: Vec<&str> = Vec::new();
        for (_, subject) in warnings.iter().filter(|(raised, _)| raised == warning) {
            if !subjects.contains(&subject.as_str()) {
                subjects.push(subject);
            }
        }
        if !subjects.is_empty() {
            let (name, text, word) = warning.texts();
            description.flag_high(name, format!("{text}: {}.", subjects.join(", ")));
            description.danger(&format!("the word {word}"), word);
        }
    }
    if !transaction.tables().is_empty() {
        let text = "May involve unknown accounts: it takes accounts from lookup tables, whose keys are not \
            in the bytes.";
        description.flag_with_word("looked-up-accounts", text, "LOOKUP");
    }
    if transaction.uses_durable_nonce() {
        let text =
            "Can be sent at any later time: it uses a durable nonce, so it does not expire once signed.";
        description.flag_with_word("durable-nonce", text, "DURABLE");
    }
    let signers = transaction.signers().count();
    if signers > 1 {
        description
            .flag_low("several-signers", format!("Needs {signers} signatures, each by a different key."));
    }
    description.flag_medium("moves-funds", "Moves funds, or acts for the holder of the address.");
}

/// Formats an amount of smallest units with this number of decimals, exactly.
fn decimal(parts: u128, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let digits = format!("{parts:0>width$}", width = decimals.saturating_add(1));
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(decimals));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
