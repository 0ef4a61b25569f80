//! Tests of the descriptions of calls to contracts with an interface.

use serde_json::{Value, json};

use super::{described, sample_organization};
use crate::book::Book;
use crate::kinds::{Level, ReviewContext, decode};

/// An unsigned call (EIP-155) of `deposit((address,uint256[]),bytes)` at the contract whose interface the
/// organization has. The tuple contains an address of `35` bytes and the numbers 1 and 2; the bytes are
/// `cafe`.
const DEPOSIT: &str = "f9014a098504a817c80082ea6094a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b901247723a84d000000000000000000000000000000000000000000000000000000000000004000000000000000000000000000000000000000000000000000000000000000e0000000000000000000000000353535353535353535353535353535353535353500000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000002cafe000000000000000000000000000000000000000000000000000000000000018080";
/// The same call with one appended byte.
const LONGER: &str = "f9014b098504a817c80082ea6094a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b901257723a84d000000000000000000000000000000000000000000000000000000000000004000000000000000000000000000000000000000000000000000000000000000e0000000000000000000000000353535353535353535353535353535353535353500000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000002cafe00000000000000000000000000000000000000000000000000000000000000018080";
/// An unlimited `approve` at the same contract.
const APPROVE: &str = "f869098504a817c80082ea6094a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844095ea7b30000000000000000000000003535353535353535353535353535353535353535ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff018080";

fn interface() -> Value {
    json!([
        {"type": "function", "name": "deposit", "inputs": [
            {"name": "order", "type": "tuple", "components": [
                {"name": "to", "type": "address"}, {"name": "parts", "type": "uint256[]"}]},
            {"name": "", "type": "bytes"}]},
        {"type": "function", "name": "approve", "inputs": [
            {"name": "spender", "type": "address"}, {"name": "value", "type": "uint256"}]},
    ])
}

fn signs(unsigned: &str) -> Value {
    json!({"signWith": "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E", "unsignedTransaction": unsigned,
        "type": "TRANSACTION_TYPE_ETHEREUM"})
}

/// Returns the lines that describe a transaction, and the level and name of its flags.
fn lines(unsigned: &str, text: &str) -> (Vec<String>, Vec<(Level, &'static str)>) {
    let mut organization = sample_organization();
    organization.smart_contract_interfaces[0].smart_contract_interface = text.to_owned();
    let context = ReviewContext::of(&organization);
    let description = decode("ACTIVITY_TYPE_SIGN_TRANSACTION_V2", &signs(unsigned), &context).description;
    let lines = described("ACTIVITY_TYPE_SIGN_TRANSACTION_V2", &signs(unsigned), &organization, &Book::EMPTY);
    (
        lines.lines().map(str::to_owned).collect(),
        description.flags.iter().map(|flag| (flag.level, flag.name)).collect(),
    )
}

#[test]
fn call_is_described_by_the_interface_of_its_contract() {
    let (text_lines, flags) = lines(DEPOSIT, &interface().to_string());
    for line in [
        "field calls = deposit (0x7723a84d)",
        "field order.to = 0x3535353535353535353535353535353535353535 (address)",
        "field order.parts[0] = 1 (uint256)",
        "field order.parts[1] = 2 (uint256)",
        "field 1 = 0xcafe (bytes)",
        "field names from = the interface \"USDC\", which the organization uploaded, as the daemon states [s]: the bytes do not prove what they mean",
    ] {
        assert!(text_lines.iter().any(|text_line| text_line == line), "{line}\n{}", text_lines.join("\n"));
    }
    assert!(
        text_lines.iter().any(|line| line.contains("call deposit of 0xA0b86991")),
        "{}",
        text_lines.join("\n")
    );
    assert_eq!(
        flags,
        [(Level::High, "unknown-call"), (Level::Med, "new-recipient"), (Level::Med, "moves-funds")]
    );
}

#[test]
fn call_without_a_matching_interface_stays_unknown() {
    let unknown = [(Level::High, "unknown-call"), (Level::Med, "new-recipient"), (Level::Med, "moves-funds")];
    for (unsigned, text) in [
        (DEPOSIT, String::new()),
        (DEPOSIT, "[]".to_owned()),
        (DEPOSIT, "[{]".to_owned()),
        (LONGER, interface().to_string()),
    ] {
        assert_eq!(lines(unsigned, &text).1, unknown, "{text}");
    }
}

#[test]
fn interface_does_not_lower_the_risk_of_an_approval() {
    let (text_lines, flags) = lines(APPROVE, &interface().to_string());
    assert_eq!(
        flags,
        [(Level::High, "token-approval"), (Level::Med, "new-recipient"), (Level::Med, "moves-funds")]
    );
    assert!(
        text_lines.iter().any(|line| line.starts_with("field value = 1157920892")),
        "{}",
        text_lines.join("\n")
    );
}
