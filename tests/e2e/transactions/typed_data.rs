//! Typed data (EIP-712).

use k256::ecdsa::Signature;

use super::*;

const SIGN_PAYLOAD: &str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";

/// Returns the parameters to sign a token permit (EIP-2612) for `0x3535…`.
fn permit(address: &str, value: &str) -> Value {
    let members = |names: &[[&str; 2]]| -> Value {
        names.iter().map(|[name, solidity]| json!({"name": name, "type": solidity})).collect()
    };
    let domain = members(&[["name", "string"], ["chainId", "uint256"], ["verifyingContract", "address"]]);
    let permit = members(&[
        ["owner", "address"],
        ["spender", "address"],
        ["value", "uint256"],
        ["nonce", "uint256"],
        ["deadline", "uint256"],
    ]);
    let data = json!({
        "types": {"EIP712Domain": domain, "Permit": permit},
        "primaryType": "Permit",
        "domain": {"name": "USD Coin", "chainId": 1, "verifyingContract": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"},
        "message": {"owner": address, "spender": "0x3535353535353535353535353535353535353535", "value": value,
            "nonce": "0", "deadline": "1893456000"},
    });
    json!({"signWith": address, "payload": data.to_string(), "encoding": "PAYLOAD_ENCODING_EIP712",
        "hashFunction": "HASH_FUNCTION_NO_OP"})
}

/// Asserts that this address signed a digest.
fn signed_by(address: &str, digest: &str, result: &Value) {
    let part = |name: &str| bytes(text(&result[name]));
    let signature = Signature::from_slice(&[part("r"), part("s")].concat()).expect("a signature");
    let signer = ethereum::signer(&bytes(digest), &signature, part("v")[0]);
    assert_eq!(address.to_lowercase(), const_hex::encode_prefixed(signer));
}

#[tokio::test]
async fn messages_decide_and_signatures_verify() {
    let all = "eth.eip_712.primary_type == 'Permit' && eth.eip_712.domain.chain_id == 1";
    let payments = Payments::with_policies(
        &format!("{all} && eth.eip_712.message['value'] <= 5000000"),
        &format!("{all} && eth.eip_712.message['value'] > 5000000"),
    )
    .await;
    let address = payments.account("SECP256K1", "m/44'/60'/0'/0/0", "ETHEREUM").await;
    // The digests are computed with viem 2.
    let small = payments.pay(SIGN_PAYLOAD, &permit(&address, "5000000")).await;
    signed_by(&address, "7d1e391df9b136fc965744bc74ef71bb2104d5076b6f04f7e2e79a1be5b7fed4", &small);

    let (review, large) = payments.pay_with_approval(SIGN_PAYLOAD, &permit(&address, "50000000")).await;
    assert_sentence(&review, "typed data of the type \"Permit\" for \"USD Coin\"");
    assert_sentence(
        &review,
        "lets 0x3535353535353535353535353535353535353535 move 50000000 of the token's smallest units",
    );
    assert_sentence(&review, "meant for the contract 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 on chain 1");
    assert_field(&review, "message.value", "50000000 (uint256)");
    assert_field(&review, "message.spender", "0x3535353535353535353535353535353535353535 (address)");
    signed_by(&address, "534e39dcec6a3c546941a7478fa2485dec92cfd2a0112e981bf64685767f47d7", &large);
}
