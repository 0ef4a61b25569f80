//! The unmodified `PyPI` package `turnkey-http` does the main job and signs in. `fido2` creates the passkey that creates
//! an organization and acts in it.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::operator::Operator;
use quorate_tests::{paths, requests};
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

#[tokio::test]
async fn anyone_can_verify_a_bundle_with_public_keys_alone() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let quorum = json!({"threshold": 1, "userIds": [daemon.root_id(0)]});
    let pending = daemon.root(0).waiting(requests::UPDATE_ROOT_QUORUM, &quorum).await;
    daemon.root(1).approved(&pending["fingerprint"]).await;
    let ana = Operator::root(&daemon, 2);
    let path = |name: &str| ana.home().join(name);
    let (honest, forged) = (path("bundle.json"), path("forged.json"));
    let id = pending["id"].as_str().expect("an id");
    ana.run(&["proof", "export", id, "--output", honest.to_str().expect("UTF-8")]).await.with(0).json();
    let text = std::fs::read_to_string(&honest).expect("the bundle");
    let mut changed: Value = serde_json::from_str(&text).expect("JSON");
    let vote = &mut changed["content"]["signed"]["votes"][1];
    vote["message"] = json!(vote["message"].as_str().expect("a text").replace("APPROVE", "REJECT"));
    std::fs::write(&forged, changed.to_string()).expect("a file");

    let golden = paths::clients().join("../../assets/vectors/proof/1.json");
    let seen = third_party::observe("pypi", &[".venv/bin/python", "proof.py"], &[&honest, &forged, &golden]);
    let [honest, forged, golden] = seen.as_array().expect("a list").as_slice() else { panic!("{seen:#}") };
    assert_eq!(honest["fingerprint"], pending["fingerprint"]);
    assert_eq!(honest["type"], requests::UPDATE_ROOT_QUORUM);
    let yes = json!([true, true]);
    assert_eq!((&honest["undamaged"], &honest["signed"], &honest["about"]), (&json!(true), &yes, &yes));
    let one = json!([true, false]);
    assert_eq!((&forged["undamaged"], &forged["signed"], &forged["about"]), (&json!(false), &one, &one));
    let all = json!([true, true, true, true]);
    assert_eq!((&golden["undamaged"], &golden["signed"], &golden["about"]), (&json!(true), &all, &all));
    let kinds = ["TK_API_P256", "TK_WEBAUTHN", "TK_API_SECP256K1", "TK_API_ED25519"];
    assert_eq!(golden["schemes"], json!(kinds.map(|kind| format!("SIGNATURE_SCHEME_{kind}"))));
}

/// A program that was written from the documentation alone accepts a backup, and none of which a byte was changed.
#[tokio::test]
async fn a_backup_is_checked_without_quorate() {
    let installation = Installation::new("file = \"root.key\"");
    installation.create_organization("treasury", &Key::named("first root user")).await;
    let file = installation.path("treasury.backup");
    let run = installation.run("backup", &["--json", "--to", file.to_str().expect("UTF-8")]).await;
    assert_eq!(run.code, 0, "{run:#?}");
    let made: Value = serde_json::from_str(&run.output).expect("JSON");
    let seen = third_party::observe("pypi", &[".venv/bin/python", "backup_check.py"], &[&file]);
    for member in ["storeId", "publicKey", "records"] {
        assert_eq!(seen[member], made[member], "{seen:#}");
    }
    assert!(seen["refused"].as_u64().is_some_and(|refused| refused > 190), "{seen:#}");
}

fn assert_error(seen: &Value, status: i64, message: &str) {
    assert_eq!(seen["name"], "TurnkeyNetworkError", "{seen:#}");
    assert_eq!(seen["code"], "BAD_RESPONSE", "{seen:#}");
    assert_eq!(seen["status"], status, "{seen:#}");
    assert!(seen["message"].as_str().is_some_and(|text| text.starts_with(message)), "{seen:#}");
}
