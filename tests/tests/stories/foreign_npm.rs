//! The npm package `@turnkey/sdk-server`, unmodified, does the main job.

use serde_json::{Value, json};

use crate::foreign;

#[tokio::test]
async fn main_job() {
    let (daemon, seen) = foreign::run("npm", &["node", "story.mjs"]).await;
    foreign::judge(&daemon, &seen).await;
    assert_eq!(
        seen["wallet"]["addressFitsItsKey"], true,
        "the Ethereum address is that of the public key: {seen:#}"
    );

    // This client takes a wait for votes for a success without a result.
    assert_eq!(seen["pending"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(seen["pending"]["votes"], 1);
    assert_eq!(seen["pending"]["hasSignature"], false);
    assert_eq!(seen["pending"]["id"], seen["approved"]["id"]);

    refused(&seen["unknownKey"], 16, "Turnkey error 16: could not find public key in organization");
    refused(&seen["unknownSigner"], 5, "Turnkey error 5: Could not find any resource to sign with");
    refused(
        &seen["denied"],
        7,
        "Turnkey error 7: You don't have sufficient permissions to take this action.",
    );
    let told = &seen["denied"]["details"][0];
    assert_eq!(told["@type"], "type.googleapis.com/errors.v1.PolicyEnginePermissionError", "{seen:#}");
}

#[tokio::test]
async fn what_can_be_changed() {
    let (daemon, seen) = foreign::run("npm", &["node", "catalogue.mjs"]).await;
    let expected = json!({
        "userTags": [[true, "npm renamed", "TAG_TYPE_USER"]],
        "tagged": true,
        "untagged": [1, 2, 0],
        "user": {"userName": "second renamed", "userEmail": "other@example.com", "userPhoneNumber": "+4915112345678"},
        "policy": ["renamed", "noted", "activity.kind == 'EXPORT_WALLET'", ""],
        "policies": 0,
        "keyTags": [["npm renamed", "TAG_TYPE_PRIVATE_KEY"]],
        "untaggedKeys": [],
        "keys": 0,
        "accounts": [true, 0],
        "authenticators": ["npm"],
        "oauthProviders": [["https://issuer.example", "npm"]],
        "renamed": ["npm organization", "npm organization"],
    });
    assert_eq!(seen, expected);
    // The same, by the API itself, where the client does not reach.
    let shown = daemon.root(0).ask("get_organization", json!({})).await;
    let data = &shown["organizationData"];
    assert_eq!(data["name"], "npm organization");
    for list in ["tags", "policies", "privateKeys"] {
        assert_eq!(data[list], json!([]), "{list} are gone");
    }
}

fn refused(seen: &Value, code: i64, message: &str) {
    assert_eq!(seen["name"], "TurnkeyRequestError", "{seen:#}");
    assert_eq!(seen["code"], code, "{seen:#}");
    assert!(seen["message"].as_str().is_some_and(|text| text.starts_with(message)), "{seen:#}");
}
