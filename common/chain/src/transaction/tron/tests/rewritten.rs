//! Encodes a transaction from its facts, following the encoding guide of protocol buffers only. Data that is
//! missing from the facts is lost.

use serde_json::Value as Json;

/// Returns the bytes of a transaction with these facts. The stated permission ids are not facts and are
/// passed in order.
pub(super) fn rewritten(facts: &Json, numbers: &[i32]) -> Vec<u8> {
    [
        written(1, &hex(&facts["ref_block_bytes"])),
        written(4, &hex(&facts["ref_block_hash"])),
        number(8, &facts["expiration"]),
        written(10, &hex(&facts["data"])),
        present(11, &contract(&facts["contract"][0], numbers)),
        number(14, &facts["timestamp"]),
        number(18, &facts["fee_limit"]),
    ]
    .concat()
}

fn contract(contract: &Json, numbers: &[i32]) -> Vec<u8> {
    let name = contract["type"].as_str().unwrap();
    let owner = written(1, &address(&contract["owner_address"]));
    let resource = |tag| plain(tag, u64::from(contract["resource"] == "ENERGY"));
    let receiver = || written(4, &address(&contract["receiver_address"]));
    let (kind, members) = match name {
        "TransferContract" => {
            (1, [written(2, &address(&contract["to_address"])), number(3, &contract["amount"])].concat())
        }
        "TriggerSmartContract" => (31, call(contract)),
        "AccountPermissionUpdateContract" => (46, permissions(contract, numbers)),
        "FreezeBalanceV2Contract" => (54, [number(2, &contract["frozen_balance"]), resource(3)].concat()),
        "UnfreezeBalanceV2Contract" => (55, [number(2, &contract["unfreeze_balance"]), resource(3)].concat()),
        "DelegateResourceContract" => {
            let lock = plain(5, u64::from(contract["lock"] == true));
            let period = number(6, &contract["lock_period"]);
            (57, [resource(2), number(3, &contract["balance"]), receiver(), lock, period].concat())
        }
        "UnDelegateResourceContract" => {
            (58, [resource(2), number(3, &contract["balance"]), receiver()].concat())
        }
        other => unreachable!("{other}"),
    };
    let url = format!("type.googleapis.com/protocol.{name}");
    let parameter = [written(1, url.as_bytes()), written(2, &[owner, members].concat())].concat();
    [plain(1, kind), present(2, &parameter), number(5, &contract["permission_id"])].concat()
}

fn call(contract: &Json) -> Vec<u8> {
    [
        written(2, &address(&contract["contract_address"])),
        number(3, &contract["call_value"]),
        written(4, &hex(&contract["data"])),
        number(5, &contract["call_token_value"]),
        number(6, &contract["token_id"]),
    ]
    .concat()
}

fn permissions(contract: &Json, numbers: &[i32]) -> Vec<u8> {
    let single = [(2, contract.get("owner")), (3, contract.get("witness"))];
    let single = single.into_iter().filter_map(|(tag, one)| Some((tag, one?)));
    let actives = contract["actives"].as_array().unwrap().iter().map(|one| (4, one));
    let numbered = single.chain(actives).zip(numbers);
    numbered.flat_map(|((tag, one), id)| present(tag, &permission(one, *id))).collect()
}

fn permission(permission: &Json, id: i32) -> Vec<u8> {
    let kind = ["Owner", "Witness", "Active"].iter().position(|name| permission["type"] == *name).unwrap();
    let keys = permission["keys"].as_array().unwrap().iter().flat_map(|key| {
        present(7, &[written(1, &address(&key["address"])), number(2, &key["weight"])].concat())
    });
    [
        plain(1, kind.try_into().unwrap()),
        plain(2, id.try_into().unwrap()),
        written(3, permission["permission_name"].as_str().unwrap().as_bytes()),
        number(4, &permission["threshold"]),
        number(5, &permission["parent_id"]),
        written(6, &hex(&permission["operations"])),
        keys.collect(),
    ]
    .concat()
}

fn hex(value: &Json) -> Vec<u8> {
    const_hex::decode(value.as_str().unwrap()).unwrap()
}

fn address(value: &Json) -> Vec<u8> {
    bs58::decode(value.as_str().unwrap()).with_check(None).into_vec().unwrap()
}

/// Encodes seven bits per byte, lowest first. The highest bit of a byte marks that more follow.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}

fn number(tag: u64, value: &Json) -> Vec<u8> {
    plain(tag, value.as_u64().unwrap())
}

/// Encodes a number, unless it is 0.
fn plain(tag: u64, number: u64) -> Vec<u8> {
    if number == 0 { Vec::new() } else { [varint(tag << 3), varint(number)].concat() }
}

/// Encodes bytes, unless they are empty.
fn written(tag: u64, bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() { Vec::new() } else { present(tag, bytes) }
}

/// Encodes bytes, even if they are empty.
fn present(tag: u64, bytes: &[u8]) -> Vec<u8> {
    const LENGTH_DELIMITED: u64 = 2;
    [varint(tag << 3 | LENGTH_DELIMITED), varint(bytes.len().try_into().unwrap()), bytes.to_vec()].concat()
}
