//! Interfaces of smart contracts at work: what policies ask about calls, and what the console is told.

use quorate_common::fault::Code;
use quorate_core::operator;
use serde_json::{Value, json};

use crate::house::{House, NOW};

/// `transfer` of five million units of USD Coin to an account of only `35`, unsigned (EIP-155).
const TRANSFER: &str = "f869098504a817c80082ea6094a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844a9059cbb\
    000000000000000000000000353535353535353535353535353535353535353500000000000000000000000000000000000000000000000000000000004c4b40018080";
const TOKEN: &str = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

fn transfer() -> Value {
    json!([{"type": "function", "name": "transfer", "stateMutability": "nonpayable", "outputs": [{"type": "bool"}],
        "inputs": [{"name": "_to", "type": "address"}, {"name": "_amount", "type": "uint256"}]}])
}

fn upload(house: &mut House, text: &Value) -> Value {
    let parameters = json!({"smartContractAddress": TOKEN.to_lowercase(), "label": "coin", "notes": "",
        "smartContractInterface": text.to_string(), "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM"});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", &parameters);
    json!({"smartContractInterfaceId": made["result"]["createSmartContractInterfaceResult"]["smartContractInterfaceId"]})
}

fn delete(house: &mut House, interface: &Value) {
    house.agreed("ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE", interface);
}

/// Has the ordinary user ask for the signature, where one policy allows it.
fn signs(house: &mut House, condition: &str) -> Result<Value, Code> {
    let policy = json!({"policyName": condition, "effect": "EFFECT_ALLOW", "notes": "", "condition": condition,
        "consensus": format!("approvers.any(user, user.id == '{}')", house.user.user)});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    let sign = json!({"signWith": house.wallet.1, "unsignedTransaction": TRANSFER, "type": "TRANSACTION_TYPE_ETHEREUM"});
    let user = house.user.clone();
    let answer = house.submit(&user, house.id, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", &sign, NOW);
    let id = json!({"policyId": made["result"]["createPolicyResult"]["policyId"]});
    house.agreed("ACTIVITY_TYPE_DELETE_POLICY", &id);
    answer.map_err(|fault| fault.code)
}

#[test]
fn policies_ask_about_calls_as_the_interface_tells_them() {
    let mut house = House::found(1);
    let old = json!({"smartContractInterfaceId": house.interface});
    let named = "eth.tx.function_name == 'transfer'";
    assert_eq!(signs(&mut house, named), Err(Code::PermissionDenied), "the interface has no such function");
    delete(&mut house, &old);
    assert_eq!(signs(&mut house, named), Err(Code::PermissionDenied), "there is no interface");
    let interface = upload(&mut house, &transfer());
    let whole = "eth.tx.function_name == 'transfer' && eth.tx.function_signature == '0xa9059cbb' \
        && eth.tx.contract_call_args['_to'] == '0x3535353535353535353535353535353535353535' \
        && eth.tx.contract_call_args['_amount'] <= 5000000";
    assert!(signs(&mut house, whole).is_ok());
    for other in ["eth.tx.contract_call_args['_amount'] < 5000000", "eth.tx.contract_call_args['amount'] > 0"]
    {
        assert_eq!(signs(&mut house, other), Err(Code::PermissionDenied), "{other}");
    }
    delete(&mut house, &interface);
    assert_eq!(signs(&mut house, named), Err(Code::PermissionDenied), "the interface is gone");
    // What an interface says is what it says now.
    let mut renamed = transfer();
    renamed[0]["inputs"][1]["name"] = json!("amount");
    upload(&mut house, &renamed);
    assert!(signs(&mut house, "eth.tx.contract_call_args['amount'] == 5000000").is_ok());
}

#[test]
fn the_console_hears_of_the_interface_of_a_called_contract() {
    let mut house = House::found(2);
    let old = json!({"smartContractInterfaceId": house.interface});
    delete(&mut house, &old);
    upload(&mut house, &transfer());
    let sign = json!({"signWith": house.wallet.1, "unsignedTransaction": TRANSFER, "type": "TRANSACTION_TYPE_ETHEREUM"});
    let root = house.roots[0].clone();
    let waits =
        house.submit(&root, house.id, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", &sign, NOW).expect("it waits");
    let id = waits["activity"]["id"].as_str().expect("an id");
    let record = operator::review(&house.memory, house.id, id, NOW).expect("it is there");
    let signers = record.grounds.expect("it waits").signers;
    assert_eq!(signers.keys().map(String::as_str).collect::<Vec<_>>(), [TOKEN, house.wallet.1.as_str()]);
    let contract = signers[TOKEN].contract.as_ref().expect("it has an interface");
    assert_eq!(
        (contract.label.as_str(), &contract.smart_contract_interface),
        ("coin", &transfer().to_string())
    );
    assert!(signers[&house.wallet.1].contract.is_none());
    // A name that stands for nothing is refused, as it was.
    let nothing = "0x00000000000000000000000000000000000000AA";
    operator::signer(&house.memory, house.id, nothing, NOW).expect_err("nothing");
    let found = operator::signer(&house.memory, house.id, &TOKEN.to_lowercase(), NOW).expect("in any case");
    assert!(found.wallet_account.is_none() && found.private_key.is_none() && found.contract.is_some());
}
