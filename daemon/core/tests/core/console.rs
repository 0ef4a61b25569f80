//! What the console reads of an organization.

use quorate_core::operator;
use serde_json::json;

use crate::fixture::{Fixture, NOW};

#[test]
fn wallets_and_private_keys_are_listed_in_the_order_of_creation() {
    let mut fixture = Fixture::new(1);
    let (root, id) = (fixture.roots[0].clone(), fixture.id);
    // All of them within one second, the resolution of times on the wire.
    for number in 0..8_u64 {
        let wallet = json!({"walletName": format!("w{number}"), "accounts": []});
        let key = json!({"privateKeys": [{"privateKeyName": format!("k{number}"), "curve": "CURVE_P256",
            "addressFormats": [], "privateKeyTags": []}]});
        for (activity_type, parameters) in
            [("ACTIVITY_TYPE_CREATE_WALLET", wallet), ("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", key)]
        {
            let created = fixture.submit(&root, id, activity_type, &parameters, NOW + number + 1);
            assert_eq!(created.expect("created")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
        }
    }
    let detail = operator::organization(&fixture.memory, id).expect("the organization");
    let wallets: Vec<_> = detail.wallets.iter().map(|wallet| wallet.wallet_name.as_str()).skip(1).collect();
    assert_eq!(wallets, ["w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7"]);
    let keys: Vec<_> = detail.private_keys.iter().map(|key| key.private_key_name.as_str()).skip(1).collect();
    assert_eq!(keys, ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"]);
}
