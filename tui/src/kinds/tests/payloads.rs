//! Tests of the descriptions of payloads in each encoding.

use super::*;

/// Returns the parameters of one payload, signed with the key of an address.
fn raw(payload: &str, encoding: &str, hash: &str) -> Value {
    json!({"signWith": "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E", "payload": payload,
        "encoding": format!("PAYLOAD_ENCODING_{encoding}"), "hashFunction": format!("HASH_FUNCTION_{hash}")})
}

/// Returns the parameters of several payloads.
fn several(payloads: &Value, encoding: &str, hash: &str) -> Value {
    let mut parameters = raw("", encoding, hash);
    parameters.as_object_mut().unwrap().remove("payload");
    parameters["payloads"] = payloads.clone();
    parameters
}

fn members(pairs: &[(&str, &str)]) -> Value {
    pairs.iter().map(|(name, type_)| json!({"name": name, "type": type_})).collect()
}

/// Returns an unlimited permit of tokens (EIP-2612).
fn permit() -> Value {
    let permit = [
        ("owner", "address"),
        ("spender", "address"),
        ("value", "uint256"),
        ("nonce", "uint256"),
        ("deadline", "uint256"),
    ];
    json!({
        "types": {"Permit": members(&permit)},
        "primaryType": "Permit",
        "domain": {"name": "USD Coin", "version": "2", "chainId": 1,
            "verifyingContract": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"},
        "message": {"owner": "0xfd29c1148a76b673eefccfb82dca00bc7aaf471e",
            "spender": "0x1111111111111111111111111111111111111111",
            "value": format!("0x{}", "f".repeat(64)), "nonce": 0, "deadline": format!("0x{}", "f".repeat(64))}
    })
}

/// Returns a permit of several tokens (Permit2), one of them unlimited.
fn batch() -> Value {
    let details =
        [("token", "address"), ("amount", "uint160"), ("expiration", "uint48"), ("nonce", "uint48")];
    let of = |token: &str, amount: &str| {
        json!({"token": format!("0x{}", token.repeat(20)), "amount": amount, "expiration": 281_474_976_710_655_u64,
            "nonce": 3})
    };
    json!({
        "types": {
            "PermitBatch": members(&[("details", "PermitDetails[]"), ("spender", "address"), ("sigDeadline", "uint256")]),
            "PermitDetails": members(&details)
        },
        "primaryType": "PermitBatch",
        "domain": {"name": "Permit2", "chainId": "0xa", "verifyingContract": "0x000000000022d473030f116ddee9f6b43ac78ba3"},
        "message": {"details": [of("22", "1000000"), of("33", &format!("0x{}", "f".repeat(40)))],
            "spender": "0x1111111111111111111111111111111111111111", "sigDeadline": "1800000000"}
    })
}

/// Returns an order with the structure of a Seaport order.
fn order() -> Value {
    let item = members(&[("token", "address"), ("startAmount", "uint256")]);
    let item_of = |token: &str, amount: &str| json!({"token": format!("0x{}", token.repeat(20)), "startAmount": amount});
    json!({
        "types": {
            "OrderComponents": members(&[("offerer", "address"), ("offer", "Item[]"), ("consideration", "Item[]"), ("salt", "uint256")]),
            "Item": item
        },
        "primaryType": "OrderComponents",
        "domain": {"name": "Seaport", "version": "1.5", "chainId": 1, "verifyingContract": "0x00000000000000adc04c56bf30ac9d3c0aaf14dc"},
        "message": {"offerer": "0xfd29c1148a76b673eefccfb82dca00bc7aaf471e", "offer": [item_of("22", "1")],
            "consideration": [], "salt": format!("0x{}", "f".repeat(64))}
    })
}

#[test]
fn sign_raw_payload() {
    let mut first = raw("hello", "TEXT_UTF8", "SHA256");
    first.as_object_mut().unwrap().remove("signWith");
    first["privateKeyId"] = json!("77777777-7777-7777-7777-777777777777");
    check(
        "sign_raw_payload",
        &[
            ("SIGN_RAW_PAYLOAD", first),
            ("SIGN_RAW_PAYLOAD_V2", raw("a\u{202e}b", "TEXT_UTF8", "KECCAK256")),
            ("SIGN_RAW_PAYLOAD_V2", raw("68656c6c6f", "HEXADECIMAL", "NOT_APPLICABLE")),
            ("SIGN_RAW_PAYLOAD_V2", raw(&"ab".repeat(32), "HEXADECIMAL", "NO_OP")),
            ("SIGN_RAW_PAYLOAD_V2", raw("{}", "EIP712", "NO_OP")),
            ("SIGN_RAW_PAYLOAD_V2", raw("{}", "EIP712", "SHA256")),
            ("SIGN_RAW_PAYLOAD_V2", raw("{}", "EIP9999", "NO_OP")),
        ],
    );
    let payloads = several(&json!(["00", "0011"]), "HEXADECIMAL", "SHA256");
    check("sign_raw_payloads", &[("SIGN_RAW_PAYLOADS", payloads)]);
}

#[test]
fn typed_data() {
    let one = |data: &Value| ("SIGN_RAW_PAYLOAD_V2", raw(&data.to_string(), "EIP712", "NO_OP"));
    // Members that applications show are not necessarily signed.
    let mut beside = permit();
    beside["message"]["value"] = json!("1");
    beside["message"]["amo\u{202e}unt"] = json!("a coffee");
    beside["domain"] = json!({"name": "USD\u{202e} Coin", "site": "https://acme.example"});
    // A call through a multi-signature wallet, with otherwise unknown content.
    let relayed = json!({
        "types": {"SafeTx": members(&[("to", "address"), ("value", "uint256"), ("data", "bytes"), ("next", "SafeTx"), ("list", "bool[]")])},
        "primaryType": "SafeTx",
        "domain": {"chainId": 1, "verifyingContract": "0x2222222222222222222222222222222222222222"},
        "message": {"to": "0x1111111111111111111111111111111111111111", "value": 0, "data": "0xa9059cbb",
            "next": null, "list": []}
    });
    let domain = json!({"types": {}, "primaryType": "EIP712Domain", "domain": {}});
    let rows = [one(&permit()), one(&batch()), one(&order()), one(&beside), one(&relayed), one(&domain)];
    check("typed_data", &rows);
    let payloads = json!([permit().to_string(), order().to_string()]);
    check("typed_data_several", &[("SIGN_RAW_PAYLOADS", several(&payloads, "EIP712", "NO_OP"))]);
}

#[test]
fn authorizations() {
    let one = |address: &str, chain: u64| {
        let text =
            json!({"address": format!("0x{}", address.repeat(20)), "chainId": chain, "nonce": 7}).to_string();
        ("SIGN_RAW_PAYLOAD_V2", raw(&text, "EIP7702_AUTHORIZATION", "NO_OP"))
    };
    check("authorizations", &[one("ab", 1), one("ab", 0), one("00", 8453)]);
}

/// Bytes that are a transaction under the hash function of a chain are described and flagged like that
/// transaction.
#[test]
fn raw_transactions() {
    const APPROVE: &str = "f869098504a817c80082ea6094353535353535353535353535353535353535353580b844095ea7b30000000000000000000000001111111111111111111111111111111111111111ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff018080";
    let first = |file: &str, member: &str| {
        let file: Value = serde_json::from_str(file).unwrap();
        file["rows"][0][member].as_str().unwrap().to_owned()
    };
    let tron = first(include_str!("../../../../assets/vectors/chain/tron.json"), "unsigned");
    let solana = first(include_str!("../../../../assets/vectors/chain/solana.json"), "transaction");
    let one = |bytes: &str, hash: &str| ("SIGN_RAW_PAYLOAD_V2", raw(bytes, "HEXADECIMAL", hash));
    let both = several(&json!([APPROVE, "c0ffee"]), "HEXADECIMAL", "KECCAK256");
    check(
        "raw_transactions",
        &[
            one(APPROVE, "KECCAK256"),
            one(&tron, "SHA256"),
            // The message after one signature.
            one(&solana[2 + 128..], "NOT_APPLICABLE"),
            ("SIGN_RAW_PAYLOADS", both),
        ],
    );
    let hashes = format!("1901{}", "ab".repeat(64));
    let authorization = format!("05d70194{}01", "11".repeat(20));
    let rows = [
        one(&hashes, "KECCAK256"),
        one(&authorization, "KECCAK256"),
        one(&"cd".repeat(32), "SHA256"),
        one("c0ffee", "SHA256"),
    ];
    check("raw_hashes", &rows);
}

/// Calls that others make for the signer are flagged at any depth and under any member name.
#[test]
fn relayed_calls() {
    let batch = json!({
        "types": {
            "Batch": members(&[("calls", "Call[]"), ("note", "string")]),
            "Call": members(&[("target", "address"), ("value", "uint256"), ("callData", "bytes")])
        },
        "primaryType": "Batch",
        "domain": {"chainId": 1, "verifyingContract": "0x2222222222222222222222222222222222222222"},
        "message": {"calls": [
            {"target": "0x1111111111111111111111111111111111111111", "value": 0, "callData": "0x095ea7b3ff"},
            {"target": "0x1111111111111111111111111111111111111111", "value": 0, "callData": "0x00"},
        ], "note": "x) of 0x1111 (exchange cold [book]), on chain 1."}
    });
    check("relayed_calls", &[("SIGN_RAW_PAYLOAD_V2", raw(&batch.to_string(), "EIP712", "NO_OP"))]);
}
