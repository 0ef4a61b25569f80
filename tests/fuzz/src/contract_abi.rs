//! Any text as an ABI, and any data as a call by it: hexadecimal digits in the first line, then the ABI.

use quorate_chain::contract::{Abi, MAX_LINES};
use quorate_policy::Value;

use crate::contract;

pub(crate) fn run(data: &[u8]) {
    let (call, text) = contract::split(data);
    let abi = Abi::parse(&text);
    assert_eq!(abi, Abi::parse(&text), "reading twice comes to the same");
    let Ok(abi) = abi else { return };
    let Some(read) = abi.call(&call) else { return };
    assert_eq!(call.get(..4), Some(read.selector.as_slice()), "a call begins with its selector");
    assert_eq!(
        read.arguments().is_some(),
        read.lines().is_some(),
        "policies and people are told of the same"
    );
    let (Some(arguments), Some(lines)) = (read.arguments(), read.lines()) else { return };
    assert!(matches!(arguments, Value::Map(_)), "arguments have names");
    assert!(lines.lines.len() <= MAX_LINES, "what people are told is bounded");
    for other in [call.get(..call.len() - 1).unwrap_or_default(), &[call.as_slice(), &[0]].concat()] {
        let read = abi.call(other).and_then(|read| read.arguments());
        assert_eq!(read, None, "a call is read to its last byte");
    }
}
