//! The unmodified crate `turnkey_client` calls every offered operation that it has a method for. Requests and
//! answers pass through its types.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::mailbox::Mailbox;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use turnkey_client::TurnkeyClientError;

use crate::third_party;
use crate::third_party_rust::{Client, client};

/// Submits an activity through the method of this name and returns its `Result`.
macro_rules! try_submit {
    ($caller:expr, $method:ident, $parameters:tt) => {{
        let (client, organization) = $caller.calls(stringify!($method));
        let parameters = crate::third_party_rust_catalogue::typed(&serde_json::json!($parameters));
        client.$method(organization, client.current_timestamp(), parameters).await
    }};
}

/// Submits an activity that must succeed, and returns its result in comparable form.
macro_rules! submit {
    ($caller:expr, $method:ident, $parameters:tt) => {
        match try_submit!($caller, $method, $parameters) {
            Ok(answer) => crate::third_party_rust_catalogue::plain(&answer.result),
            Err(error) => panic!("{}: {error}", stringify!($method)),
        }
    };
}

/// Sends a query through the method of this name.
macro_rules! try_fetch {
    ($caller:expr, $method:ident, $parameters:tt) => {{
        let (client, organization) = $caller.calls(stringify!($method));
        let mut parameters = serde_json::json!($parameters);
        parameters["organizationId"] = organization.into();
        client.$method(crate::third_party_rust_catalogue::typed(&parameters)).await
    }};
}

/// Sends a query that must succeed, and returns the answer in comparable form.
macro_rules! fetch {
    ($caller:expr, $method:ident, $parameters:tt) => {
        match try_fetch!($caller, $method, $parameters) {
            Ok(answer) => crate::third_party_rust_catalogue::plain(&answer),
            Err(error) => panic!("{}: {error}", stringify!($method)),
        }
    };
}

mod keys;
mod oauth2;
mod organization;
mod policies;
mod settings;
mod sign_in;
mod users;

/// Returns the methods of the crate by the operations that they call, from its source. Operations that the crate
/// does not know have none.
fn methods() -> BTreeMap<String, String> {
    let source = std::fs::read_to_string(folder_of("turnkey_client").join("src/generated/client.rs"));
    let source = source.expect("the source of the crate");
    let functions = source.split("pub async fn ").skip(1).filter_map(|function| {
        let (method, rest) = function.split_once('(')?;
        let (_, path) = rest.split_once("\"/public/v1/")?;
        let operation = path.split('"').next()?.rsplit('/').next()?;
        Some((operation.to_owned(), method.to_owned()))
    });
    functions.collect()
}

/// Returns the folder of a dependency's source. Only packages for this system are read, which a build has fetched.
fn folder_of(name: &str) -> PathBuf {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let options = ["--locked", "--offline", "--format-version", "1", "--filter-platform", host];
    let metadata = cargo(&[&["metadata"], options.as_slice()].concat());
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"] == name).expect("a dependency");
    let manifest = PathBuf::from(package["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a folder").to_owned()
}

/// Runs cargo and returns its output.
fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    String::from_utf8(output.expect("cargo runs").stdout).expect("text")
}

/// A client of an organization, with the names of the called methods.
struct Caller {
    client: Client,
    organization: String,
    called: Rc<RefCell<BTreeSet<String>>>,
}

impl Caller {
    /// Records a call, and returns the client and the organization.
    fn calls(&self, method: &str) -> (&Client, String) {
        self.called.borrow_mut().insert(method.to_owned());
        (&self.client, self.organization.clone())
    }

    /// Returns another caller, whose calls are recorded in the same set.
    fn sibling(&self, client: Client, organization: &str) -> Self {
        Self { client, organization: organization.to_owned(), called: Rc::clone(&self.called) }
    }
}

/// The users of the scenario.
struct Participants {
    daemon: Daemon,
    alice: Caller,
    bob: Caller,
}

impl Participants {
    fn of(daemon: Daemon) -> Self {
        let root = |index: usize| client(&daemon, &daemon.credentials().root_users[index].private_key);
        let organization = daemon.credentials().organization_id.clone();
        let alice = Caller { client: root(0), organization, called: Rc::default() };
        let bob = alice.sibling(root(1), &alice.organization);
        Self { daemon, alice, bob }
    }
}

#[tokio::test]
async fn the_rust_client_calls_every_operation() {
    let mailbox = Mailbox::start(0);
    let participants = Participants::of(Daemon::start(Options::quorum(1, 2).with_mail(mailbox.url())).await);
    users::users(&participants).await;
    users::tags(&participants).await;
    users::api_keys(&participants).await;
    users::authenticators(&participants).await;
    users::oauth_providers(&participants).await;
    users::mfa_policies(&participants).await;
    keys::private_keys(&participants).await;
    keys::tags(&participants).await;
    keys::wallets(&participants).await;
    keys::imported_wallets(&participants).await;
    keys::imported_keys(&participants).await;
    keys::secrets(&participants).await;
    policies::policies(&participants).await;
    policies::votes(&participants).await;
    settings::webhook_endpoints(&participants).await;
    settings::session_profiles(&participants).await;
    settings::sessions(&participants).await;
    sign_in::sign_in(&participants, &mailbox).await;
    oauth2::credentials(&participants).await;
    settings::contracts(&participants).await;
    settings::allowlists(&participants).await;
    organization::children(&participants).await;
    organization::invitations(&participants).await;
    assert_eq!(mailbox.next().to, ["guest@example.org"]);
    organization::organization(&participants).await;

    let methods = methods();
    let offered = third_party::offered();
    let operations = offered.iter().filter_map(|path| methods.get(path.rsplit('/').next()?).cloned());
    let operations: BTreeSet<String> = operations.collect();
    assert!(operations.len() >= 80, "the crate has methods for the offered operations: {operations:#?}");
    let called = participants.alice.called.borrow();
    assert_eq!(operations.difference(&called).collect::<Vec<_>>(), [""; 0], "are not called");
    assert_eq!(called.difference(&operations).collect::<Vec<_>>(), [""; 0], "are not offered");
}

/// Converts parameters to the crate's type, which must have a field for each of them.
fn typed<T: Serialize + DeserializeOwned>(parameters: &Value) -> T {
    let typed = T::deserialize(parameters).expect("the crate has such parameters");
    let converted = without_nulls(serde_json::to_value(&typed).expect("JSON"));
    assert_eq!(converted, *parameters, "the crate has exactly these members");
    typed
}

/// Returns an answer with all times replaced and absent members removed.
fn plain(answer: &impl Serialize) -> Value {
    without_times(without_nulls(serde_json::to_value(answer).expect("JSON")))
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, member)| !member.is_null())
            .map(|(name, member)| (name, without_nulls(member)))
            .collect(),
        Value::Array(elements) => elements.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

fn without_times(value: Value) -> Value {
    let digits =
        |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| text.parse::<u64>().is_ok());
    match value {
        Value::Object(members) if digits(members.get("seconds")) && digits(members.get("nanos")) => {
            json!("time")
        }
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, without_times(member))).collect()
        }
        Value::Array(elements) => elements.into_iter().map(without_times).collect(),
        other => other,
    }
}

/// Returns the sorted ids or names in a list.
fn listed(answer: &Value, list: &str, member: &str) -> Vec<String> {
    let elements = answer[list].as_array().expect("a list");
    let mut members: Vec<_> =
        elements.iter().map(|one| one[member].as_str().expect("a text").to_owned()).collect();
    members.sort();
    members
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("expected a text: {value}"))
}

fn assert_refused<T: std::fmt::Debug>(answer: Result<T, TurnkeyClientError>, status: u16, message: &str) {
    match answer {
        Err(TurnkeyClientError::UnexpectedHttpStatus(actual, body)) => {
            assert_eq!(actual, status, "{body}");
            assert!(body.contains(message), "{body}");
        }
        other => panic!("expected an error, got {other:?}"),
    }
}
