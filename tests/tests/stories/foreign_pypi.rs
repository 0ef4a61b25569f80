//! The `PyPI` package `turnkey-http`, unmodified, does the main job.

use serde_json::Value;

use crate::foreign;

#[tokio::test]
async fn main_job() {
    let (daemon, seen) = foreign::run("pypi", &[".venv/bin/python", "story.py"]).await;
    foreign::judge(&daemon, &seen).await;
    assert_eq!(seen["wallet"]["path"], "m/44'/60'/0'/0/0");

    // This client takes a wait for votes for an error of its own.
    assert_eq!(seen["pending"]["name"], "TurnkeyActivityConsensusNeededError", "{seen:#}");
    assert_eq!(seen["pending"]["code"], "ACTIVITY_CONSENSUS_NEEDED");
    assert_eq!(seen["pendingFetched"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(seen["pendingFetched"]["votes"], 1);
    assert_eq!(seen["pending"]["activityId"], seen["approved"]["id"]);

    assert_eq!(seen["voterWhoLeft"]["voted"], seen["voterWhoLeft"]["left"]);

    refused(&seen["unknownKey"], 401, "could not find public key in organization");
    refused(&seen["unknownSigner"], 404, "Could not find any resource to sign with");
    refused(&seen["denied"], 403, "You don't have sufficient permissions to take this action.");
}

fn refused(seen: &Value, status: i64, message: &str) {
    assert_eq!(seen["name"], "TurnkeyNetworkError", "{seen:#}");
    assert_eq!(seen["code"], "BAD_RESPONSE", "{seen:#}");
    assert_eq!(seen["status"], status, "{seen:#}");
    assert!(seen["message"].as_str().is_some_and(|text| text.starts_with(message)), "{seen:#}");
}
