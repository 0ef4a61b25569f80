//! What an answer may cost: rows of the store and steps of policies, counted; and what an organization may take in memory.

use std::sync::Arc;

use quorate_common::fault::{Code, Fault};
use quorate_core::budget::{Budget, CancelOnDrop, Cancellation};
use quorate_core::limits::Limits;
use quorate_core::operator::{self, ActivityQuery};
use quorate_core::{kinds, queries};
use serde_json::{Value, json};

use crate::house::{House, NOW, Person, account};

/// Every status, by its name on the wire.
const STATUSES: [&str; 7] = [
    "ACTIVITY_STATUS_CREATED",
    "ACTIVITY_STATUS_PENDING",
    "ACTIVITY_STATUS_COMPLETED",
    "ACTIVITY_STATUS_FAILED",
    "ACTIVITY_STATUS_CONSENSUS_NEEDED",
    "ACTIVITY_STATUS_REJECTED",
    "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
];

/// Gives the next answer the budget that these limits allow.
fn meter(house: &mut House, limits: &Limits) -> Arc<Budget> {
    house.memory.limits = limits.clone();
    house.memory.budget = Arc::new(Budget::of_query(limits, Cancellation::default()));
    Arc::clone(&house.memory.budget)
}

/// Asks as somebody, at the cost of a new budget, which is given back.
fn ask(
    house: &mut House,
    person: &Person,
    query: &str,
    members: &Value,
    limits: &Limits,
) -> (Result<Value, Fault>, Arc<Budget>) {
    let budget = meter(house, limits);
    let mut body = json!({"organizationId": house.id});
    body.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    let body = body.to_string().into_bytes();
    let answer = house.memory.query(query, &person.stamps(&body), &body, NOW);
    house.memory.budget = Arc::new(Budget::unmetered());
    (answer, budget)
}

fn ids(answer: &Value) -> Vec<String> {
    let list = answer["activities"].as_array().expect("a list");
    list.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

/// Activities that wait for the second root user.
fn propose(house: &mut House, count: usize) {
    let root = house.roots[0].clone();
    for number in 0..count {
        let wallet = json!({"walletName": format!("waiting {number}"), "accounts": []});
        house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW).expect("it waits");
    }
}

/// Policies whose conditions take some thousand steps each.
fn burden(house: &mut House, count: usize) {
    let numbers = vec!["1"; 30].join(",");
    let condition = format!("[{numbers}].all(x, [{numbers}].all(y, x == y))");
    for number in 0..count {
        let policy = json!({"policyName": format!("burden {number}"), "effect": "EFFECT_ALLOW", "notes": "",
            "condition": condition, "consensus": format!("approvers.any(user, user.id == '{}')", house.user.user)});
        house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    }
}

#[test]
fn a_filter_costs_its_page_however_long_it_is() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let types: Vec<&str> = kinds::all().iter().map(|entry| entry.activity_type).collect();
    let limits = Limits::default();
    let page = json!({"limit": "5"});
    let short = json!({"filterByStatus": [STATUSES[2], STATUSES[4]], "paginationOptions": page});
    let (expected, _) = ask(&mut house, &root, "list_activities", &short, &limits);
    // The same statuses, and all types, over and over again.
    let statuses: Vec<&str> = [STATUSES[2], STATUSES[4]].repeat(500);
    let names: Vec<&str> = types.iter().copied().cycle().take(1000).collect();
    let long = json!({"filterByStatus": statuses, "filterByType": names, "paginationOptions": page});
    let (answer, budget) = ask(&mut house, &root, "list_activities", &long, &limits);
    assert_eq!(ids(&answer.expect("it is answered")), ids(&expected.expect("it is answered")));
    // A look at each pair, and the page.
    let pairs = 2 * types.len();
    assert!(budget.rows_taken() <= pairs + 5 + 5 + 5, "{} rows", budget.rows_taken());
    // A filter of everything is no filter.
    let all = json!({"filterByStatus": STATUSES, "filterByType": types, "paginationOptions": page});
    let (answer, budget) = ask(&mut house, &root, "list_activities", &all, &limits);
    let (whole, _) = ask(&mut house, &root, "list_activities", &json!({"paginationOptions": page}), &limits);
    assert_eq!(ids(&answer.expect("it is answered")), ids(&whole.expect("it is answered")));
    assert!(budget.rows_taken() <= 5 + 5, "{} rows", budget.rows_taken());
    // Longer lists than anybody needs are refused.
    let longer = json!({"filterByStatus": STATUSES[..1].repeat(1001)});
    let (refused, budget) = ask(&mut house, &root, "list_activities", &longer, &limits);
    assert_eq!(refused.expect_err("it is too long").code, Code::InvalidArgument);
    assert_eq!(budget.rows_taken(), 0);
}

#[test]
fn a_filter_that_matches_nothing_reads_no_activity() {
    let mut house = House::found(2);
    propose(&mut house, 50);
    let root = house.roots[0].clone();
    let members = json!({"filterByStatus": [STATUSES[3]], "filterByType": ["ACTIVITY_TYPE_CREATE_WALLET"]});
    let (answer, budget) = ask(&mut house, &root, "list_activities", &members, &Limits::default());
    assert_eq!(ids(&answer.expect("it is answered")), Vec::<String>::new());
    assert_eq!(budget.rows_taken(), 1, "one look at the index");
}

#[test]
fn pages_of_a_filter_join_without_a_gap_both_ways() {
    let mut house = House::found(2);
    propose(&mut house, 23);
    let root = house.roots[0].clone();
    let limits = Limits::default();
    let list = |house: &mut House, pagination: Value| {
        let members = json!({"filterByStatus": STATUSES[2..5], "paginationOptions": pagination});
        ids(&ask(house, &root, "list_activities", &members, &limits).0.expect("it is answered"))
    };
    let whole = list(&mut house, json!({"limit": "100"}));
    assert!(whole.len() > 40 && whole.is_sorted_by(|newer, older| newer > older));
    let (mut down, mut up) = (Vec::new(), Vec::new());
    let mut page = list(&mut house, json!({"limit": "7"}));
    while let Some(last) = page.last().cloned() {
        down.append(&mut page);
        page = list(&mut house, json!({"limit": "7", "after": last}));
    }
    assert_eq!(down, whole);
    let mut first = whole.last().cloned();
    while let Some(from) = first {
        let page = list(&mut house, json!({"limit": "7", "before": from}));
        first = page.first().cloned();
        up.splice(0..0, page);
    }
    assert_eq!(up, whole[..whole.len() - 1]);
}

#[test]
fn flags_are_false_once_the_steps_are_used_up_and_the_answer_is_given_still() {
    let mut house = House::found(2);
    burden(&mut house, 5);
    propose(&mut house, 20);
    let (user, root) = (house.user.clone(), house.roots[1].clone());
    let members = json!({"filterByStatus": [STATUSES[4]], "paginationOptions": {"limit": "100"}});
    let flags = |answer: &Value, flag: &str| {
        let list = answer["activities"].as_array().expect("a list").clone();
        list.iter().filter(|one| one[flag] == true).count()
    };
    // An ordinary page is complete.
    let (answer, budget) = ask(&mut house, &user, "list_activities", &members, &Limits::default());
    let answer = answer.expect("it is answered");
    let listed = ids(&answer).len();
    assert!(listed >= 20);
    assert_eq!((flags(&answer, "canApprove"), flags(&answer, "canReject")), (listed, listed));
    let each = budget.steps_taken() / u32::try_from(listed).expect("a few");
    assert!(each > 10_000, "the policies are a burden: {each} steps");
    // With a tenth of the steps, a tenth of the flags is known.
    let limits = Limits { policy_steps_per_answer: budget.steps_taken() / 10, ..Limits::default() };
    let (answer, budget) = ask(&mut house, &user, "list_activities", &members, &limits);
    let answer = answer.expect("it is answered");
    assert_eq!(ids(&answer).len(), listed);
    assert!((1..=listed / 5).contains(&flags(&answer, "canApprove")));
    assert_eq!(flags(&answer, "canApprove"), flags(&answer, "canReject"));
    assert!(budget.steps_taken() <= limits.policy_steps_per_answer, "{} steps", budget.steps_taken());
    // Of a root user the policies need not be asked.
    let (answer, budget) = ask(&mut house, &root, "list_activities", &members, &limits);
    assert!(flags(&answer.expect("it is answered"), "canReject") == listed);
    assert!(budget.steps_taken() < limits.policy_steps_per_answer);
}

#[test]
fn a_large_activity_is_judged_where_it_is_asked_for_alone() {
    let mut house = House::found(2);
    burden(&mut house, 1);
    let (root, user) = (house.roots[0].clone(), house.user.clone());
    let members = json!({"walletName": "large", "accounts": [], "padding": "x".repeat(3_000_000)});
    let made = house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &members, NOW).expect("it waits");
    let id = made["activity"]["id"].clone();
    let shown = ask(&mut house, &user, "get_activity", &json!({"activityId": id}), &Limits::default()).0;
    assert_eq!(shown.expect("it is there")["activity"]["canApprove"], true);
    let target = json!({"fingerprint": made["activity"]["fingerprint"]});
    let voted = house.submit(&user, house.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    assert_eq!(voted.expect("their vote counts")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn a_page_of_a_console_ends_where_its_steps_end() {
    let mut house = House::found(2);
    burden(&mut house, 5);
    propose(&mut house, 20);
    let limits = Limits { policy_steps_per_answer: 100_000, ..Limits::default() };
    let (mut found, mut after, mut pages) = (0, None, 0);
    loop {
        let budget = meter(&mut house, &limits);
        let query = ActivityQuery {
            statuses: vec![serde_json::from_value(json!(STATUSES[4])).expect("a status")],
            after,
            limit: 100,
            ..ActivityQuery::default()
        };
        let page = operator::activities(&house.memory, house.id, &query, NOW).expect("it is answered");
        assert!(budget.steps_taken() <= 100_000);
        assert!(!page.activities.is_empty(), "each page goes on");
        found += page.activities.len();
        pages += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert!(found >= 20 && pages > 2, "{found} on {pages} pages");
}

#[test]
fn an_answer_that_takes_too_many_rows_is_refused_and_names_the_limit() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    for round in 0..3 {
        let accounts: Vec<Value> = (0..50)
            .map(|number| account(&format!("m/{round}'/{number}'"), "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"))
            .collect();
        let made = json!({"walletId": house.wallet.0, "accounts": accounts});
        house.agreed("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &made);
    }
    let limits = Limits { rows_per_answer: 100, ..Limits::default() };
    let (answer, _) = ask(&mut house, &root, "list_wallet_accounts", &json!({}), &limits);
    let fault = answer.expect_err("they are too many");
    assert_eq!(fault.code, Code::ResourceExhausted);
    assert!(fault.message.contains("`rows_per_answer`"), "{}", fault.message);
    let page = json!({"paginationOptions": {"limit": "90"}});
    let (answer, _) = ask(&mut house, &root, "list_wallet_accounts", &page, &limits);
    assert_eq!(answer.expect("a page fits")["accounts"].as_array().map(Vec::len), Some(90));
}

#[test]
fn accounts_of_deleted_wallets_are_passed_over() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let accounts: Vec<Value> = (0..90)
        .map(|number| account(&format!("m/{number}'"), "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"))
        .collect();
    for number in 0..8 {
        let wallet = json!({"walletName": format!("wallet {number}"), "accounts": accounts});
        let made = house.agreed("ACTIVITY_TYPE_CREATE_WALLET", &wallet);
        let id = made["result"]["createWalletResult"]["walletId"].clone();
        house
            .agreed("ACTIVITY_TYPE_DELETE_WALLETS", &json!({"walletIds": [id], "deleteWithoutExport": true}));
    }
    let page = json!({"paginationOptions": {"limit": "10"}});
    let (answer, budget) = ask(&mut house, &root, "list_wallet_accounts", &page, &Limits::default());
    assert_eq!(answer.expect("it is answered")["accounts"].as_array().map(Vec::len), Some(1));
    assert!(budget.rows_taken() < 8 * 20, "{} rows of 721", budget.rows_taken());
}

#[test]
fn each_query_stays_within_its_budget() {
    let mut house = House::found(2);
    burden(&mut house, 20);
    propose(&mut house, 40);
    let user = house.user.clone();
    let limits = Limits { policy_steps_per_answer: 200_000, rows_per_answer: 2_000, ..Limits::default() };
    let members = json!({"activityId": "", "walletId": house.wallet.0, "filterType": "EMAIL",
        "filterValue": "x", "paginationOptions": {"limit": "100"}});
    for query in queries::names() {
        let (_, budget) = ask(&mut house, &user, query, &members, &limits);
        assert!(
            budget.steps_taken() <= limits.policy_steps_per_answer,
            "{query}: {} steps",
            budget.steps_taken()
        );
        assert!(budget.rows_taken() <= limits.rows_per_answer, "{query}: {} rows", budget.rows_taken());
    }
}

#[test]
fn nothing_is_read_for_a_client_who_went_away() {
    let mut house = House::found(1);
    let (root, cancellation) = (house.roots[0].clone(), Cancellation::default());
    let budget = Arc::new(Budget::of_query(&Limits::default(), cancellation.clone()));
    house.memory.budget = Arc::clone(&budget);
    drop(CancelOnDrop(cancellation));
    // The world of these tests reads an organization by its records, too.
    let body = json!({"organizationId": house.id}).to_string().into_bytes();
    let fault = house.memory.query("list_activities", &root.stamps(&body), &body, NOW).expect_err("it ended");
    assert_eq!((fault.code, budget.rows_taken()), (Code::Unavailable, 0));
}

#[test]
fn the_expressions_of_all_policies_have_a_limit() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let organization = house.id;
    let present = house.memory.stored(organization).policy_bytes();
    house.memory.limits.policy_bytes = present + 100;
    let policy = |name: &str, length: usize| json!({"policyName": name, "effect": "EFFECT_ALLOW", "notes": "", "condition": format!("{:length$}", "true")});
    let create = |house: &mut House, name: &str, length: usize| {
        house.submit(&root, organization, "ACTIVITY_TYPE_CREATE_POLICY_V3", &policy(name, length), NOW)
    };
    let fault = create(&mut house, "too long", 101).expect_err("it does not fit");
    assert_eq!(fault.code, Code::ResourceExhausted);
    assert!(fault.message.contains("`policy_bytes`"), "{}", fault.message);
    let made = create(&mut house, "first", 100).expect("it fits");
    let id = made["activity"]["result"]["createPolicyResult"]["policyId"].clone();
    create(&mut house, "second", 4).expect_err("it is full");
    // What is there may be replaced, also where an operator lowered the limit since.
    house.memory.limits.policy_bytes = 1;
    let update = |house: &mut House, length: usize| {
        let change = json!({"policyId": id, "policyConsensus": format!("{:length$}", "true"), "policyCondition": "true"});
        house.submit(&root, organization, "ACTIVITY_TYPE_UPDATE_POLICY_V2", &change, NOW)
    };
    update(&mut house, 97).expect_err("it grows");
    update(&mut house, 96).expect("it does not");
}

#[test]
fn a_snapshot_has_a_limit_in_bytes() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let organization = house.id;
    house.memory.limits.snapshot_bytes = house.memory.stored(organization).bytes() + 4096;
    let tag = |name: &str| json!({"userTagName": name, "userIds": []});
    let mut create =
        |name: &str| house.submit(&root, organization, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag(name), NOW);
    let results: Vec<_> = (0..20).map(|number| create(&format!("tag {number}"))).collect();
    assert!(results[0].is_ok());
    let fault = results[19].as_ref().expect_err("there is no more room");
    assert_eq!(fault.code, Code::ResourceExhausted);
    assert!(fault.message.contains("`snapshot_bytes`"), "{}", fault.message);
    // Taking something away makes room.
    let id =
        results[0].as_ref().expect("it was made")["activity"]["result"]["createUserTagResult"]["userTagId"]
            .clone();
    house.agreed("ACTIVITY_TYPE_DELETE_USER_TAGS", &json!({"userTagIds": [id]}));
}
