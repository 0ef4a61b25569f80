//! The npm package `@turnkey/sdk-server`, unmodified, does the main job.

use serde_json::Value;

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

fn refused(seen: &Value, code: i64, message: &str) {
    assert_eq!(seen["name"], "TurnkeyRequestError", "{seen:#}");
    assert_eq!(seen["code"], code, "{seen:#}");
    assert!(seen["message"].as_str().is_some_and(|text| text.starts_with(message)), "{seen:#}");
}
