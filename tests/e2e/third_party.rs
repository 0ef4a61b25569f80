//! Shared parts of the third-party clients: installation, execution, and the check of the main job.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::paths;
use serde_json::Value;

/// Installs a client if necessary, runs its program with a daemon's credentials file, and returns the daemon
/// and the observations.
pub(crate) async fn run(name: &str, program: &[&str]) -> (Daemon, Value) {
    run_on(Options::quorum(1, 2), name, program, &[]).await
}

/// Runs a client program on a daemon with other options, with these arguments after the credentials file. `npm/newest` is
/// the npm client with the newest packages beside the locked ones.
pub(crate) async fn run_on(
    options: Options,
    name: &str,
    program: &[&str],
    arguments: &[&Path],
) -> (Daemon, Value) {
    install(name);
    let daemon = Daemon::start(options).await;
    let credentials = daemon.credentials_file();
    let seen = observe(name, program, &[&[credentials.as_path()], arguments].concat());
    (daemon, seen)
}

/// Installs a client if necessary.
pub(crate) fn install(name: &str) {
    let installed = Command::new(paths::clients().join("setup.sh")).args(name.split('/')).status();
    assert!(installed.expect("setup.sh can be run").success(), "the client {name} cannot be installed");
}

/// Installs a client if necessary, runs its program, and returns the observations.
pub(crate) fn observe(name: &str, program: &[&str], arguments: &[&Path]) -> Value {
    install(name);
    let folder = name.split('/').next().unwrap_or(name);
    let output = Command::new(program[0])
        .args(&program[1..])
        .args(arguments)
        .current_dir(paths::clients().join(folder))
        .output()
        .unwrap_or_else(|error| panic!("{} cannot be run: {error}", program[0]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the client failed: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("no JSON ({error}): {stderr}"))
}

/// Checks the observations that all clients report alike against the API.
pub(crate) async fn check(daemon: &Daemon, seen: &Value) {
    let credentials = daemon.credentials();
    let root = daemon.root(0);
    assert_eq!(seen["whoami"]["organizationId"], credentials.organization_id.as_str());
    assert_eq!(seen["whoami"]["organizationName"], credentials.organization_name.as_str());
    assert_eq!(seen["whoami"]["userId"], daemon.root_id(0));
    assert_eq!(seen["whoami"]["username"], credentials.root_users[0].user_name.as_str());

    assert_eq!(seen["wallet"]["status"], "ACTIVITY_STATUS_COMPLETED");
    let wallet =
        root.fetch("get_wallet", serde_json::json!({ "walletId": seen["wallet"]["walletId"] })).await;
    assert_eq!(wallet["wallet"]["walletId"], seen["wallet"]["walletId"]);

    assert_eq!(seen["signed"]["status"], "ACTIVITY_STATUS_COMPLETED");
    for part in ["signed", "child", "approved", "fetched"] {
        assert_eq!(seen[part]["verified"], true, "the signature in {part} does not verify: {seen:#}");
    }

    assert_eq!(seen["child"]["whoami"]["organizationId"], seen["child"]["subOrganizationId"]);
    assert_eq!(seen["child"]["whoami"]["userId"], seen["child"]["rootUserIds"][0]);
    assert_eq!(seen["child"]["whoami"]["username"], "child root");

    assert_eq!(seen["approved"]["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(seen["fetched"]["status"], "ACTIVITY_STATUS_COMPLETED");
    let stored = root.activity(&seen["approved"]["id"]).await;
    assert_eq!(stored["type"], "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2");
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(2), "two votes: {stored:#}");
}

/// Returns the paths of all operations that the daemon offers.
pub(crate) fn offered() -> BTreeSet<String> {
    let catalog: Value = serde_json::from_str(include_str!("../../assets/catalog.json")).expect("JSON");
    let kinds = catalog["kinds"].as_array().into_iter().flatten().map(|kind| &kind["path"]);
    let queries = catalog["queries"].as_array().into_iter().flatten();
    let paths = kinds.chain(queries).map(|path| path.as_str().expect("a path").to_owned()).collect();
    assert!(paths != BTreeSet::new(), "no operation is offered");
    paths
}
