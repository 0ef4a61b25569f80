//! The unmodified `PyPI` package `turnkey-http` does the main job and signs in. `fido2` creates the passkey that creates
//! an organization and acts in it.

use quorate_tests::daemon::Options;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::operator::Operator;
use serde_json::{Value, json};

use crate::third_party;

#[tokio::test]
async fn the_pypi_client_does_the_main_job() {
    let (daemon, seen) = third_party::run("pypi", &[".venv/bin/python", "scenario.py"]).await;
    third_party::check(&daemon, &seen).await;
    assert_eq!(seen["wallet"]["path"], "m/44'/60'/0'/0/0");

    // This client reports a request that waits for votes as an error.
    assert_eq!(seen["pending"]["name"], "TurnkeyActivityConsensusNeededError", "{seen:#}");
    assert_eq!(seen["pending"]["code"], "ACTIVITY_CONSENSUS_NEEDED");
    assert_eq!(seen["pendingFetched"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(seen["pendingFetched"]["votes"], 1);
    assert_eq!(seen["pending"]["activityId"], seen["approved"]["id"]);

    assert_eq!(seen["voterWhoLeft"]["voted"], seen["voterWhoLeft"]["left"]);

    assert_error(&seen["unknownKey"], 401, "could not find public key in organization");
    assert_error(&seen["unknownSigner"], 404, "Could not find any resource to sign with");
    assert_error(&seen["denied"], 403, "You don't have sufficient permissions to take this action.");
}

#[tokio::test]
async fn the_pypi_client_signs_in() {
    let mailbox = Mailbox::start(0);
    let options = Options::quorum(1, 1).with_mail(mailbox.url());
    let program = [".venv/bin/python", "sign_in.py"];
    let (daemon, seen) = third_party::run_on(options, "pypi", &program, &[mailbox.folder()]).await;
    let (root, user) = (json!(daemon.root_id(0)), &seen["user"]);
    let code = json!({"contact": "pypi@example.org", "verified": [true, true], "who": user});
    assert_eq!(seen["code"], code);
    assert_eq!(seen["bundles"], json!([user, user, root]));
    assert_eq!(seen["sessions"], json!({"verified": true, "login": root, "readOnly": root}));
    assert_eq!(seen["error"], "invalid request body: `encryptedOtpBundle`: not an encrypted code");
}

#[tokio::test]
async fn a_passkey_creates_and_controls_an_organization() {
    let (daemon, seen) = third_party::run("pypi", &[".venv/bin/python", "passkey.py"]).await;
    assert_eq!((&seen["stolen"]["status"], reason(&seen["stolen"])), (&json!(401), "SIGNATURE_INVALID"));
    let created = &seen["created"]["body"]["activity"];
    assert_eq!(created["status"], "ACTIVITY_STATUS_COMPLETED", "{seen:#}");
    assert_eq!(created["result"]["createOrganizationResult"]["organizationId"], created["organizationId"]);
    assert_eq!(created["votes"][0]["scheme"], "SIGNATURE_SCHEME_TK_WEBAUTHN");
    let who = &seen["whoami"]["body"];
    assert_eq!(who["organizationName"], "By passkey", "{seen:#}");
    let user = &seen["users"]["body"]["users"][0];
    assert_eq!((&user["userName"], &user["userEmail"]), (&json!("creator"), &json!("creator@example.org")));
    let authenticator = &user["authenticators"][0];
    assert_eq!(authenticator["credentialId"], seen["credentialId"]);
    assert_eq!(authenticator["aaguid"], "cXVvcmF0ZS1maWRvMi1weQ");
    assert_eq!(seen["wallet"]["body"]["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{seen:#}");
    assert_eq!(seen["second"]["body"]["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{seen:#}");
    assert_eq!(seen["bySecond"]["body"], *who);
    assert_eq!(
        (&seen["elsewhere"]["status"], reason(&seen["elsewhere"])),
        (&json!(401), "CREDENTIAL_NOT_FOUND")
    );
    // The operator sees the organization in the list.
    let listed = Operator::root(&daemon, 0).run(&["org", "ls"]).await.with(0).lines();
    let names: Vec<&Value> = listed.iter().map(|one| &one["organizationName"]).collect();
    assert!(names.contains(&&json!("By passkey")), "{listed:#?}");
}

fn reason(seen: &Value) -> &str {
    seen["body"]["turnkeyErrorCode"].as_str().unwrap_or_default()
}

fn assert_error(seen: &Value, status: i64, message: &str) {
    assert_eq!(seen["name"], "TurnkeyNetworkError", "{seen:#}");
    assert_eq!(seen["code"], "BAD_RESPONSE", "{seen:#}");
    assert_eq!(seen["status"], status, "{seen:#}");
    assert!(seen["message"].as_str().is_some_and(|text| text.starts_with(message)), "{seen:#}");
}
