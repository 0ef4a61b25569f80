//! Smart contract interfaces in use: policies about calls, and the interfaces that the console receives.

use quorate_common::api_error::Code;
use quorate_core::operator;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW};

/// Unsigned `transfer` of five million units of USD Coin to the address of 20 bytes `35` (EIP-155).
const TRANSFER: &str = "f869098504a817c80082ea6094a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844a9059cbb\
    000000000000000000000000353535353535353535353535353535353535353500000000000000000000000000000000000000000000000000000000004c4b40018080";
const TOKEN: &str = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";

fn transfer() -> Value {
    json!([{"type": "function", "name": "transfer", "stateMutability": "nonpayable", "outputs": [{"type": "bool"}],
        "inputs": [{"name": "_to", "type": "address"}, {"name": "_amount", "type": "uint256"}]}])
}

fn upload(fixture: &mut Fixture, text: &Value) -> Value {
    let parameters = json!({"smartContractAddress": TOKEN.to_lowercase(), "label": "coin", "notes": "",
        "smartContractInterface": text.to_string(), "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM"});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", &parameters);
    json!({"smartContractInterfaceId": created["result"]["createSmartContractInterfaceResult"]["smartContractInterfaceId"]})
}

fn delete(fixture: &mut Fixture, interface: &Value) {
    fixture.execute("ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE", interface);
}

/// Requests the signature as the ordinary user, under a policy with this condition.
fn sign_under_policy(fixture: &mut Fixture, condition: &str) -> Result<Value, Code> {
    let policy = json!({"policyName": condition, "effect": "EFFECT_ALLOW", "notes": "", "condition": condition,
        "consensus": format!("approvers.any(user, user.id == '{}')", fixture.user.user)});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    let sign = json!({"signWith": fixture.wallet.1, "unsignedTransaction": TRANSFER, "type": "TRANSACTION_TYPE_ETHEREUM"});
    let user = fixture.user.clone();
    let answer = fixture.submit(&user, fixture.id, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", &sign, NOW);
    let id = json!({"policyId": created["result"]["createPolicyResult"]["policyId"]});
    fixture.execute("ACTIVITY_TYPE_DELETE_POLICY", &id);
    answer.map_err(|error| error.code)
}

#[test]
fn policies_evaluate_calls_decoded_by_the_current_interface() {
    let mut fixture = Fixture::new(1);
    let old = json!({"smartContractInterfaceId": fixture.interface});
    let named = "eth.tx.function_name == 'transfer'";
    assert_eq!(
        sign_under_policy(&mut fixture, named),
        Err(Code::PermissionDenied),
        "the interface has no such function"
    );
    delete(&mut fixture, &old);
    assert_eq!(sign_under_policy(&mut fixture, named), Err(Code::PermissionDenied), "there is no interface");
    let interface = upload(&mut fixture, &transfer());
    let whole = "eth.tx.function_name == 'transfer' && eth.tx.function_signature == '0xa9059cbb' \
        && eth.tx.contract_call_args['_to'] == '0x3535353535353535353535353535353535353535' \
        && eth.tx.contract_call_args['_amount'] <= 5000000";
    assert!(sign_under_policy(&mut fixture, whole).is_ok());
    for other in ["eth.tx.contract_call_args['_amount'] < 5000000", "eth.tx.contract_call_args['amount'] > 0"]
    {
        assert_eq!(sign_under_policy(&mut fixture, other), Err(Code::PermissionDenied), "{other}");
    }
    delete(&mut fixture, &interface);
    assert_eq!(sign_under_policy(&mut fixture, named), Err(Code::PermissionDenied), "the interface is gone");
    // Only the current interface counts.
    let mut renamed = transfer();
    renamed[0]["inputs"][1]["name"] = json!("amount");
    upload(&mut fixture, &renamed);
    assert!(sign_under_policy(&mut fixture, "eth.tx.contract_call_args['amount'] == 5000000").is_ok());
}

#[test]
fn console_receives_the_interface_of_the_called_contract() {
    let mut fixture = Fixture::new(2);
    let old = json!({"smartContractInterfaceId": fixture.interface});
    delete(&mut fixture, &old);
    upload(&mut fixture, &transfer());
    let sign = json!({"signWith": fixture.wallet.1, "unsignedTransaction": TRANSFER, "type": "TRANSACTION_TYPE_ETHEREUM"});
    let root = fixture.roots[0].clone();
    let waits = fixture
        .submit(&root, fixture.id, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", &sign, NOW)
        .expect("the activity waits");
    let id = waits["activity"]["id"].as_str().expect("an id");
    let record = operator::review(&fixture.memory, fixture.id, id, None, NOW).expect("the record exists");
    let signers = record.rule_inputs.expect("the activity waits").signers;
    assert_eq!(signers.keys().map(String::as_str).collect::<Vec<_>>(), [TOKEN, fixture.wallet.1.as_str()]);
    let contract = signers[TOKEN].contract.as_ref().expect("the contract has an interface");
    assert_eq!(
        (contract.label.as_str(), &contract.smart_contract_interface),
        ("coin", &transfer().to_string())
    );
    assert!(signers[&fixture.wallet.1].contract.is_none());
    // An unknown name is still an error.
    let unknown = "0x00000000000000000000000000000000000000AA";
    operator::signer(&fixture.memory, fixture.id, unknown, NOW).expect_err("the name is unknown");
    let found = operator::signer(&fixture.memory, fixture.id, &TOKEN.to_lowercase(), NOW)
        .expect("the name is not case-sensitive");
    assert!(found.wallet_account.is_none() && found.private_key.is_none() && found.contract.is_some());
}
