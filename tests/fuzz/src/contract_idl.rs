//! Parses any text as an IDL, and decodes any data as an instruction with it.
//!
//! The first line contains the data in hexadecimal digits and one comma per account. The remaining lines
//! contain the IDL.

use quorate_chain::contract::{Idl, MAX_INSTRUCTION_BYTES, MAX_LINES};

use crate::contract;

pub(crate) fn run(data: &[u8]) {
    let (instruction, text) = contract::split(data);
    let idl = Idl::parse(&text);
    assert_eq!(idl, Idl::parse(&text), "parsing is deterministic");
    let Ok(idl) = idl else { return };
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let accounts: Vec<&str> = line.iter().filter(|byte| **byte == b',').map(|_| "account").collect();
    let decoded = idl.instruction(&instruction, &accounts);
    assert_eq!(decoded, idl.instruction(&instruction, &accounts), "decoding is deterministic");
    let Ok(decoded) = decoded else { return };
    assert!(instruction.starts_with(&decoded.discriminator) && instruction.len() <= MAX_INSTRUCTION_BYTES);
    assert!(decoded.accounts.len() <= accounts.len(), "each named account is in the instruction");
    assert!(decoded.lines().lines.len() <= MAX_LINES, "the lines for people are bounded");
    assert!(decoded.facts().member("program_call_args").is_some(), "policies can read the arguments");
    let longer = idl.instruction(&[instruction.as_slice(), &[0]].concat(), &accounts);
    assert!(longer.is_err(), "an instruction is decoded to its last byte");
}
