//! A deleted wallet disappears at once, whatever its number of accounts. The cleanup of its records runs in
//! the background and survives a kill.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::{Value, json};

const ACCOUNTS: u32 = 400;

#[tokio::test]
async fn a_deleted_wallet_is_cleaned_up_completely() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let key = Key::named("child root");
    let users = [requests::root_user("root", &key)];
    let id = requests::create_sub_organization(&daemon.root(0), "child", &users, 1).await;
    let child = daemon.root(0).with_key(&key).on(&id);
    let wallet = child.result(CREATE_WALLET, &json!({"walletName": "large", "accounts": []})).await;
    let wallet = wallet["walletId"].clone();
    let mut addresses = Vec::new();
    for first in (0..ACCOUNTS).step_by(100) {
        let accounts: Vec<Value> = (first..first + 100).map(requests::account).collect();
        let more = json!({"walletId": wallet, "accounts": accounts});
        let result = child.result("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &more).await;
        addresses.extend(result["addresses"].as_array().expect("a list").clone());
    }
    let filter = |address: &Value| json!({"filterType": "WALLET_ACCOUNT_ADDRESS", "filterValue": address});
    let listed = daemon.root(0).fetch("list_suborgs", filter(&addresses[0])).await;
    assert_eq!(listed["organizationIds"], json!([id]));

    let deletion = json!({"walletIds": [wallet], "deleteWithoutExport": true});
    child.completed("ACTIVITY_TYPE_DELETE_WALLETS", &deletion).await;
    daemon.kill();
    daemon.restart().await;
    let child = daemon.root(0).with_key(&key).on(&id);
    let (first, last) = (&addresses[0], &addresses[addresses.len() - 1]);
    for address in [first, last] {
        let text = address.as_str().expect("a text");
        child.submit(SIGN, &requests::sign(text, "text")).await.expect_error(404, 5, "*");
    }
    assert_eq!(child.fetch("list_wallets", json!({})).await["wallets"], json!([]));
    assert_eq!(child.fetch("list_wallet_accounts", json!({})).await["accounts"], json!([]));
    // The index by which the parent finds the child goes last. Each query gives the background cleanup time.
    for address in [first, last] {
        while daemon.root(0).fetch("list_suborgs", filter(address)).await["organizationIds"] != json!([]) {}
    }
}

#[tokio::test]
async fn a_deleted_sub_organization_is_inaccessible() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let key = Key::named("child root");
    let users = [requests::root_user("root", &key)];
    let id = requests::create_sub_organization(&daemon.root(0), "child", &users, 1).await;
    let child = daemon.root(0).with_key(&key).on(&id);
    let created = child.result(CREATE_WALLET, &requests::wallet("w")).await;
    let path = "/public/v1/submit/delete_sub_organization";
    let delete = "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION";
    let rejected = child.submit(delete, &json!({})).await;
    assert_eq!(rejected.expect_error(400, 3, ""), "wallet has not been exported");
    // A parent may read a sub-organization, but not delete it.
    daemon.root(0).on(&id).submit(delete, &json!({"deleteWithoutExport": true})).await.expect_error(
        400,
        3,
        "ORGANIZATION_MISMATCH",
    );
    let body = child.proposal(delete, &json!({"deleteWithoutExport": true}));
    let deleted = child.send(path, &body).await.activity_in("COMPLETED");
    assert_eq!(deleted["result"]["deleteSubOrganizationResult"]["subOrganizationUuid"], json!(id));
    for _ in 0..2 {
        let child = daemon.root(0).with_key(&key).on(&id);
        child.send(path, &body).await.expect_error(404, 5, "ORGANIZATION_NOT_FOUND");
        let signature = requests::sign(created["addresses"][0].as_str().expect("a text"), "text");
        child.submit(SIGN, &signature).await.expect_error(404, 5, "ORGANIZATION_NOT_FOUND");
        daemon.root(0).on(&id).query("list_wallets", json!({})).await.expect_error(
            404,
            5,
            "ORGANIZATION_NOT_FOUND",
        );
        assert_eq!(daemon.root(0).fetch("list_suborgs", json!({})).await["organizationIds"], json!([]));
        daemon.kill();
        daemon.restart().await;
    }
}
