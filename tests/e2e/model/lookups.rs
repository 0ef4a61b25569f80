//! Looks up single resources by id, pages, filters and keys. Existing resources are found and equal those in
//! the lists; deleted ones and those of other organizations are not found.

use std::collections::BTreeSet;
use std::time::Instant;

use quorate_tests::caller::Caller;
use quorate_tests::choices::Choices;
use quorate_tests::http::TIMEOUT;
use quorate_tests::keys::Key;
use serde_json::{Value, json};

use super::activities::Activity;
use super::comparison::assert_same;
use super::times::Times;
use super::views;
use super::world::{Organization, Relatives, User, World};

mod settings;

pub(super) use settings::allowlists_of_keys;

/// Looks up some resources of each noun.
pub(super) async fn look_up(
    caller: &Caller,
    organization: &Organization,
    relatives: &Relatives,
    choices: &mut Choices,
) {
    let singles = singles(organization).into_iter().chain(settings::singles(organization, relatives));
    for (query, id_name, member, all) in singles {
        if let Some((id, expected)) = choices.pick(&all) {
            let reported = caller.fetch(query, json!({ (id_name): id })).await;
            assert_same(query, expected, &Times::default().strip(&reported[member]));
        }
        if let Some(id) = choices.pick(&organization.deleted_ids) {
            caller.query(query, json!({ (id_name): id })).await.expect_error(404, 5, "*");
        }
    }
    credentials_of_one(caller, organization, choices).await;
    accounts_of_one(caller, organization, choices).await;
    if let Some(activity) = choices.pick(&organization.activities) {
        let reported = caller.activity(&json!(activity.id)).await;
        assert_eq!(
            (&reported["fingerprint"], &reported["result"]),
            (&json!(activity.fingerprint()), &activity.result)
        );
    }
    pages_of_activities(caller, organization, choices).await;
}

/// A query for one resource: the query, the names of its id and of the answer, and all resources that it can
/// find.
type Single = (&'static str, &'static str, &'static str, Vec<(String, Value)>);

fn singles(organization: &Organization) -> Vec<Single> {
    let users = organization.users.iter();
    let keys = users.clone().flat_map(|user| &user.api_keys);
    let authenticators = users.clone().flat_map(|user| &user.authenticators);
    let known = |id: &Option<String>| id.clone().expect("a listed id");
    vec![
        ("get_user", "userId", "user", users.map(|user| (user.id.clone(), views::user(user))).collect()),
        (
            "get_api_key",
            "apiKeyId",
            "apiKey",
            keys.map(|key| (known(&key.id), views::api_key(key))).collect(),
        ),
        (
            "get_authenticator",
            "authenticatorId",
            "authenticator",
            authenticators.map(|one| (known(&one.id), views::authenticator(one))).collect(),
        ),
        (
            "get_policy",
            "policyId",
            "policy",
            organization.policies.iter().map(|policy| (policy.id.clone(), views::policy(policy))).collect(),
        ),
        (
            "get_private_key",
            "privateKeyId",
            "privateKey",
            organization.private_keys.iter().map(|key| (key.id.clone(), views::private_key(key))).collect(),
        ),
        (
            "get_wallet",
            "walletId",
            "wallet",
            organization.wallets.iter().map(|wallet| (wallet.id.clone(), views::wallet(wallet))).collect(),
        ),
    ]
}

async fn credentials_of_one(caller: &Caller, organization: &Organization, choices: &mut Choices) {
    let Some(user) = choices.pick(&organization.users) else { return };
    let view = views::user(user);
    for (query, member) in [
        ("get_api_keys", "apiKeys"),
        ("get_authenticators", "authenticators"),
        ("get_oauth_providers", "oauthProviders"),
        ("get_mfa_policies", "mfaPolicies"),
    ] {
        let reported = caller.fetch(query, json!({ "userId": user.id })).await;
        assert_same(query, &view[member], &Times::default().strip(&reported[member]));
    }
}

async fn accounts_of_one(caller: &Caller, organization: &Organization, choices: &mut Choices) {
    let Some(wallet) = choices.pick(&organization.wallets) else { return };
    let limit = 1 + choices.below(5);
    let members = json!({ "walletId": wallet.id, "includeWalletDetails": true });
    let (query, member, id_name) = ("list_wallet_accounts", "accounts", Some("walletAccountId"));
    let list = List { caller, query, member, members: members.clone(), id_name };
    let mut reported = list.all(limit, choices).await;
    let whole = caller.fetch(query, members).await;
    assert_eq!(Value::from(reported.clone()), whole["accounts"], "pages are parts of the whole");
    for account in &mut reported {
        let details = account.as_object_mut().expect("an account").remove("walletDetails");
        assert_same(
            "walletDetails",
            &views::wallet(wallet),
            &Times::default().strip(&details.unwrap_or_default()),
        );
    }
    let expected = views::accounts(organization, Some(&wallet.id));
    assert_same("accounts of a wallet", &expected, &Times::default().strip(&Value::from(reported)));

    let accounts: Vec<_> =
        organization.accounts.iter().filter(|account| account.wallet == wallet.id).collect();
    if let Some(account) = choices.pick(&accounts) {
        let members = json!({ "walletId": wallet.id, "address": account.address });
        let reported = caller.fetch("get_wallet_account", members).await;
        let reported = Times::default().strip(&reported["account"]);
        // One key may have an address twice if its path is written in two ways. Either may be reported.
        let mut twins = accounts.iter().filter(|other| other.address == account.address);
        let expected = twins.find(|other| reported["walletAccountId"] == json!(other.id)).unwrap_or(account);
        assert_same("get_wallet_account", &views::account(organization, expected), &reported);
        let members = json!({ "walletId": wallet.id, "path": account.derivation.path });
        let reported = caller.fetch("get_wallet_account", members).await;
        assert_eq!(reported["account"]["path"], account.derivation.path.as_str());
    }
    let derived: Vec<&String> = organization.derived.iter().map(|derived| &derived.address).collect();
    if let Some(address) = choices.pick(&derived)
        && accounts.iter().all(|account| account.address != **address)
    {
        let members = json!({ "walletId": wallet.id, "address": address });
        caller.query("get_wallet_account", members).await.expect_error(404, 5, "*");
    }
}

/// A paginated list.
struct List<'a> {
    caller: &'a Caller,
    query: &'static str,
    member: &'static str,
    /// Members of the query in addition to the page.
    members: Value,
    /// Name of the id member of an element, or `None` if the elements are ids.
    id_name: Option<&'static str>,
}

impl List<'_> {
    async fn page(&self, options: Value) -> Vec<Value> {
        let mut members = self.members.clone();
        members["paginationOptions"] = options;
        self.caller.fetch(self.query, members).await[self.member].as_array().expect("a page").clone()
    }

    fn id<'a>(&self, element: &'a Value) -> &'a Value {
        self.id_name.map_or(element, |name| &element[name])
    }

    /// Reads all elements page by page, as clients do, until a page is not full. Also reads the elements
    /// before a random one.
    async fn all(&self, limit: usize, choices: &mut Choices) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let mut options = json!({ "limit": limit.to_string() });
            if let Some(last) = all.last() {
                options["after"] = self.id(last).clone();
            }
            let page = self.page(options).await;
            assert!(page.len() <= limit, "a page is not longer than requested");
            let is_last = page.len() < limit;
            all.extend(page);
            if is_last {
                break;
            }
        }
        if !all.is_empty() {
            let count = choices.below(all.len());
            let page = self.page(json!({ "limit": "3", "before": self.id(&all[count]) })).await;
            assert_eq!(
                page,
                all[count.saturating_sub(3)..count],
                "{} before one, {}",
                self.query,
                self.members
            );
        }
        all
    }
}

async fn pages_of_activities(caller: &Caller, organization: &Organization, choices: &mut Choices) {
    let mut some = |of: BTreeSet<String>| -> Vec<String> {
        let wanted = 1 + choices.below(4);
        of.into_iter().filter(|_| choices.below(4) < wanted).collect()
    };
    let statuses = some(organization.activities.iter().map(|one| one.status.name().to_owned()).collect());
    let types = some(organization.activities.iter().map(Activity::activity_type).collect());
    let fits = |activity: &&Activity| {
        (statuses.is_empty() || statuses.iter().any(|status| status == activity.status.name()))
            && (types.is_empty() || types.contains(&activity.activity_type()))
    };
    let expected: Vec<&str> = organization
        .activities
        .iter()
        .rev()
        .filter(fits)
        .map(|one| one.id.as_deref().expect("listed"))
        .collect();
    let filter = json!({ "filterByStatus": statuses, "filterByType": types });
    let limit = 7 + choices.below(90);
    let (query, member, id_name) = ("list_activities", "activities", Some("id"));
    let list = List { caller, query, member, members: filter.clone(), id_name };
    let reported = list.all(limit, choices).await;
    let ids: Vec<&Value> = reported.iter().map(|activity| &activity["id"]).collect();
    assert_eq!(ids, expected, "activities by {filter}");
}

/// Returns filters that find some of the organizations, or would find the parent.
fn filters(organizations: &[Organization]) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for organization in organizations {
        all.push(("NAME", organization.name.clone()));
        for user in &organization.users {
            all.push(("USERNAME", user.name.clone()));
            all.extend(user.email.iter().map(|email| ("EMAIL", email.to_uppercase())));
            all.extend(user.phone.iter().map(|phone| ("PHONE_NUMBER", phone.clone())));
            all.extend(user.api_keys.iter().map(|key| ("PUBLIC_KEY", key.public_key.to_uppercase())));
            all.extend(user.authenticators.iter().map(|one| ("CREDENTIAL_ID", one.credential.clone())));
        }
        let addresses = organization.derived.iter().map(|derived| derived.address.clone());
        all.extend(addresses.map(|address| ("WALLET_ACCOUNT_ADDRESS", address)));
    }
    all
}

fn is_found(child: &Organization, filter: &str, value: &str) -> bool {
    let alike = |text: &str| text.eq_ignore_ascii_case(value);
    let any = |test: &dyn Fn(&User) -> bool| child.users.iter().any(test);
    match filter {
        "NAME" => child.name == value,
        "USERNAME" => any(&|user| user.name == value),
        "EMAIL" => any(&|user| user.email.as_deref().is_some_and(alike)),
        "PHONE_NUMBER" => any(&|user| user.phone.as_deref() == Some(value)),
        "PUBLIC_KEY" => any(&|user| user.api_keys.iter().any(|key| alike(&key.public_key))),
        "CREDENTIAL_ID" => any(&|user| user.authenticators.iter().any(|one| one.credential == value)),
        _ => child.accounts.iter().any(|account| account.address == value),
    }
}

/// Records the current filters of sub-organizations, which must find nothing after a deletion.
pub(super) fn trace(world: &mut World) {
    let before: BTreeSet<(&str, String)> = world.traces.iter().cloned().collect();
    let mut new = filters(&world.organizations[1..]);
    new.retain(|filter| !before.contains(filter));
    world.traces.extend(new);
}

/// Queries the sub-organizations that match a filter, in their order.
async fn children_by(caller: &Caller, members: Value, choices: &mut Choices) -> Vec<String> {
    let (query, member, id_name) = ("list_suborgs", "organizationIds", None);
    let list = List { caller, query, member, members, id_name };
    let limit = 1 + choices.below(12);
    let reported = list.all(limit, choices).await;
    reported.iter().map(|id| id.as_str().expect("an id").to_owned()).collect()
}

/// Checks queries for sub-organizations by current and former content.
pub(super) async fn find_children(caller: &Caller, world: &World, choices: &mut Choices) {
    let children = &world.organizations[1..];
    let mut reported = children_by(caller, json!({}), choices).await;
    reported.sort();
    let all: BTreeSet<&String> = children.iter().map(|child| &child.id).collect();
    assert_eq!(reported.iter().collect::<Vec<_>>(), Vec::from_iter(all), "all sub-organizations");
    let filters = filters(&world.organizations);
    for count in 0..24 {
        let filters = if count % 2 == 0 { &filters } else { &world.traces };
        let Some((filter, value)) = choices.pick(filters) else { return };
        let matching = children.iter().filter(|child| is_found(child, filter, value));
        let expected: BTreeSet<&String> = matching.map(|child| &child.id).collect();
        let members = json!({ "filterType": filter, "filterValue": value });
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let mut reported = children_by(caller, members.clone(), choices).await;
            reported.sort();
            if reported.iter().eq(expected.iter().copied()) {
                break;
            }
            // Addresses of a deleted wallet are cleaned up in the background. Everything else is removed at
            // once.
            let is_late = *filter == "WALLET_ACCOUNT_ADDRESS" && Instant::now() < deadline;
            assert!(is_late, "by {filter} {value}: expected {expected:?}, reported {reported:?}");
        }
    }
}

/// Checks to which user a key belongs when the query names the parent only.
pub(super) async fn check_key_owner(caller: &Caller, world: &World, key: &Key) {
    let caller = caller.with_key(key);
    let mut reply = caller.query("whoami", json!({})).await;
    let organizations_with_key = world.organizations_with_key(key.public_key());
    let [first, others @ ..] = organizations_with_key.as_slice() else {
        let is_passkey = key.header_name() == "x-stamp-webauthn";
        reply.expect_error(401, 16, if is_passkey { "CREDENTIAL_NOT_FOUND" } else { "PUBLIC_KEY_NOT_FOUND" });
        return;
    };
    if first.is_child && !others.is_empty() {
        reply.expect_error(401, 16, "CREDENTIAL_CONFLICT");
        return;
    }
    if reply.status == 401 && first.is_child && key.curve_name() != "API_KEY_CURVE_P256" {
        // Everybody knows the public key of a wallet, so that it counts only once it was used.
        reply.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
        caller.on(&first.id).fetch("whoami", json!({})).await;
        let deadline = Instant::now() + TIMEOUT;
        reply = caller.query("whoami", json!({})).await;
        while reply.status == 401 && Instant::now() < deadline {
            reply = caller.query("whoami", json!({})).await;
        }
    }
    let user = first.holder(key.public_key()).expect("a user with this key");
    let expected = json!({
        "organizationId": first.id, "organizationName": first.name, "userId": user.id, "username": user.name,
    });
    assert_same("whoami", &expected, &reply.success());
}
