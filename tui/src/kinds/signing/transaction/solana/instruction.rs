//! Describes what one instruction does.

use std::fmt::Write as _;

use quorate_chain::contract::Line;
use quorate_chain::transaction::solana::{Act, Instruction, LOOKED_UP, ProgramInterfaces};

use super::description::{InstructionDescription, Warning, named};
use super::programs::{describe_system, describe_token};
use crate::contracts::{StatedInterfaces, argument};
use crate::kinds::prelude::*;

/// The interfaces that the daemon states, and those of the called programs, as parsed here.
pub(super) struct KnownInterfaces<'a> {
    pub(super) stated: StatedInterfaces<'a>,
    pub(super) programs: ProgramInterfaces,
}

/// Describes an instruction. Returns `None` if it only sets the resource limits of the transaction.
pub(super) fn describe<'a>(
    instruction: &Instruction<'a>,
    known: &KnownInterfaces<'_>,
) -> Option<InstructionDescription<'a>> {
    let description = match instruction.act() {
        Act::ComputeBudget(_) => return None,
        Act::System(system) => describe_system(system),
        Act::Token(token) => describe_token(token),
        Act::CreateAssociatedTokenAccount { from, account, wallet, mint } => {
            let [from, account, wallet, mint] = [from, account, wallet, mint].map(named);
            let what = format!(
                "create the token account {account} for tokens of {mint} held by {wallet}, paid by {from}"
            );
            InstructionDescription::new("a new token account", what)
        }
        Act::Memo(text) => {
            InstructionDescription::new("a memo", format!("publish the memo {}", quoted(text)))
        }
        Act::Undecoded => {
            describe_by_interface(instruction, known).unwrap_or_else(|| describe_undecoded(instruction))
        }
    };
    Some(InstructionDescription { program: instruction.program(), ..description })
}

/// Describes an instruction with the interface of its program. Returns `None` if no interface decodes it.
fn describe_by_interface<'a>(
    instruction: &Instruction<'a>,
    known: &KnownInterfaces<'_>,
) -> Option<InstructionDescription<'a>> {
    let program = instruction.program();
    let interface = quoted(&known.stated.solana(program)?.label);
    let read = instruction.decode_with(&known.programs)?;
    let name = clean(&read.name);
    let accounts = read.accounts.iter().map(|(name, address)| format!("{} {address}", clean(name)));
    let mut details = vec![("accounts", listed(accounts))];
    // The interface may name only some of the accounts.
    let further: Vec<&str> = instruction.accounts().skip(read.accounts.len()).collect();
    if !further.is_empty() {
        details.push(("further accounts", listed(further.into_iter().map(named))));
    }
    let lines = read.lines();
    let argument =
        |line: &Line| format!("{} = {} ({})", clean(&line.path), argument(line), clean(&line.kind));
    details.push(("arguments", listed(lines.lines.iter().map(argument))));
    if lines.left_out > 0 {
        details.push(("more arguments", format!("{} that are not shown", lines.left_out)));
    }
    details.push(("data", const_hex::encode_prefixed(instruction.data())));
    let what = format!("call {name} of {program}, as its interface {interface} describes it");
    let description =
        InstructionDescription::new(format!("{name} of {program}"), what).warning(Warning::Stated);
    Some(InstructionDescription { details, ..description })
}

fn describe_undecoded<'a>(instruction: &Instruction<'a>) -> InstructionDescription<'a> {
    let (program, data) = (instruction.program(), instruction.data());
    let accounts = instruction.accounts().count();
    let keys: Vec<&str> = instruction.accounts().filter(|account| *account != LOOKED_UP).collect();
    let looked_up = accounts.saturating_sub(keys.len());
    let mut account_list = listed(keys.into_iter().map(str::to_owned));
    if looked_up > 0 {
        let _ = write!(account_list, ", and {looked_up} from lookup tables");
    }
    let (accounts, bytes) = (count(accounts, "account"), count(data.len(), "byte"));
    let what = format!("call {program}, NOT DECODED here, with {accounts} and {bytes} of data");
    let details = vec![("data", const_hex::encode_prefixed(data)), ("accounts", account_list)];
    let description =
        InstructionDescription::new(format!("UNDECODED call of {program}"), what).warning(Warning::Undecoded);
    InstructionDescription { details, ..description }
}
