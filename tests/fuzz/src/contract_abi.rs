//! Parses any text as an ABI, and decodes any data as a call with it.
//!
//! The first line contains the data in hexadecimal digits, the remaining lines contain the ABI.

use quorate_chain::contract::{Abi, MAX_LINES};
use quorate_policy::Value;

use crate::contract;

pub(crate) fn run(data: &[u8]) {
    let (call, text) = contract::split(data);
    let abi = Abi::parse(&text);
    assert_eq!(abi, Abi::parse(&text), "parsing is deterministic");
    let Ok(abi) = abi else { return };
    let Some(decoded) = abi.call(&call) else { return };
    assert_eq!(call.get(..4), Some(decoded.selector.as_slice()), "a call begins with its selector");
    assert_eq!(
        decoded.arguments().is_some(),
        decoded.lines().is_some(),
        "policies and people see the same arguments"
    );
    let (Some(arguments), Some(lines)) = (decoded.arguments(), decoded.lines()) else { return };
    assert!(matches!(arguments, Value::Map(_)), "arguments have names");
    assert!(lines.lines.len() <= MAX_LINES, "the lines for people are bounded");
    for other in [call.get(..call.len() - 1).unwrap_or_default(), &[call.as_slice(), &[0]].concat()] {
        let arguments = abi.call(other).and_then(|decoded| decoded.arguments());
        assert_eq!(arguments, None, "a call is decoded to its last byte");
    }
}
