//! Effects of kinds that change the settings of an organization or delete it, as queries and later requests
//! show them.

use quorate_core::cleanup;
use quorate_core::model::layout::outbox::{DeliveryId, LETTER};
use quorate_core::model::record::Record;
use quorate_core::outbox::Delivery;
use serde_json::{Value, json};

use crate::changes::{each, query_as, query_as_root};
use crate::fixture::{Fixture, NOW, Person, public_key};
use crate::samples;

#[test]
fn paging_continues_after_a_deleted_sub_organization() {
    let mut fixture = Fixture::new(1);
    let (mut child, mut sibling) = (fixture.child.clone(), fixture.sibling.clone());
    let first = json!({"paginationOptions": {"limit": "1"}});
    // Both were created at the same instant, so their ids determine the order.
    if query_as_root(&fixture, "list_suborgs", &first)["organizationIds"] == json!([sibling.home]) {
        std::mem::swap(&mut child, &mut sibling);
    }
    let delete = json!({"deleteWithoutExport": true});
    fixture
        .submit(&child, child.home, "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", &delete, NOW)
        .expect("the request is permitted");
    let next = json!({"paginationOptions": {"limit": "1", "after": child.home}});
    assert_eq!(query_as_root(&fixture, "list_suborgs", &next)["organizationIds"], json!([sibling.home]));
    let next = quorate_core::operator::organizations(&fixture.memory, Some(fixture.id), Some(child.home), 1);
    let next = next.expect("the console continues as well").organizations;
    assert_eq!(next.iter().map(|one| one.organization_id).collect::<Vec<_>>(), [sibling.home]);
}

/// Returns the URLs of the queued deliveries.
fn queued_urls(fixture: &Fixture) -> Vec<String> {
    let rows = fixture.memory.rows(LETTER).filter(|(key, _)| DeliveryId::of_key(key).is_some());
    rows.map(|(_, bytes)| Delivery::decode(bytes).expect("a delivery decodes").url).collect()
}

#[test]
fn only_active_endpoints_receive_activities() {
    let mut fixture = Fixture::new(1);
    fixture.execute("ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", &json!({"name": "FEATURE_NAME_WEBHOOK"}));
    let create = |fixture: &mut Fixture, name: &str, subscriptions: &Value| {
        let url = format!("https://hooks.example.org/{name}");
        let endpoint = json!({"url": url, "name": name, "subscriptions": subscriptions});
        let created = fixture.execute("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &endpoint);
        let result = created["result"]["createWebhookEndpointResult"].clone();
        assert_eq!(result["webhookEndpoint"]["url"], json!(url));
        result["endpointId"].clone()
    };
    let updates = json!([{"eventType": "ACTIVITY_UPDATES"}]);
    create(&mut fixture, "off", &json!([{"eventType": "ACTIVITY_UPDATES", "isActive": false}]));
    let one = create(&mut fixture, "one", &updates);
    create(&mut fixture, "two", &updates);
    // The feature received the events before it was disabled.
    let new_urls = |fixture: &Fixture| -> Vec<String> {
        queued_urls(fixture).into_iter().filter(|url| !url.ends_with("house")).collect()
    };
    let urls = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("https://hooks.example.org/{name}")).collect()
    };
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    let names = |listed: &Value| {
        sorted(each(listed, "name").iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect())
    };
    // Each endpoint receives its own creation, and the first one also that of the second.
    assert_eq!(sorted(new_urls(&fixture)), urls(&["one", "one", "two"]));
    // Endpoints of the parent receive the events of a sub-organization.
    let child = fixture.child.clone();
    let wallet = json!({"walletName": "w", "accounts": []});
    fixture
        .submit(&child, child.home, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW)
        .expect("the request is permitted");
    assert_eq!(sorted(new_urls(&fixture)), urls(&["one", "one", "one", "two", "two"]));
    fixture.execute("ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT", &json!({"endpointId": one, "isActive": false}));
    fixture.execute("ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", &json!({"organizationName": "n"}));
    assert_eq!(sorted(new_urls(&fixture)).iter().filter(|url| url.ends_with("one")).count(), 3);
    let listed = query_as_root(&fixture, "list_webhook_endpoints", &json!({}))["webhookEndpoints"].clone();
    assert_eq!(names(&listed), ["endpoint", "off", "one", "two"]);
    let active = listed.as_array().expect("a list").iter().filter(|one| one["isActive"] == true).count();
    assert_eq!(active, 3);
    fixture.execute("ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT", &json!({"endpointId": one}));
    let listed = query_as_root(&fixture, "list_webhook_endpoints", &json!({}))["webhookEndpoints"].clone();
    assert_eq!(names(&listed), ["endpoint", "off", "two"]);
}

#[test]
fn sub_organizations_see_the_session_profiles_of_their_parent() {
    let fixture = Fixture::new(1);
    let expected = json!({"sessionProfileId": fixture.session_profile, "sessionProfileName": "signer",
        "scope": "activity.action == 'SIGN'"});
    for (organization, caller) in [(fixture.id, &fixture.roots[0]), (fixture.child.home, &fixture.child)] {
        let id = json!({"sessionProfileId": fixture.session_profile});
        let one =
            query_as(&fixture, organization, caller, "get_session_profile", &id)["sessionProfile"].clone();
        for (member, value) in expected.as_object().expect("an object") {
            assert_eq!(&one[member], value);
        }
        let all = query_as(&fixture, organization, caller, "get_session_profiles", &json!({}));
        assert_eq!(all["sessionProfiles"], json!([one]));
    }
}

#[test]
fn contract_interfaces_are_stored_unchanged_and_deleted_with_their_text() {
    let mut fixture = Fixture::new(1);
    let text = format!("[{}]", vec!["{\"type\":\"fallback\"}"; 15_000].join(", "));
    let parameters = json!({"smartContractAddress": "0x00000000000000000000000000000000000000AA", "label": "long",
        "smartContractInterface": text, "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", "notes": "n"});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", &parameters);
    let id = created["result"]["createSmartContractInterfaceResult"]["smartContractInterfaceId"].clone();
    let query = json!({"smartContractInterfaceId": id});
    let one =
        query_as_root(&fixture, "get_smart_contract_interface", &query)["smartContractInterface"].clone();
    for member in ["smartContractAddress", "smartContractInterface", "type", "label", "notes"] {
        assert_eq!(one[member], parameters[member], "{member}");
    }
    assert_eq!((&one["organizationId"], fixture.memory.rows(b'i').count()), (&json!(fixture.id), 2));
    fixture.execute("ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE", &query);
    let remaining =
        query_as_root(&fixture, "list_smart_contract_interfaces", &json!({}))["smartContractInterfaces"]
            .clone();
    assert_eq!((each(&remaining, "label"), fixture.memory.rows(b'i').count()), (vec![json!("token")], 1));
}

/// Sends a query and an activity from an address. Returns whether the address is allowed, which must be the
/// same for both.
fn is_allowed(fixture: &mut Fixture, caller: &Person, source: Option<&str>) -> bool {
    let from = |body: &[u8]| {
        let source = source.map(|text| text.parse().expect("an address"));
        quorate_core::authn::Credentials { source, ..caller.stamps(body) }
    };
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let query = fixture.memory.query("whoami", &from(&body), &body, NOW);
    let keys = json!({"userId": caller.user, "apiKeys": [{"apiKeyName": "k", "publicKey": "02"}]});
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW);
    // The key is invalid, which only allowed callers learn.
    let act = fixture
        .memory
        .submit("create_api_keys", &from(&body), &body, NOW)
        .expect_err("the public key is invalid");
    let is_allowed = act.message.starts_with("invalid public key");
    assert_eq!(query.is_ok(), is_allowed, "{source:?}: {}", act.message);
    if let Err(error) = query {
        assert_eq!((error.code.http_status(), error.message), (403, act.message));
    }
    is_allowed
}

#[test]
fn requests_are_accepted_only_from_allowed_addresses() {
    let mut fixture = Fixture::new(1);
    let (root, spare) = (fixture.roots[0].clone(), Person { number: 13, ..fixture.spare.clone() });
    let (inside, office, outside) = (Some("198.51.100.7"), Some("192.0.2.9"), Some("203.0.113.1"));
    let list = json!({"rules": [{"cidr": "198.51.100.77/28"}, {"cidr": "198.51.100.64/28"}, {"cidr": "198.51.100.0/28", "label": "l"}]});
    assert!(
        is_allowed(&mut fixture, &root, outside) && is_allowed(&mut fixture, &spare, outside),
        "no list applies yet"
    );
    fixture.execute("ACTIVITY_TYPE_SET_IP_ALLOWLIST", &list);
    let shown = query_allowlist(&fixture, inside, &json!({}));
    assert_eq!(each(&shown["rules"], "cidr"), ["198.51.100.64/28", "198.51.100.0/28"].map(|one| json!(one)));
    assert_eq!((&shown["enabled"], &shown["onEvaluationError"]), (&json!(true), &json!("DENY")));
    for (caller, source, expected) in [
        (&root, inside, true),
        (&root, outside, false),
        (&root, office, false),
        (&root, None, false),
        // The key of this user has its own list, which takes precedence over that of the organization.
        (&spare, office, true),
        (&spare, inside, false),
    ] {
        assert_eq!(is_allowed(&mut fixture, caller, source), expected, "{source:?}");
    }
    // An invalid stamp is reported first, so that nothing is revealed about the allowlist.
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let forged = root.stamps(b"something else");
    let error = fixture.memory.query("whoami", &forged, &body, NOW).expect_err("the stamp is invalid");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("SIGNATURE_INVALID"));
    let from = |source: Option<&str>, body: &[u8]| quorate_core::authn::Credentials {
        source: source.map(|text| text.parse().expect("an address")),
        ..root.stamps(body)
    };
    let body = fixture.body(fixture.id, "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST", &json!({}), NOW);
    fixture
        .memory
        .submit("remove_ip_allowlist", &from(inside, &body), &body, NOW)
        .expect("the allowlist is removed");
    assert!(is_allowed(&mut fixture, &root, outside));
}

/// Queries the allowlist as a root user from an address.
fn query_allowlist(fixture: &Fixture, source: Option<&str>, members: &Value) -> Value {
    let mut body = members.clone();
    body["organizationId"] = json!(fixture.id);
    let body = body.to_string().into_bytes();
    let source = source.map(|text| text.parse().expect("an address"));
    let credentials = quorate_core::authn::Credentials { source, ..fixture.roots[0].stamps(&body) };
    fixture.memory.query("get_ip_allowlist", &credentials, &body, NOW).expect("the record exists")["allowlist"]
        .clone()
}

#[test]
fn only_four_digits_of_a_card_are_stored() {
    let mut fixture = Fixture::new(2);
    let activity_type = "ACTIVITY_TYPE_SET_PAYMENT_METHOD";
    let mut parameters = samples::parameters(activity_type, &fixture, &fixture.spare);
    // Unknown members are not stored either, since they may contain anything.
    parameters["alsoTheNumber"] = json!(samples::CARD);
    let body = fixture.body(fixture.id, activity_type, &parameters, NOW);
    let [first, second] = fixture.roots.clone();
    let waits = fixture.send(&first, "set_payment_method", &body, NOW).expect("the activity waits");
    let fingerprint = quorate_common::fingerprint::Fingerprint::of(&body).to_string();
    assert_eq!(waits["activity"]["fingerprint"], fingerprint, "it is the fingerprint of the bytes as sent");
    let intent = &waits["activity"]["intent"]["setPaymentMethodIntent"];
    assert_eq!((&intent["number"], &intent["cvv"]), (&json!("************1881"), &json!("***")));
    // The second approval consists of the same bytes and is stored in the same way.
    let done = fixture.send(&second, "set_payment_method", &body, NOW).expect("the activity is approved");
    assert_eq!(done["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(done["activity"]["result"]["setPaymentMethodResult"]["lastFour"], "1881");
    let contains =
        |bytes: &[u8], part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
    for (key, value) in fixture.memory.all_rows() {
        assert!(!contains(&value, samples::CARD) && !contains(&value, "917\""), "{key:?} contains the card");
    }
    let method =
        fixture.memory.stored(fixture.id).head.payment_method.expect("the payment method is recorded");
    assert_eq!((method.last_four.as_str(), method.holder_name.as_str()), ("1881", "Holder"));
    fixture.execute("ACTIVITY_TYPE_DELETE_PAYMENT_METHOD", &json!({}));
    assert_eq!(fixture.memory.stored(fixture.id).head.payment_method, None);
}

#[test]
fn deleted_sub_organizations_are_inaccessible_and_cleaned_up() {
    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let mut act = |caller: &Person, name: &str, parameters: &Value| {
        let answer = fixture.submit(caller, child.home, &format!("ACTIVITY_TYPE_{name}"), parameters, NOW);
        answer.map(|answer| answer["activity"]["result"].clone()).map_err(|error| error.message)
    };
    let account = crate::fixture::account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM");
    let wallet = act(&child, "CREATE_WALLET", &json!({"walletName": "w", "accounts": [account]}));
    let address = wallet.expect("the request is permitted")["createWalletResult"]["addresses"][0].clone();
    let users = json!({"users": [{"userName": "member", "apiKeys": [{"apiKeyName": "k", "publicKey": public_key(60)}]}]});
    act(&child, "CREATE_USERS_V2", &users).expect("the request is permitted");
    let policy = json!({"policyName": "all", "effect": "EFFECT_ALLOW", "condition": "true", "notes": ""});
    act(&child, "CREATE_POLICY_V3", &policy).expect("the request is permitted");
    let member = Person { number: 60, ..child.clone() };
    let answer = act(&member, "DELETE_SUB_ORGANIZATION", &json!({"deleteWithoutExport": true}));
    assert!(answer.expect_err("only root users may delete it").starts_with("You don't have sufficient"));
    let answer = act(&child, "DELETE_SUB_ORGANIZATION", &json!({}));
    assert_eq!(answer, Err("wallet has not been exported".to_owned()));
    let deleted = act(&child, "DELETE_SUB_ORGANIZATION", &json!({"deleteWithoutExport": true}));
    assert_eq!(
        deleted.expect("the request is permitted")["deleteSubOrganizationResult"]["subOrganizationUuid"],
        json!(child.home)
    );

    let not_found = Err("no organization found with the given ID".to_owned());
    assert_eq!(act(&child, "CREATE_WALLET", &json!({"walletName": "x", "accounts": []})), not_found);
    let body = json!({"organizationId": child.home}).to_string().into_bytes();
    let answer = fixture.memory.query("list_users", &fixture.roots[0].stamps(&body), &body, NOW);
    assert_eq!(answer.expect_err("the record is deleted").message, "no organization found with the given ID");
    while let Some(commit) = cleanup::step(&fixture.memory, NOW).expect("the store is readable") {
        fixture.memory.commit(commit);
    }
    let listed = |filter: &Value| query_as_root(&fixture, "list_suborgs", filter)["organizationIds"].clone();
    assert_eq!(listed(&json!({})), json!([fixture.sibling.home]));
    for (filter, value) in [
        ("NAME", json!("child")),
        ("USERNAME", json!("member")),
        ("PUBLIC_KEY", json!(public_key(20))),
        ("WALLET_ACCOUNT_ADDRESS", address),
    ] {
        assert_eq!(listed(&json!({"filterType": filter, "filterValue": value})), json!([]), "{filter}");
    }
    // What remains is its head, its activities, and the tombstones of its users.
    let named = |letter: u8| {
        fixture.memory.rows(letter).filter(|(key, _)| key[1..].starts_with(child.home.as_bytes())).count()
    };
    let remaining: Vec<(char, usize)> = (b'a'..=b'z')
        .map(|letter| (char::from(letter), named(letter)))
        .filter(|(_, rows)| *rows > 0)
        .collect();
    assert_eq!(remaining, [('a', 5), ('d', 1), ('g', 2), ('o', 1), ('t', 5)]);
}

#[test]
fn empty_organizations_can_be_deleted() {
    let mut fixture = Fixture::new(1);
    let alone = fixture.bare.clone();
    let parameters = json!({"organizationId": alone.home});
    let answer = fixture.submit(&alone, alone.home, "ACTIVITY_TYPE_DELETE_ORGANIZATION", &parameters, NOW);
    let result =
        answer.expect("the request is permitted")["activity"]["result"]["deleteOrganizationResult"].clone();
    assert_eq!(result, json!({"organizationId": alone.home}));
    let again = fixture.submit(&alone, alone.home, "ACTIVITY_TYPE_DELETE_ORGANIZATION", &parameters, NOW);
    assert_eq!(again.expect_err("the record is deleted").message, "no organization found with the given ID");
}

#[test]
fn votes_record_policy_evaluations() {
    let mut fixture = Fixture::new(2);
    let [first, second] = fixture.roots.clone();
    let allow = json!({"policyName": "two", "effect": "EFFECT_ALLOW", "condition": "activity.kind == 'CREATE_WALLET'",
        "consensus": "approvers.count() >= 2", "notes": ""});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &allow);
    let policy = created["result"]["createPolicyResult"]["policyId"].clone();
    let caller = fixture.user.clone();
    let wallet = json!({"walletName": "requested", "accounts": []});
    let answer = fixture.submit(&caller, fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    let activity = answer.expect("the activity waits")["activity"].clone();
    let vote = |fixture: &mut Fixture, voter: &Person, name: &str| {
        let parameters = json!({"fingerprint": activity["fingerprint"]});
        fixture.submit(voter, fixture.id, name, &parameters, NOW).expect("the vote is accepted")
    };
    vote(&mut fixture, &first, "ACTIVITY_TYPE_APPROVE_ACTIVITY");
    let evaluations_of = |fixture: &Fixture, activity: &Value| {
        query_as_root(fixture, "get_policy_evaluations", &json!({"activityId": activity["id"]}))["policyEvaluations"]
            .clone()
    };
    let evaluations = evaluations_of(&fixture, &activity);
    let votes =
        query_as_root(&fixture, "get_activity", &json!({"activityId": activity["id"]}))["activity"]["votes"]
            .clone();
    assert_eq!(each(&evaluations, "voteId"), each(&votes, "id"));
    let outcomes = |evaluation: &Value| -> Vec<(Value, Value)> {
        let list = evaluation["policyEvaluations"].as_array().expect("a list").clone();
        list.iter().map(|one| (one["policyId"].clone(), one["outcome"].clone())).collect()
    };
    let never = json!(fixture.policy);
    for (evaluation, outcome) in
        [(&evaluations[0], "OUTCOME_REQUIRES_CONSENSUS"), (&evaluations[1], "OUTCOME_ALLOW")]
    {
        let outcomes = outcomes(evaluation);
        assert!(outcomes.contains(&(policy.clone(), json!(outcome))), "{evaluation}");
        assert!(outcomes.contains(&(never.clone(), json!("OUTCOME_DENY_IMPLICIT"))), "{evaluation}");
        assert_eq!((outcomes.len(), &evaluation["activityId"]), (2, &activity["id"]));
    }
    assert_ne!(evaluations[0]["id"], evaluations[1]["id"]);
    // If the root quorum is met, no policy is evaluated, and neither for a rejection.
    let body = fixture.body(
        fixture.id,
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        &json!({"threshold": 2, "userIds": [first.user, second.user]}),
        NOW,
    );
    let waits =
        fixture.send(&first, "update_root_quorum", &body, NOW).expect("the activity waits")["activity"]
            .clone();
    let reject = json!({"fingerprint": waits["fingerprint"]});
    fixture
        .submit(&second, fixture.id, "ACTIVITY_TYPE_REJECT_ACTIVITY", &reject, NOW)
        .expect("the rejection is accepted");
    let evaluations = evaluations_of(&fixture, &waits);
    assert_eq!(evaluations.as_array().map(Vec::len), Some(1));
    assert_eq!(evaluations[0]["policyEvaluations"], json!([]));
}

#[test]
fn sub_organizations_are_found_only_by_verified_contacts() {
    use quorate_core::model::change::apply;
    use quorate_core::model::{Change, User};
    use quorate_core::pipeline::Commit;
    use quorate_core::world::World;

    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let put = |fixture: &mut Fixture, change: &dyn Fn(User) -> User| {
        let before = fixture.memory.stored(child.home);
        let user = change(before.user(child.user).expect("the record exists").clone());
        let applied = apply(&before, vec![Change::PutUser(user)], NOW, fixture.memory.index())
            .expect("the change applies");
        fixture.memory.commit(Commit {
            writes: applied.writes,
            after: vec![applied.after],
            ..Commit::default()
        });
    };
    let found = |fixture: &Fixture| {
        let filters = [("EMAIL", "Child@House.example"), ("PHONE_NUMBER", "+4915112345678")];
        filters.map(|(filter, value)| {
            let query = json!({"filterType": filter, "filterValue": value});
            query_as_root(fixture, "list_verified_suborgs", &query)["organizationIds"].clone()
        })
    };
    let contacts = json!({"userId": child.user, "userEmail": "child@house.example", "userPhoneNumber": "+4915112345678"});
    fixture
        .submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_USER", &contacts, NOW)
        .expect("the request is permitted");
    assert_eq!(found(&fixture), [json!([]), json!([])], "an unverified contact is not found");
    put(&mut fixture, &|user| User { email_verified: true, phone_verified: true, ..user });
    assert_eq!(found(&fixture), [json!([child.home]), json!([child.home])]);
    // A changed address must be verified again.
    let other = json!({"userId": child.user, "userEmail": "child@house.example"});
    fixture
        .submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_USER", &other, NOW)
        .expect("the request is permitted");
    let phone = json!({"userId": child.user, "userPhoneNumber": ""});
    fixture
        .submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", &phone, NOW)
        .expect("the request is permitted");
    assert_eq!(found(&fixture), [json!([]), json!([])]);
}

/// Creates a sub-organization whose root user has this address, proven or not, and returns its id.
fn child_with_address(fixture: &mut Fixture, number: u64, is_verified: bool) -> String {
    use quorate_core::model::change::apply;
    use quorate_core::model::{Change, User};
    use quorate_core::pipeline::Commit;
    use quorate_core::world::World;

    let key = samples::key_v2(1000 + u32::try_from(number).expect("a small number"));
    let user = json!({"userName": "shared", "userEmail": "shared@house.example", "apiKeys": [key],
        "authenticators": [], "oauthProviders": []});
    let parameters = json!({"subOrganizationName": format!("child {number}"), "rootUsers": [user], "rootQuorumThreshold": 1});
    let root = fixture.roots[0].clone();
    let now = NOW + number;
    let name = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
    let created = fixture.submit(&root, fixture.id, name, &parameters, now).expect("it is created");
    let id = &created["activity"]["result"]["createSubOrganizationResultV7"]["subOrganizationId"];
    let id = id.as_str().expect("an id").to_owned();
    if is_verified {
        let before = fixture.memory.stored(id.parse().expect("an id"));
        let user = before.users().next().expect("a root user").clone();
        let change = Change::PutUser(User { email_verified: true, ..user });
        let applied = apply(&before, vec![change], now, fixture.memory.index()).expect("the change applies");
        let (writes, after) = (applied.writes, vec![applied.after]);
        fixture.memory.commit(Commit { writes, after, ..Commit::default() });
    }
    id
}

#[test]
fn sub_organizations_of_a_contact_are_listed_oldest_first() {
    let mut fixture = Fixture::new(1);
    let ids: Vec<String> =
        (0..8).map(|number| child_with_address(&mut fixture, number, number != 3)).collect();
    assert!(!ids.is_sorted(), "ids do not show the order of creation");
    let verified: Vec<&String> = ids.iter().filter(|id| **id != ids[3]).collect();
    let list = |fixture: &Fixture, query: &str, options: Value| {
        let body = json!({"filterType": "EMAIL", "filterValue": "SHARED@house.example", "paginationOptions": options});
        query_as_root(fixture, query, &body)["organizationIds"].clone()
    };
    let by_contact = |fixture: &Fixture, options| list(fixture, "list_suborgs", options);
    assert_eq!(by_contact(&fixture, json!({})), json!(ids));
    assert_eq!(list(&fixture, "list_verified_suborgs", json!({})), json!(verified));
    assert_eq!(by_contact(&fixture, json!({"limit": "3"})), json!(ids[..3]));
    assert_eq!(by_contact(&fixture, json!({"limit": "3", "after": ids[2]})), json!(ids[3..6]));
    assert_eq!(by_contact(&fixture, json!({"limit": "3", "before": ids[7]})), json!(ids[4..7]));
    // Pages continue at a sub-organization that does not match, or that was deleted.
    let next = json!({"limit": "2", "after": ids[3]});
    assert_eq!(list(&fixture, "list_verified_suborgs", next.clone()), json!(ids[4..6]));
    let body = json!({"organizationId": fixture.id, "filterType": "EMAIL", "filterValue": "shared@house.example",
        "paginationOptions": {"after": fixture.bare.home}});
    let body = body.to_string().into_bytes();
    let error = fixture.memory.query("list_suborgs", &fixture.roots[0].stamps(&body), &body, NOW);
    assert_eq!(
        error.expect_err("no sub-organization").code,
        quorate_common::api_error::Code::InvalidArgument
    );

    // Too many to be ordered: each of them is listed once, by id.
    let mut many: Vec<String> =
        (8..102).map(|number| child_with_address(&mut fixture, number, true)).collect();
    many.extend(ids);
    many.sort();
    let mut listed: Vec<Value> = Vec::new();
    loop {
        let after = listed.last().cloned().unwrap_or(json!(""));
        let page = by_contact(&fixture, json!({"limit": "40", "after": after}));
        let page = page.as_array().expect("a list").clone();
        listed.extend(page.iter().cloned());
        if page.len() < 40 {
            break;
        }
    }
    assert_eq!(json!(listed), json!(many));
}
