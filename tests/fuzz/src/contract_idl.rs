//! Any text as an IDL, and any data as an instruction by it: hexadecimal digits in the first line, with as many accounts
//! as the line has commas, then the IDL.

use quorate_chain::contract::{Idl, MAX_INSTRUCTION_BYTES, MAX_LINES};

use crate::contract;

pub(crate) fn run(data: &[u8]) {
    let (instruction, text) = contract::split(data);
    let idl = Idl::parse(&text);
    assert_eq!(idl, Idl::parse(&text), "reading twice comes to the same");
    let Ok(idl) = idl else { return };
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let accounts: Vec<&str> = line.iter().filter(|byte| **byte == b',').map(|_| "account").collect();
    let read = idl.instruction(&instruction, &accounts);
    assert_eq!(read, idl.instruction(&instruction, &accounts), "asking twice comes to the same");
    let Ok(read) = read else { return };
    assert!(instruction.starts_with(&read.discriminator) && instruction.len() <= MAX_INSTRUCTION_BYTES);
    assert!(read.accounts.len() <= accounts.len(), "each account that is named is there");
    assert!(read.lines().lines.len() <= MAX_LINES, "what people are told is bounded");
    assert!(read.facts().member("program_call_args").is_some(), "policies are told of it");
    let longer = idl.instruction(&[instruction.as_slice(), &[0]].concat(), &accounts);
    assert!(longer.is_err(), "an instruction is read to its last byte");
}
