//! Budgets: the store rows and policy steps of an answer, and the memory of an organization.

use std::sync::Arc;

use quorate_common::api_error::{ApiError, Code};
use quorate_core::budget::{Budget, CancelOnDrop, Cancellation};
use quorate_core::limits::Limits;
use quorate_core::operator::{self, ActivityQuery};
use quorate_core::{kinds, queries};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person, account};

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

/// Sets the budget that these limits allow for the next answer.
fn meter(fixture: &mut Fixture, limits: &Limits) -> Arc<Budget> {
    fixture.memory.limits = limits.clone();
    fixture.memory.budget = Arc::new(Budget::of_query(limits, Cancellation::default()));
    Arc::clone(&fixture.memory.budget)
}

/// Runs a query with a new budget. Returns the answer and the budget.
fn run_query(
    fixture: &mut Fixture,
    person: &Person,
    query: &str,
    members: &Value,
    limits: &Limits,
) -> (Result<Value, ApiError>, Arc<Budget>) {
    let budget = meter(fixture, limits);
    let mut body = json!({"organizationId": fixture.id});
    body.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    let body = body.to_string().into_bytes();
    let answer = fixture.memory.query(query, &person.stamps(&body), &body, NOW);
    fixture.memory.budget = Arc::new(Budget::unmetered());
    (answer, budget)
}

fn ids(answer: &Value) -> Vec<String> {
    let list = answer["activities"].as_array().expect("a list");
    list.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
}

/// Proposes activities that wait for the second root user.
fn propose(fixture: &mut Fixture, count: usize) {
    let root = fixture.roots[0].clone();
    for number in 0..count {
        let wallet = json!({"walletName": format!("waiting {number}"), "accounts": []});
        fixture
            .submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW)
            .expect("the activity waits");
    }
}

/// Creates policies whose conditions take some thousand steps each.
fn add_expensive_policies(fixture: &mut Fixture, count: usize) {
    let numbers = vec!["1"; 30].join(",");
    let condition = format!("[{numbers}].all(x, [{numbers}].all(y, x == y))");
    for number in 0..count {
        let policy = json!({"policyName": format!("expensive {number}"), "effect": "EFFECT_ALLOW", "notes": "",
            "condition": condition, "consensus": format!("approvers.any(user, user.id == '{}')", fixture.user.user)});
        fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    }
}

#[test]
fn cost_of_a_filter_does_not_grow_with_its_length() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let types: Vec<&str> = kinds::all().iter().map(|entry| entry.activity_type).collect();
    let limits = Limits::default();
    let page = json!({"limit": "5"});
    let short = json!({"filterByStatus": [STATUSES[2], STATUSES[4]], "paginationOptions": page});
    let (expected, _) = run_query(&mut fixture, &root, "list_activities", &short, &limits);
    // The same statuses and all types, repeated.
    let statuses: Vec<&str> = [STATUSES[2], STATUSES[4]].repeat(500);
    let names: Vec<&str> = types.iter().copied().cycle().take(1000).collect();
    let long = json!({"filterByStatus": statuses, "filterByType": names, "paginationOptions": page});
    let (answer, budget) = run_query(&mut fixture, &root, "list_activities", &long, &limits);
    assert_eq!(ids(&answer.expect("the query succeeds")), ids(&expected.expect("the query succeeds")));
    // One row for each pair, and the page.
    let pairs = 2 * types.len();
    assert!(budget.rows_taken() <= pairs + 5 + 5 + 5, "{} rows", budget.rows_taken());
    // A filter that matches everything costs no more than none.
    let all = json!({"filterByStatus": STATUSES, "filterByType": types, "paginationOptions": page});
    let (answer, budget) = run_query(&mut fixture, &root, "list_activities", &all, &limits);
    let (whole, _) =
        run_query(&mut fixture, &root, "list_activities", &json!({"paginationOptions": page}), &limits);
    assert_eq!(ids(&answer.expect("the query succeeds")), ids(&whole.expect("the query succeeds")));
    assert!(budget.rows_taken() <= 5 + 5, "{} rows", budget.rows_taken());
    // Longer lists are invalid.
    let longer = json!({"filterByStatus": STATUSES[..1].repeat(1001)});
    let (answer, budget) = run_query(&mut fixture, &root, "list_activities", &longer, &limits);
    assert_eq!(answer.expect_err("it is too long").code, Code::InvalidArgument);
    assert_eq!(budget.rows_taken(), 0);
}

#[test]
fn filters_that_match_nothing_read_no_activity() {
    let mut fixture = Fixture::new(2);
    propose(&mut fixture, 50);
    let root = fixture.roots[0].clone();
    let members = json!({"filterByStatus": [STATUSES[3]], "filterByType": ["ACTIVITY_TYPE_CREATE_WALLET"]});
    let (answer, budget) = run_query(&mut fixture, &root, "list_activities", &members, &Limits::default());
    assert_eq!(ids(&answer.expect("the query succeeds")), Vec::<String>::new());
    assert_eq!(budget.rows_taken(), 1, "one row of the index");
}

#[test]
fn filtered_pages_are_gapless_in_both_directions() {
    let mut fixture = Fixture::new(2);
    propose(&mut fixture, 23);
    let root = fixture.roots[0].clone();
    let limits = Limits::default();
    let list = |fixture: &mut Fixture, pagination: Value| {
        let members = json!({"filterByStatus": STATUSES[2..5], "paginationOptions": pagination});
        ids(&run_query(fixture, &root, "list_activities", &members, &limits).0.expect("the query succeeds"))
    };
    let whole = list(&mut fixture, json!({"limit": "100"}));
    assert!(whole.len() > 40 && whole.is_sorted_by(|newer, older| newer > older));
    let (mut down, mut up) = (Vec::new(), Vec::new());
    let mut page = list(&mut fixture, json!({"limit": "7"}));
    while let Some(last) = page.last().cloned() {
        down.append(&mut page);
        page = list(&mut fixture, json!({"limit": "7", "after": last}));
    }
    assert_eq!(down, whole);
    let mut first = whole.last().cloned();
    while let Some(from) = first {
        let page = list(&mut fixture, json!({"limit": "7", "before": from}));
        first = page.first().cloned();
        up.splice(0..0, page);
    }
    assert_eq!(up, whole[..whole.len() - 1]);
}

#[test]
fn flags_are_false_when_the_step_budget_is_exhausted() {
    let mut fixture = Fixture::new(2);
    add_expensive_policies(&mut fixture, 5);
    propose(&mut fixture, 20);
    let (user, root) = (fixture.user.clone(), fixture.roots[1].clone());
    let members = json!({"filterByStatus": [STATUSES[4]], "paginationOptions": {"limit": "100"}});
    let flags = |answer: &Value, flag: &str| {
        let list = answer["activities"].as_array().expect("a list").clone();
        list.iter().filter(|one| one[flag] == true).count()
    };
    // An ordinary page is complete.
    let (answer, budget) = run_query(&mut fixture, &user, "list_activities", &members, &Limits::default());
    let answer = answer.expect("the query succeeds");
    let listed = ids(&answer).len();
    assert!(listed >= 20);
    assert_eq!((flags(&answer, "canApprove"), flags(&answer, "canReject")), (listed, listed));
    let each = budget.steps_taken() / u32::try_from(listed).expect("a few");
    assert!(each > 10_000, "the policies are expensive: {each} steps");
    // With a tenth of the steps, a tenth of the flags is computed.
    let limits = Limits { policy_steps_per_answer: budget.steps_taken() / 10, ..Limits::default() };
    let (answer, budget) = run_query(&mut fixture, &user, "list_activities", &members, &limits);
    let answer = answer.expect("the query succeeds");
    assert_eq!(ids(&answer).len(), listed);
    assert!((1..=listed / 5).contains(&flags(&answer, "canApprove")));
    assert_eq!(flags(&answer, "canApprove"), flags(&answer, "canReject"));
    assert!(budget.steps_taken() <= limits.policy_steps_per_answer, "{} steps", budget.steps_taken());
    // For a root user no policies are evaluated.
    let (answer, budget) = run_query(&mut fixture, &root, "list_activities", &members, &limits);
    assert!(flags(&answer.expect("the query succeeds"), "canReject") == listed);
    assert!(budget.steps_taken() < limits.policy_steps_per_answer);
}

#[test]
fn large_activities_are_evaluated_when_queried_alone() {
    let mut fixture = Fixture::new(2);
    add_expensive_policies(&mut fixture, 1);
    let (root, user) = (fixture.roots[0].clone(), fixture.user.clone());
    let members = json!({"walletName": "large", "accounts": [], "padding": "x".repeat(3_000_000)});
    let created = fixture
        .submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &members, NOW)
        .expect("the activity waits");
    let id = created["activity"]["id"].clone();
    let shown =
        run_query(&mut fixture, &user, "get_activity", &json!({"activityId": id}), &Limits::default()).0;
    assert_eq!(shown.expect("the record exists")["activity"]["canApprove"], true);
    let target = json!({"fingerprint": created["activity"]["fingerprint"]});
    let voted = fixture.submit(&user, fixture.id, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &target, NOW);
    assert_eq!(voted.expect("the vote counts")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn console_pages_end_when_the_step_budget_is_exhausted() {
    let mut fixture = Fixture::new(2);
    add_expensive_policies(&mut fixture, 5);
    propose(&mut fixture, 20);
    let limits = Limits { policy_steps_per_answer: 100_000, ..Limits::default() };
    let (mut count, mut after, mut pages) = (0, None, 0);
    loop {
        let budget = meter(&mut fixture, &limits);
        let query = ActivityQuery {
            statuses: vec![serde_json::from_value(json!(STATUSES[4])).expect("a status")],
            after,
            limit: 100,
            ..ActivityQuery::default()
        };
        let page =
            operator::activities(&fixture.memory, fixture.id, &query, NOW).expect("the query succeeds");
        assert!(budget.steps_taken() <= 100_000);
        assert!(!page.activities.is_empty(), "each page contains activities");
        count += page.activities.len();
        pages += 1;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert!(count >= 20 && pages > 2, "{count} on {pages} pages");
}

#[test]
fn answers_with_too_many_rows_fail_and_name_the_limit() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    for round in 0..3 {
        let accounts: Vec<Value> = (0..50)
            .map(|number| account(&format!("m/{round}'/{number}'"), "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"))
            .collect();
        let parameters = json!({"walletId": fixture.wallet.0, "accounts": accounts});
        fixture.execute("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &parameters);
    }
    let limits = Limits { rows_per_answer: 100, ..Limits::default() };
    let (answer, _) = run_query(&mut fixture, &root, "list_wallet_accounts", &json!({}), &limits);
    let error = answer.expect_err("there are too many rows");
    assert_eq!(error.code, Code::ResourceExhausted);
    assert!(error.message.contains("`rows_per_answer`"), "{}", error.message);
    let page = json!({"paginationOptions": {"limit": "90"}});
    let (answer, _) = run_query(&mut fixture, &root, "list_wallet_accounts", &page, &limits);
    assert_eq!(answer.expect("a page fits")["accounts"].as_array().map(Vec::len), Some(90));
}

#[test]
fn accounts_of_deleted_wallets_are_skipped() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let accounts: Vec<Value> = (0..90)
        .map(|number| account(&format!("m/{number}'"), "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"))
        .collect();
    for number in 0..8 {
        let wallet = json!({"walletName": format!("wallet {number}"), "accounts": accounts});
        let created = fixture.execute("ACTIVITY_TYPE_CREATE_WALLET", &wallet);
        let id = created["result"]["createWalletResult"]["walletId"].clone();
        fixture.execute(
            "ACTIVITY_TYPE_DELETE_WALLETS",
            &json!({"walletIds": [id], "deleteWithoutExport": true}),
        );
    }
    let page = json!({"paginationOptions": {"limit": "10"}});
    let (answer, budget) = run_query(&mut fixture, &root, "list_wallet_accounts", &page, &Limits::default());
    assert_eq!(answer.expect("the query succeeds")["accounts"].as_array().map(Vec::len), Some(1));
    assert!(budget.rows_taken() < 8 * 20, "{} rows of 721", budget.rows_taken());
}

#[test]
fn queries_stay_within_their_budget() {
    let mut fixture = Fixture::new(2);
    add_expensive_policies(&mut fixture, 20);
    propose(&mut fixture, 40);
    let user = fixture.user.clone();
    let limits = Limits { policy_steps_per_answer: 200_000, rows_per_answer: 2_000, ..Limits::default() };
    let members = json!({"activityId": "", "walletId": fixture.wallet.0, "filterType": "EMAIL",
        "filterValue": "x", "email": "root0@house.example", "paginationOptions": {"limit": "100"}});
    for query in queries::all().into_iter().map(|entry| entry.name) {
        let (_, budget) = run_query(&mut fixture, &user, query, &members, &limits);
        assert!(
            budget.steps_taken() <= limits.policy_steps_per_answer,
            "{query}: {} steps",
            budget.steps_taken()
        );
        assert!(budget.rows_taken() <= limits.rows_per_answer, "{query}: {} rows", budget.rows_taken());
    }
}

#[test]
fn nothing_is_read_for_a_disconnected_client() {
    let mut fixture = Fixture::new(1);
    let (root, cancellation) = (fixture.roots[0].clone(), Cancellation::default());
    let budget = Arc::new(Budget::of_query(&Limits::default(), cancellation.clone()));
    fixture.memory.budget = Arc::clone(&budget);
    drop(CancelOnDrop(cancellation));
    // The world of these tests also reads the records of the organization.
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let error = fixture
        .memory
        .query("list_activities", &root.stamps(&body), &body, NOW)
        .expect_err("the client is disconnected");
    assert_eq!((error.code, budget.rows_taken()), (Code::Unavailable, 0));
}

#[test]
fn policy_expressions_are_limited_in_total() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let organization = fixture.id;
    let present = fixture.memory.stored(organization).policy_bytes();
    fixture.memory.limits.policy_bytes = present + 100;
    let policy = |name: &str, length: usize| json!({"policyName": name, "effect": "EFFECT_ALLOW", "notes": "", "condition": format!("{:length$}", "true")});
    let create = |fixture: &mut Fixture, name: &str, length: usize| {
        fixture.submit(&root, organization, "ACTIVITY_TYPE_CREATE_POLICY_V3", &policy(name, length), NOW)
    };
    let error = create(&mut fixture, "too long", 101).expect_err("the policy does not fit");
    assert_eq!(error.code, Code::ResourceExhausted);
    assert!(error.message.contains("`policy_bytes`"), "{}", error.message);
    let created = create(&mut fixture, "first", 100).expect("the policy fits");
    let id = created["activity"]["result"]["createPolicyResult"]["policyId"].clone();
    create(&mut fixture, "second", 4).expect_err("the limit is reached");
    // Existing expressions may be replaced even if an operator has lowered the limit since.
    fixture.memory.limits.policy_bytes = 1;
    let update = |fixture: &mut Fixture, length: usize| {
        let change = json!({"policyId": id, "policyConsensus": format!("{:length$}", "true"), "policyCondition": "true"});
        fixture.submit(&root, organization, "ACTIVITY_TYPE_UPDATE_POLICY_V2", &change, NOW)
    };
    update(&mut fixture, 97).expect_err("the policy grows");
    update(&mut fixture, 96).expect("the policy does not grow");
}

#[test]
fn snapshots_are_limited_in_bytes() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let organization = fixture.id;
    fixture.memory.limits.snapshot_bytes = fixture.memory.stored(organization).bytes() + 4096;
    let tag = |name: &str| json!({"userTagName": name, "userIds": []});
    let mut create =
        |name: &str| fixture.submit(&root, organization, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag(name), NOW);
    let results: Vec<_> = (0..20).map(|number| create(&format!("tag {number}"))).collect();
    assert!(results[0].is_ok());
    let error = results[19].as_ref().expect_err("the limit is reached");
    assert_eq!(error.code, Code::ResourceExhausted);
    assert!(error.message.contains("`snapshot_bytes`"), "{}", error.message);
    // Deletions free memory.
    let id =
        results[0].as_ref().expect("the tag was created")["activity"]["result"]["createUserTagResult"]["userTagId"]
            .clone();
    fixture.execute("ACTIVITY_TYPE_DELETE_USER_TAGS", &json!({"userTagIds": [id]}));
}
