//! What kinds leave behind that set what an organization is, or end it, as queries and later requests show it.

use quorate_core::model::layout::outbox::{DeliveryId, LETTER};
use quorate_core::model::record::Record;
use quorate_core::outbox::Delivery;
use quorate_core::sweep;
use serde_json::{Value, json};

use crate::changes::{asked, asked_of, each};
use crate::house::{House, NOW, Person, public_key};
use crate::samples;

#[test]
fn pages_go_on_behind_a_child_that_was_deleted() {
    let mut house = House::found(1);
    let (mut child, mut sibling) = (house.child.clone(), house.sibling.clone());
    let first = json!({"paginationOptions": {"limit": "1"}});
    // Both were made at the same instant, so their ids say which one is first.
    if asked(&house, "list_suborgs", &first)["organizationIds"] == json!([sibling.home]) {
        std::mem::swap(&mut child, &mut sibling);
    }
    let delete = json!({"deleteWithoutExport": true});
    house.submit(&child, child.home, "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", &delete, NOW).expect("it may");
    let next = json!({"paginationOptions": {"limit": "1", "after": child.home}});
    assert_eq!(asked(&house, "list_suborgs", &next)["organizationIds"], json!([sibling.home]));
    let next = quorate_core::operator::organizations(&house.memory, Some(house.id), Some(child.home), 1);
    let next = next.expect("the console goes on, too").organizations;
    assert_eq!(next.iter().map(|one| one.organization_id).collect::<Vec<_>>(), [sibling.home]);
}

/// Where the deliveries go that wait.
fn told(house: &House) -> Vec<String> {
    let rows = house.memory.rows(LETTER).filter(|(key, _)| DeliveryId::of_key(key).is_some());
    rows.map(|(_, bytes)| Delivery::decode(bytes).expect("a delivery decodes").url).collect()
}

#[test]
fn active_endpoints_hear_of_activities_and_no_others() {
    let mut house = House::found(1);
    house.agreed("ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", &json!({"name": "FEATURE_NAME_WEBHOOK"}));
    let create = |house: &mut House, name: &str, subscriptions: &Value| {
        let url = format!("https://hooks.example.org/{name}");
        let endpoint = json!({"url": url, "name": name, "subscriptions": subscriptions});
        let made = house.agreed("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &endpoint);
        let result = made["result"]["createWebhookEndpointResult"].clone();
        assert_eq!(result["webhookEndpoint"]["url"], json!(url));
        result["endpointId"].clone()
    };
    let updates = json!([{"eventType": "ACTIVITY_UPDATES"}]);
    create(&mut house, "off", &json!([{"eventType": "ACTIVITY_UPDATES", "isActive": false}]));
    let one = create(&mut house, "one", &updates);
    create(&mut house, "two", &updates);
    // The feature told of what came before it was switched off.
    let news = |house: &House| -> Vec<String> {
        told(house).into_iter().filter(|url| !url.ends_with("house")).collect()
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
    // Each endpoint hears of its own creation already, and the first one of the second one's.
    assert_eq!(sorted(news(&house)), urls(&["one", "one", "two"]));
    // What happens in a child is told to the endpoints of its parent.
    let child = house.child.clone();
    let wallet = json!({"walletName": "w", "accounts": []});
    house.submit(&child, child.home, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW).expect("it may");
    assert_eq!(sorted(news(&house)), urls(&["one", "one", "one", "two", "two"]));
    house.agreed("ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT", &json!({"endpointId": one, "isActive": false}));
    house.agreed("ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", &json!({"organizationName": "n"}));
    assert_eq!(sorted(news(&house)).iter().filter(|url| url.ends_with("one")).count(), 3);
    let listed = asked(&house, "list_webhook_endpoints", &json!({}))["webhookEndpoints"].clone();
    assert_eq!(names(&listed), ["endpoint", "off", "one", "two"]);
    let active = listed.as_array().expect("a list").iter().filter(|one| one["isActive"] == true).count();
    assert_eq!(active, 3);
    house.agreed("ACTIVITY_TYPE_DELETE_WEBHOOK_ENDPOINT", &json!({"endpointId": one}));
    let listed = asked(&house, "list_webhook_endpoints", &json!({}))["webhookEndpoints"].clone();
    assert_eq!(names(&listed), ["endpoint", "off", "two"]);
}

#[test]
fn children_see_the_session_profiles_of_their_parent() {
    let house = House::found(1);
    let expected = json!({"sessionProfileId": house.session_profile, "sessionProfileName": "signer",
        "scope": "activity.action == 'SIGN'"});
    for (organization, caller) in [(house.id, &house.roots[0]), (house.child.home, &house.child)] {
        let id = json!({"sessionProfileId": house.session_profile});
        let one =
            asked_of(&house, organization, caller, "get_session_profile", &id)["sessionProfile"].clone();
        for (member, value) in expected.as_object().expect("an object") {
            assert_eq!(&one[member], value);
        }
        let all = asked_of(&house, organization, caller, "get_session_profiles", &json!({}));
        assert_eq!(all["sessionProfiles"], json!([one]));
    }
}

#[test]
fn a_contract_interface_is_kept_as_it_came_and_goes_with_its_text() {
    let mut house = House::found(1);
    let text = format!("[{}]", vec!["{\"type\":\"fallback\"}"; 15_000].join(", "));
    let parameters = json!({"smartContractAddress": "0x00000000000000000000000000000000000000AA", "label": "long",
        "smartContractInterface": text, "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", "notes": "n"});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", &parameters);
    let id = made["result"]["createSmartContractInterfaceResult"]["smartContractInterfaceId"].clone();
    let query = json!({"smartContractInterfaceId": id});
    let one = asked(&house, "get_smart_contract_interface", &query)["smartContractInterface"].clone();
    for member in ["smartContractAddress", "smartContractInterface", "type", "label", "notes"] {
        assert_eq!(one[member], parameters[member], "{member}");
    }
    assert_eq!((&one["organizationId"], house.memory.rows(b'i').count()), (&json!(house.id), 2));
    house.agreed("ACTIVITY_TYPE_DELETE_SMART_CONTRACT_INTERFACE", &query);
    let left = asked(&house, "list_smart_contract_interfaces", &json!({}))["smartContractInterfaces"].clone();
    assert_eq!((each(&left, "label"), house.memory.rows(b'i').count()), (vec![json!("token")], 1));
}

/// Asks and acts from an address; says whether both, neither, or only one of it was taken.
fn taken(house: &mut House, caller: &Person, source: Option<&str>) -> bool {
    let from = |body: &[u8]| {
        let source = source.map(|text| text.parse().expect("an address"));
        quorate_core::authn::Credentials { source, ..caller.stamps(body) }
    };
    let body = json!({"organizationId": house.id}).to_string().into_bytes();
    let query = house.memory.query("whoami", &from(&body), &body, NOW);
    let keys = json!({"userId": caller.user, "apiKeys": [{"apiKeyName": "k", "publicKey": "02"}]});
    let body = house.body(house.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW);
    // The key is none, which only those learn who are let in.
    let act = house.memory.submit("create_api_keys", &from(&body), &body, NOW).expect_err("it is no key");
    let let_in = act.message.starts_with("invalid public key");
    assert_eq!(query.is_ok(), let_in, "{source:?}: {}", act.message);
    if let Err(fault) = query {
        assert_eq!((fault.code.http_status(), fault.message), (403, act.message));
    }
    let_in
}

#[test]
fn requests_are_taken_from_listed_addresses_only() {
    let mut house = House::found(1);
    let (root, spare) = (house.roots[0].clone(), Person { number: 13, ..house.spare.clone() });
    let (inside, office, outside) = (Some("198.51.100.7"), Some("192.0.2.9"), Some("203.0.113.1"));
    let list = json!({"rules": [{"cidr": "198.51.100.77/28"}, {"cidr": "198.51.100.64/28"}, {"cidr": "198.51.100.0/28", "label": "l"}]});
    assert!(taken(&mut house, &root, outside) && taken(&mut house, &spare, outside), "no list counts yet");
    house.agreed("ACTIVITY_TYPE_SET_IP_ALLOWLIST", &list);
    let shown = asked_from(&house, inside, &json!({}));
    assert_eq!(each(&shown["rules"], "cidr"), ["198.51.100.64/28", "198.51.100.0/28"].map(|one| json!(one)));
    assert_eq!((&shown["enabled"], &shown["onEvaluationError"]), (&json!(true), &json!("DENY")));
    for (caller, source, expected) in [
        (&root, inside, true),
        (&root, outside, false),
        (&root, office, false),
        (&root, None, false),
        // The key of this user has a list of its own, which goes before that of the organization.
        (&spare, office, true),
        (&spare, inside, false),
    ] {
        assert_eq!(taken(&mut house, caller, source), expected, "{source:?}");
    }
    // A stamp that is wrong is told so first: addresses are nobody's business.
    let body = json!({"organizationId": house.id}).to_string().into_bytes();
    let forged = root.stamps(b"something else");
    let fault = house.memory.query("whoami", &forged, &body, NOW).expect_err("it is forged");
    assert_eq!(fault.turnkey_error_code.as_deref(), Some("SIGNATURE_INVALID"));
    let from = |source: Option<&str>, body: &[u8]| quorate_core::authn::Credentials {
        source: source.map(|text| text.parse().expect("an address")),
        ..root.stamps(body)
    };
    let body = house.body(house.id, "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST", &json!({}), NOW);
    house.memory.submit("remove_ip_allowlist", &from(inside, &body), &body, NOW).expect("it is taken away");
    assert!(taken(&mut house, &root, outside));
}

/// The allowlist as a root user sees it from an address.
fn asked_from(house: &House, source: Option<&str>, members: &Value) -> Value {
    let mut body = members.clone();
    body["organizationId"] = json!(house.id);
    let body = body.to_string().into_bytes();
    let source = source.map(|text| text.parse().expect("an address"));
    let credentials = quorate_core::authn::Credentials { source, ..house.roots[0].stamps(&body) };
    house.memory.query("get_ip_allowlist", &credentials, &body, NOW).expect("it is there")["allowlist"]
        .clone()
}

#[test]
fn of_a_card_only_four_digits_are_kept() {
    let mut house = House::found(2);
    let activity_type = "ACTIVITY_TYPE_SET_PAYMENT_METHOD";
    let mut parameters = samples::parameters(activity_type, &house, &house.spare);
    // What the kind does not know is not kept either, since it may say anything.
    parameters["alsoTheNumber"] = json!(samples::CARD);
    let body = house.body(house.id, activity_type, &parameters, NOW);
    let [first, second] = house.roots.clone();
    let waits = house.send(&first, "set_payment_method", &body, NOW).expect("it waits");
    let fingerprint = quorate_common::fingerprint::Fingerprint::of(&body).to_string();
    assert_eq!(waits["activity"]["fingerprint"], fingerprint, "it names the bytes as they were sent");
    let intent = &waits["activity"]["intent"]["setPaymentMethodIntent"];
    assert_eq!((&intent["number"], &intent["cvv"]), (&json!("************1881"), &json!("***")));
    // The second approval comes as the same bytes, and is kept as the first one was.
    let done = house.send(&second, "set_payment_method", &body, NOW).expect("it is agreed");
    assert_eq!(done["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_eq!(done["activity"]["result"]["setPaymentMethodResult"]["lastFour"], "1881");
    let contains =
        |bytes: &[u8], part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
    for (key, value) in house.memory.everything() {
        assert!(!contains(&value, samples::CARD) && !contains(&value, "917\""), "{key:?} holds the card");
    }
    let method = house.memory.stored(house.id).head.payment_method.expect("it is recorded");
    assert_eq!((method.last_four.as_str(), method.holder_name.as_str()), ("1881", "Holder"));
    house.agreed("ACTIVITY_TYPE_DELETE_PAYMENT_METHOD", &json!({}));
    assert_eq!(house.memory.stored(house.id).head.payment_method, None);
}

#[test]
fn a_deleted_child_is_nowhere_and_its_accounts_are_swept_away() {
    let mut house = House::found(1);
    let child = house.child.clone();
    let mut act = |caller: &Person, name: &str, parameters: &Value| {
        let answer = house.submit(caller, child.home, &format!("ACTIVITY_TYPE_{name}"), parameters, NOW);
        answer.map(|answer| answer["activity"]["result"].clone()).map_err(|fault| fault.message)
    };
    let account = crate::house::account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM");
    let wallet = act(&child, "CREATE_WALLET", &json!({"walletName": "w", "accounts": [account]}));
    let address = wallet.expect("it may")["createWalletResult"]["addresses"][0].clone();
    let users = json!({"users": [{"userName": "member", "apiKeys": [{"apiKeyName": "k", "publicKey": public_key(60)}]}]});
    act(&child, "CREATE_USERS_V2", &users).expect("it may");
    let policy = json!({"policyName": "all", "effect": "EFFECT_ALLOW", "condition": "true", "notes": ""});
    act(&child, "CREATE_POLICY_V3", &policy).expect("it may");
    let member = Person { number: 60, ..child.clone() };
    let refused = act(&member, "DELETE_SUB_ORGANIZATION", &json!({"deleteWithoutExport": true}));
    assert!(refused.expect_err("no policy lets a user end it").starts_with("You don't have sufficient"));
    let refused = act(&child, "DELETE_SUB_ORGANIZATION", &json!({}));
    assert_eq!(refused, Err("wallet has not been exported".to_owned()));
    let made = act(&child, "DELETE_SUB_ORGANIZATION", &json!({"deleteWithoutExport": true}));
    assert_eq!(
        made.expect("it may")["deleteSubOrganizationResult"]["subOrganizationUuid"],
        json!(child.home)
    );

    let gone = Err("no organization found with the given ID".to_owned());
    assert_eq!(act(&child, "CREATE_WALLET", &json!({"walletName": "x", "accounts": []})), gone);
    let body = json!({"organizationId": child.home}).to_string().into_bytes();
    let answer = house.memory.query("list_users", &house.roots[0].stamps(&body), &body, NOW);
    assert_eq!(answer.expect_err("it is gone").message, "no organization found with the given ID");
    while let Some(commit) = sweep::step(&house.memory).expect("it can be swept") {
        house.memory.commit(commit);
    }
    let listed = |filter: &Value| asked(&house, "list_suborgs", filter)["organizationIds"].clone();
    assert_eq!(listed(&json!({})), json!([house.sibling.home]));
    for (filter, value) in [
        ("NAME", json!("child")),
        ("USERNAME", json!("member")),
        ("PUBLIC_KEY", json!(public_key(20))),
        ("WALLET_ACCOUNT_ADDRESS", address),
    ] {
        assert_eq!(listed(&json!({"filterType": filter, "filterValue": value})), json!([]), "{filter}");
    }
    // What is left of it: its head, what was done in it and by whom, and whose ids were theirs.
    let named = |letter: u8| {
        house.memory.rows(letter).filter(|(key, _)| key[1..].starts_with(child.home.as_bytes())).count()
    };
    let left: Vec<(char, usize)> = (b'a'..=b'z')
        .map(|letter| (char::from(letter), named(letter)))
        .filter(|(_, rows)| *rows > 0)
        .collect();
    assert_eq!(left, [('a', 5), ('d', 1), ('g', 2), ('o', 1), ('t', 5)]);
}

#[test]
fn an_empty_organization_may_end_itself() {
    let mut house = House::found(1);
    let alone = house.bare.clone();
    let parameters = json!({"organizationId": alone.home});
    let made = house.submit(&alone, alone.home, "ACTIVITY_TYPE_DELETE_ORGANIZATION", &parameters, NOW);
    let result = made.expect("it may")["activity"]["result"]["deleteOrganizationResult"].clone();
    assert_eq!(result, json!({"organizationId": alone.home}));
    let again = house.submit(&alone, alone.home, "ACTIVITY_TYPE_DELETE_ORGANIZATION", &parameters, NOW);
    assert_eq!(again.expect_err("it is gone").message, "no organization found with the given ID");
}

#[test]
fn each_vote_keeps_what_policies_said() {
    let mut house = House::found(2);
    let [first, second] = house.roots.clone();
    let allow = json!({"policyName": "two", "effect": "EFFECT_ALLOW", "condition": "activity.kind == 'CREATE_WALLET'",
        "consensus": "approvers.count() >= 2", "notes": ""});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &allow);
    let policy = made["result"]["createPolicyResult"]["policyId"].clone();
    let caller = house.user.clone();
    let wallet = json!({"walletName": "asked", "accounts": []});
    let answer = house.submit(&caller, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    let activity = answer.expect("it waits")["activity"].clone();
    let vote = |house: &mut House, voter: &Person, name: &str| {
        let parameters = json!({"fingerprint": activity["fingerprint"]});
        house.submit(voter, house.id, name, &parameters, NOW).expect("a vote is taken")
    };
    vote(&mut house, &first, "ACTIVITY_TYPE_APPROVE_ACTIVITY");
    let said = |house: &House, activity: &Value| {
        asked(house, "get_policy_evaluations", &json!({"activityId": activity["id"]}))["policyEvaluations"]
            .clone()
    };
    let evaluations = said(&house, &activity);
    let votes =
        asked(&house, "get_activity", &json!({"activityId": activity["id"]}))["activity"]["votes"].clone();
    assert_eq!(each(&evaluations, "voteId"), each(&votes, "id"));
    let outcomes = |evaluation: &Value| -> Vec<(Value, Value)> {
        let list = evaluation["policyEvaluations"].as_array().expect("a list").clone();
        list.iter().map(|one| (one["policyId"].clone(), one["outcome"].clone())).collect()
    };
    let never = json!(house.policy);
    for (evaluation, outcome) in
        [(&evaluations[0], "OUTCOME_REQUIRES_CONSENSUS"), (&evaluations[1], "OUTCOME_ALLOW")]
    {
        let outcomes = outcomes(evaluation);
        assert!(outcomes.contains(&(policy.clone(), json!(outcome))), "{evaluation}");
        assert!(outcomes.contains(&(never.clone(), json!("OUTCOME_DENY_IMPLICIT"))), "{evaluation}");
        assert_eq!((outcomes.len(), &evaluation["activityId"]), (2, &activity["id"]));
    }
    assert_ne!(evaluations[0]["id"], evaluations[1]["id"]);
    // Where the root quorum is met nobody is asked, and a rejection asks nobody.
    let body = house.body(
        house.id,
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        &json!({"threshold": 2, "userIds": [first.user, second.user]}),
        NOW,
    );
    let waits = house.send(&first, "update_root_quorum", &body, NOW).expect("it waits")["activity"].clone();
    let reject = json!({"fingerprint": waits["fingerprint"]});
    house.submit(&second, house.id, "ACTIVITY_TYPE_REJECT_ACTIVITY", &reject, NOW).expect("it is rejected");
    let evaluations = said(&house, &waits);
    assert_eq!(evaluations.as_array().map(Vec::len), Some(1));
    assert_eq!(evaluations[0]["policyEvaluations"], json!([]));
}

#[test]
fn children_are_found_by_contacts_that_were_proven() {
    use quorate_core::model::change::apply;
    use quorate_core::model::{Change, User};
    use quorate_core::pipeline::Commit;
    use quorate_core::world::World;

    let mut house = House::found(1);
    let child = house.child.clone();
    let put = |house: &mut House, change: &dyn Fn(User) -> User| {
        let before = house.memory.stored(child.home);
        let user = change(before.user(child.user).expect("it is there").clone());
        let applied =
            apply(&before, vec![Change::PutUser(user)], NOW, house.memory.index()).expect("it applies");
        house.memory.commit(Commit {
            writes: applied.writes,
            after: vec![applied.after],
            ..Commit::default()
        });
    };
    let found = |house: &House| {
        let filters = [("EMAIL", "Child@House.example"), ("PHONE_NUMBER", "+4915112345678")];
        filters.map(|(filter, value)| {
            let query = json!({"filterType": filter, "filterValue": value});
            asked(house, "list_verified_suborgs", &query)["organizationIds"].clone()
        })
    };
    let contacts = json!({"userId": child.user, "userEmail": "child@house.example", "userPhoneNumber": "+4915112345678"});
    house.submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_USER", &contacts, NOW).expect("it may");
    assert_eq!(found(&house), [json!([]), json!([])], "a contact that is only said proves nothing");
    put(&mut house, &|user| User { email_verified: true, phone_verified: true, ..user });
    assert_eq!(found(&house), [json!([child.home]), json!([child.home])]);
    // Another address has to be proven again.
    let other = json!({"userId": child.user, "userEmail": "child@house.example"});
    house.submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_USER", &other, NOW).expect("it may");
    let phone = json!({"userId": child.user, "userPhoneNumber": ""});
    house.submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", &phone, NOW).expect("it may");
    assert_eq!(found(&house), [json!([]), json!([])]);
}
