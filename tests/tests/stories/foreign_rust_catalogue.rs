//! The crate `turnkey_client`, unmodified, calls each operation that is offered and that it has a method for. What
//! goes out and what comes back passes through its types.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::mailbox::Mailbox;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use turnkey_client::TurnkeyClientError;

use crate::foreign;
use crate::foreign_rust::{Client, client};

/// Submits an activity through the method of that name and returns what `Result` it has, made comparable.
macro_rules! try_submit {
    ($caller:expr, $method:ident, $parameters:tt) => {{
        let (client, organization) = $caller.calls(stringify!($method));
        let parameters = crate::foreign_rust_catalogue::typed(&serde_json::json!($parameters));
        client.$method(organization, client.current_timestamp(), parameters).await
    }};
}

/// The same, of which the result is wanted.
macro_rules! submit {
    ($caller:expr, $method:ident, $parameters:tt) => {
        match try_submit!($caller, $method, $parameters) {
            Ok(answer) => crate::foreign_rust_catalogue::plain(&answer.result),
            Err(error) => panic!("{}: {error}", stringify!($method)),
        }
    };
}

/// Asks a query through the method of that name.
macro_rules! try_ask {
    ($caller:expr, $method:ident, $parameters:tt) => {{
        let (client, organization) = $caller.calls(stringify!($method));
        let mut parameters = serde_json::json!($parameters);
        parameters["organizationId"] = organization.into();
        client.$method(crate::foreign_rust_catalogue::typed(&parameters)).await
    }};
}

/// The same, of which the answer is wanted, made comparable.
macro_rules! ask {
    ($caller:expr, $method:ident, $parameters:tt) => {
        match try_ask!($caller, $method, $parameters) {
            Ok(answer) => crate::foreign_rust_catalogue::plain(&answer),
            Err(error) => panic!("{}: {error}", stringify!($method)),
        }
    };
}

mod keys;
mod organization;
mod policies;
mod settings;
mod users;

/// Operations that are offered, and that this release of the crate has no method for.
const WITHOUT_METHOD: [&str; 11] = [
    "accept_invitation",
    "activate_billing_tier",
    "create_api_only_users",
    "create_organization",
    "delete_organization",
    "delete_payment_method",
    "disable_private_key",
    "get_organization",
    "set_payment_method",
    "update_allowed_origins",
    "update_wallet_account_name",
];

/// Operations whose method is called otherwise.
const RENAMED: [(&str, &str); 10] = [
    ("list_activities", "get_activities"),
    ("list_policies", "get_policies"),
    ("list_private_keys", "get_private_keys"),
    ("list_smart_contract_interfaces", "get_smart_contract_interfaces"),
    ("list_suborgs", "get_sub_org_ids"),
    ("list_users", "get_users"),
    ("list_verified_suborgs", "get_verified_sub_org_ids"),
    ("list_wallet_accounts", "get_wallet_accounts"),
    ("list_wallets", "get_wallets"),
    ("whoami", "get_whoami"),
];

/// A client of an organization, and which of its methods were called.
struct Caller {
    client: Client,
    organization: String,
    called: Rc<RefCell<BTreeSet<String>>>,
}

impl Caller {
    /// Notes a call, and says who sends it where.
    fn calls(&self, method: &str) -> (&Client, String) {
        self.called.borrow_mut().insert(method.to_owned());
        (&self.client, self.organization.clone())
    }

    /// Somebody else, whose calls are noted in the same place.
    fn beside(&self, client: Client, organization: &str) -> Self {
        Self { client, organization: organization.to_owned(), called: Rc::clone(&self.called) }
    }
}

/// Who takes part.
struct Cast {
    daemon: Daemon,
    alice: Caller,
    bob: Caller,
}

impl Cast {
    fn of(daemon: Daemon) -> Self {
        let root = |index: usize| client(&daemon, &daemon.credentials().root_users[index].private_key);
        let organization = daemon.credentials().organization_id.clone();
        let alice = Caller { client: root(0), organization, called: Rc::default() };
        let bob = alice.beside(root(1), &alice.organization);
        Self { daemon, alice, bob }
    }
}

#[tokio::test]
async fn catalogue() {
    let mailbox = Mailbox::start(0);
    let cast = Cast::of(Daemon::start(Options::quorum(1, 2).with_mail(mailbox.url())).await);
    users::users(&cast).await;
    users::tags(&cast).await;
    users::api_keys(&cast).await;
    users::authenticators(&cast).await;
    users::oauth_providers(&cast).await;
    keys::private_keys(&cast).await;
    keys::tags(&cast).await;
    keys::wallets(&cast).await;
    keys::imported_wallets(&cast).await;
    keys::imported_keys(&cast).await;
    keys::secrets(&cast).await;
    policies::policies(&cast).await;
    policies::votes(&cast).await;
    settings::webhook_endpoints(&cast).await;
    settings::session_profiles(&cast).await;
    settings::contracts(&cast).await;
    settings::allowlists(&cast).await;
    organization::children(&cast).await;
    organization::invitations(&cast).await;
    assert_eq!(mailbox.next().to, ["guest@example.org"]);
    organization::organization(&cast).await;

    let mut offered: BTreeSet<String> = foreign::offered()
        .iter()
        .map(|path| path.rsplit('/').next().unwrap_or_default().to_owned())
        .collect();
    for name in WITHOUT_METHOD {
        assert!(offered.remove(name), "{name} is offered");
    }
    for (name, method) in RENAMED {
        assert!(offered.remove(name), "{name} is offered");
        offered.insert(method.to_owned());
    }
    let called = cast.alice.called.borrow();
    assert_eq!(offered.difference(&called).collect::<Vec<_>>(), [""; 0], "are forgotten");
    assert_eq!(called.difference(&offered).collect::<Vec<_>>(), [""; 0], "are not offered");
}

/// Parameters in the crate's own type, which has a place for each of them.
fn typed<T: Serialize + DeserializeOwned>(parameters: &Value) -> T {
    let typed = T::deserialize(parameters).expect("the crate has such parameters");
    let kept = without_nulls(serde_json::to_value(&typed).expect("JSON"));
    assert_eq!(kept, *parameters, "the crate knows all members, and the call says all that it sends");
    typed
}

/// An answer, of which times are all the same and what is absent is not there.
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

/// The ids or names in a list, sorted.
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
        Err(TurnkeyClientError::UnexpectedHttpStatus(found, body)) => {
            assert_eq!(found, status, "{body}");
            assert!(body.contains(message), "{body}");
        }
        other => panic!("expected a refusal, found {other:?}"),
    }
}
