//! Single things by their ids, pages, filters and keys: what is there is found and is what the lists say, what is
//! gone or elsewhere is not.

use std::collections::BTreeSet;
use std::time::Instant;

use quorate_tests::caller::Caller;
use quorate_tests::choices::Choices;
use quorate_tests::http::PATIENCE;
use quorate_tests::keys::Key;
use serde_json::{Value, json};

use super::activities::Activity;
use super::comparison::same;
use super::times::Times;
use super::views;
use super::world::{Kin, Organization, User, World};

mod settings;

pub(super) use settings::allowlists_of_keys;

/// Looks up some of each.
pub(super) async fn look_up(caller: &Caller, organization: &Organization, kin: &Kin, choices: &mut Choices) {
    let singles = singles(organization).into_iter().chain(settings::singles(organization, kin));
    for (query, id_name, member, all) in singles {
        if let Some((id, expected)) = choices.pick(&all) {
            let told = caller.ask(query, json!({ (id_name): id })).await;
            same(query, expected, &Times::default().taken_from(&told[member]));
        }
        if let Some(id) = choices.pick(&organization.gone) {
            caller.query(query, json!({ (id_name): id })).await.refusal(404, 5, "*");
        }
    }
    credentials_of_one(caller, organization, choices).await;
    accounts_of_one(caller, organization, choices).await;
    if let Some(activity) = choices.pick(&organization.activities) {
        let told = caller.activity(&json!(activity.id)).await;
        assert_eq!(
            (&told["fingerprint"], &told["result"]),
            (&json!(activity.fingerprint()), &activity.result)
        );
    }
    pages_of_activities(caller, organization, choices).await;
}

/// A query for one thing, the names of its id and of the answer, and all things that it may find.
type Single = (&'static str, &'static str, &'static str, Vec<(String, Value)>);

fn singles(organization: &Organization) -> Vec<Single> {
    let users = organization.users.iter();
    let keys = users.clone().flat_map(|user| &user.api_keys);
    let authenticators = users.clone().flat_map(|user| &user.authenticators);
    let known = |id: &Option<String>| id.clone().expect("an id that was listed");
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
    ] {
        let told = caller.ask(query, json!({ "userId": user.id })).await;
        same(query, &view[member], &Times::default().taken_from(&told[member]));
    }
}

async fn accounts_of_one(caller: &Caller, organization: &Organization, choices: &mut Choices) {
    let Some(wallet) = choices.pick(&organization.wallets) else { return };
    let limit = 1 + choices.below(5);
    let members = json!({ "walletId": wallet.id, "includeWalletDetails": true });
    let (query, member, id_name) = ("list_wallet_accounts", "accounts", Some("walletAccountId"));
    let list = List { caller, query, member, members: members.clone(), id_name };
    let mut told = list.all(limit, choices).await;
    let whole = caller.ask(query, members).await;
    assert_eq!(Value::from(told.clone()), whole["accounts"], "pages are parts of the whole");
    for account in &mut told {
        let details = account.as_object_mut().expect("an account").remove("walletDetails");
        same(
            "walletDetails",
            &views::wallet(wallet),
            &Times::default().taken_from(&details.unwrap_or_default()),
        );
    }
    let expected = views::accounts(organization, Some(&wallet.id));
    same("accounts of a wallet", &expected, &Times::default().taken_from(&Value::from(told)));

    let accounts: Vec<_> =
        organization.accounts.iter().filter(|account| account.wallet == wallet.id).collect();
    if let Some(account) = choices.pick(&accounts) {
        let members = json!({ "walletId": wallet.id, "address": account.address });
        let told = caller.ask("get_wallet_account", members).await;
        let told = Times::default().taken_from(&told["account"]);
        // One key may have an address twice, where its path is written in two ways; either may be told.
        let mut twins = accounts.iter().filter(|other| other.address == account.address);
        let found = twins.find(|other| told["walletAccountId"] == json!(other.id)).unwrap_or(account);
        same("get_wallet_account", &views::account(organization, found), &told);
        let members = json!({ "walletId": wallet.id, "path": account.place.path });
        let told = caller.ask("get_wallet_account", members).await;
        assert_eq!(told["account"]["path"], account.place.path.as_str());
    }
    let derived: Vec<&String> = organization.derived.iter().map(|derived| &derived.address).collect();
    if let Some(address) = choices.pick(&derived)
        && accounts.iter().all(|account| account.address != **address)
    {
        let members = json!({ "walletId": wallet.id, "address": address });
        caller.query("get_wallet_account", members).await.refusal(404, 5, "*");
    }
}

/// A list with pages.
struct List<'a> {
    caller: &'a Caller,
    query: &'static str,
    member: &'static str,
    /// What is asked for, beside the page.
    members: Value,
    /// The member of an element that is its id; none where elements are ids themselves.
    id_name: Option<&'static str>,
}

impl List<'_> {
    async fn page(&self, options: Value) -> Vec<Value> {
        let mut members = self.members.clone();
        members["paginationOptions"] = options;
        self.caller.ask(self.query, members).await[self.member].as_array().expect("a page").clone()
    }

    fn id<'a>(&self, element: &'a Value) -> &'a Value {
        self.id_name.map_or(element, |name| &element[name])
    }

    /// All elements, read page by page as clients do, to the first that is not full; and, by chance, those before
    /// one of them.
    async fn all(&self, limit: usize, choices: &mut Choices) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let mut options = json!({ "limit": limit.to_string() });
            if let Some(last) = all.last() {
                options["after"] = self.id(last).clone();
            }
            let page = self.page(options).await;
            assert!(page.len() <= limit, "a page is no longer than asked for");
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
    let told = list.all(limit, choices).await;
    let ids: Vec<&Value> = told.iter().map(|activity| &activity["id"]).collect();
    assert_eq!(ids, expected, "activities by {filter}");
}

/// What sub-organizations are found by, with what finds some of them, or would find the parent.
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

/// Notes what sub-organizations are found by now, since it must not find them later, when it is gone.
pub(super) fn trace(world: &mut World) {
    let before: BTreeSet<(&str, String)> = world.traces.iter().cloned().collect();
    let mut new = filters(&world.organizations[1..]);
    new.retain(|filter| !before.contains(filter));
    world.traces.extend(new);
}

/// Sub-organizations by a filter, in their order.
async fn children_by(caller: &Caller, members: Value, choices: &mut Choices) -> Vec<String> {
    let (query, member, id_name) = ("list_suborgs", "organizationIds", None);
    let list = List { caller, query, member, members, id_name };
    let limit = 1 + choices.below(12);
    let told = list.all(limit, choices).await;
    told.iter().map(|id| id.as_str().expect("an id").to_owned()).collect()
}

/// Finds sub-organizations by what is or was in them.
pub(super) async fn find_children(caller: &Caller, world: &World, choices: &mut Choices) {
    let children = &world.organizations[1..];
    let mut told = children_by(caller, json!({}), choices).await;
    told.sort();
    let all: BTreeSet<&String> = children.iter().map(|child| &child.id).collect();
    assert_eq!(told.iter().collect::<Vec<_>>(), Vec::from_iter(all), "all sub-organizations");
    let filters = filters(&world.organizations);
    for count in 0..24 {
        let filters = if count % 2 == 0 { &filters } else { &world.traces };
        let Some((filter, value)) = choices.pick(filters) else { return };
        let found = children.iter().filter(|child| is_found(child, filter, value));
        let expected: BTreeSet<&String> = found.map(|child| &child.id).collect();
        let members = json!({ "filterType": filter, "filterValue": value });
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut told = children_by(caller, members.clone(), choices).await;
            told.sort();
            if told.iter().eq(expected.iter().copied()) {
                break;
            }
            // What a deleted wallet leaves behind goes by and by; nothing else may take its time.
            let is_late = *filter == "WALLET_ACCOUNT_ADDRESS" && Instant::now() < deadline;
            assert!(is_late, "by {filter} {value}: expected {expected:?}, told {told:?}");
        }
    }
}

/// Says who a key belongs to, when only the parent is named.
pub(super) async fn who_is(caller: &Caller, world: &World, key: &Key) {
    let reply = caller.with_key(key).query("whoami", json!({})).await;
    let homes = world.homes(key.public_key());
    let [first, others @ ..] = homes.as_slice() else {
        let is_passkey = key.header_name() == "x-stamp-webauthn";
        reply.refusal(401, 16, if is_passkey { "CREDENTIAL_NOT_FOUND" } else { "PUBLIC_KEY_NOT_FOUND" });
        return;
    };
    if first.is_child && !others.is_empty() {
        reply.refusal(401, 16, "CREDENTIAL_CONFLICT");
        return;
    }
    let user = first.holder(key.public_key()).expect("a user with this key");
    let expected = json!({
        "organizationId": first.id, "organizationName": first.name, "userId": user.id, "username": user.name,
    });
    same("whoami", &expected, &reply.success());
}
