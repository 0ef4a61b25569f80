//! Payouts that some of a team decide together, while members come and go and the rule changes: votes count by the
//! tags, users and policies of now.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::{Value, json};

use crate::console::{digits, review, shows_fingerprint, type_like_a_person};
use crate::rulings::{NOTHING_ALLOWS, approve, are, denied, evaluated, no_voter, play, said, text, waiting};
use crate::screen::Screen;

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";
const WAITS: &str = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const NEEDS_VOTES: &str = "OUTCOME_REQUIRES_CONSENSUS";

/// What a story tells of its team first.
struct Team<'a> {
    daemon: &'a Daemon,
    told: &'a Value,
}

impl Team<'_> {
    /// A person at the command line.
    fn operator(&self, name: &str) -> Operator {
        Operator::of(self.daemon, &self.daemon.credentials().organization_id, &self.told["people"][name])
    }

    fn id(&self, name: &str) -> &Value {
        &self.told["people"][name]["userId"]
    }

    fn policy(&self) -> &Value {
        &self.told["policyId"]
    }

    fn ids(&self, names: &[&str]) -> Value {
        names.iter().map(|name| self.id(name).clone()).collect()
    }

    /// Asserts that a signature over the text was made by the team's account.
    fn paid(&self, text_signed: &str, recalled: &Value) {
        assert_eq!(recalled["status"], COMPLETED, "{recalled:#}");
        let address = text(&self.told["address"]);
        assert!(proof::signed(address, text_signed.as_bytes(), &recalled["signature"]), "{recalled:#}");
    }
}

#[tokio::test]
async fn two_of_a_team() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (alice, bob) = (json!(daemon.root_id(0)), json!(daemon.root_id(1)));
    let mut story = play(&daemon, "payout");
    let told = story.hears();
    let team = Team { daemon: &daemon, told: &told };
    let (carol, erin, mallory) = (team.operator("carol"), team.operator("erin"), team.operator("mallory"));
    let mut screen = Screen::open(team.operator("dave"));
    screen.shows("Nothing waits").await;

    let asked = story.goes_on();
    let pending = &asked["pending"];
    assert_eq!((&pending["status"], &pending["voters"]), (&json!(WAITS), &team.ids(&["carol"])));
    denied(&asked["asked"], NOTHING_ALLOWS, &[(team.policy(), "OUTCOME_DENY_IMPLICIT")]);
    no_voter(&asked["approved"]);
    no_voter(&asked["rejected"]);
    let why = waiting(&mallory, &pending["id"]).await;
    assert_eq!((&why["rule"], &why["reason"]), (&json!("POLICY"), &json!("POLICY_CONSENSUS")), "{why:#}");
    assert_eq!(said(&why["policyEvaluations"]), [(text(team.policy()), NEEDS_VOTES)].into());
    assert!(are(&why["counted"], &[team.id("carol")]), "{why:#}");
    assert!(are(&why["openTo"], &[team.id("dave"), team.id("erin"), &alice, &bob]), "{why:#}");
    for (operator, mine) in [(&carol, false), (&erin, true), (&mallory, false)] {
        let inbox = operator.run(&["approvals", "ls"]).await.with(0).lines();
        assert_eq!(inbox.len(), 1, "only what is allowed to wait does: {inbox:#?}");
        assert_eq!((&inbox[0]["activityId"], &inbox[0]["mine"]), (&pending["id"], &json!(mine)));
    }
    approved_on_screen(&mut screen, pending).await;

    let next = story.goes_on();
    let (paid, waits) = (&next["paid"], &next["waits"]);
    team.paid("pay the supplier", paid);
    assert_eq!(paid["voters"], team.ids(&["carol", "dave"]));
    evaluated(paid, &[&[(team.policy(), NEEDS_VOTES)], &[(team.policy(), "OUTCOME_ALLOW")]]);

    // Alice asked as one of the team, and is not of it any more; nor is Erin.
    assert_eq!(next["removed"]["status"], COMPLETED, "{next:#}");
    assert_eq!((&waits["status"], &waits["voters"]), (&json!(WAITS), &json!([alice])));
    no_voter(&next["former"]);
    denied(&next["formerAsks"], NOTHING_ALLOWS, &[(team.policy(), "OUTCOME_DENY_IMPLICIT")]);
    assert_eq!(next["one"]["status"], WAITS, "Alice does not count any more: {next:#}");
    // The root quorum that Carol knows is another one than at her first contact. Its members voted for that.
    let review = carol.run(&["review", text(&waits["id"])]).await.with(7).json();
    assert!(review.to_string().contains("quorum-not-known"), "{review:#}");
    let accepted = carol.run(&["roster", "accept"]).await.with(0).json();
    assert_eq!((&accepted["quorumAccepted"], &accepted["proven"]), (&json!(true), &json!(true)));
    let why = waiting(&carol, &waits["id"]).await;
    assert_eq!(why["reason"], "POLICY_CONSENSUS", "{why:#}");
    assert!(are(&why["openTo"], &[team.id("carol"), &bob]), "{why:#}");
    assert_eq!(approve(&carol, &waits["id"]).await.with(0).json()["status"], COMPLETED);

    let last = story.goes_on();
    team.paid("pay the landlord", &last["paid"]);
    assert_eq!(last["paid"]["voters"], json!([alice, team.id("dave"), team.id("carol")]));
    let needs: &[_] = &[(team.policy(), NEEDS_VOTES)];
    evaluated(&last["paid"], &[needs, needs, &[(team.policy(), "OUTCOME_ALLOW")]]);
    story.ends().await;
}

/// Reads what waits and approves it in the console.
async fn approved_on_screen(screen: &mut Screen, pending: &Value) {
    let digits = digits(pending);
    review(screen, "pay the supplier").await;
    screen.shows(" [s], or 1 [s] of the root quorum; has 1").await;
    screen.press("G");
    screen.until("the fingerprint", |text| shows_fingerprint(text, &digits)).await;
    screen.press("a");
    screen.shows("Enter works once the answer stands there").await;
    type_like_a_person(screen, &digits[60..]).await;
    type_like_a_person(screen, "\r").await;
    screen.shows("Vote recorded").await;
}

#[tokio::test]
async fn the_rule_changes_while_a_payout_waits() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (alice, bob) = (json!(daemon.root_id(0)), json!(daemon.root_id(1)));
    let mut story = play(&daemon, "revision");
    let told = story.hears();
    let team = Team { daemon: &daemon, told: &told };
    let (id, needs) = (&told["pending"]["id"], [(text(team.policy()), NEEDS_VOTES)].into());
    let (console, erin) = (Operator::root(&daemon, 1), team.operator("erin"));
    assert_eq!(told["pending"]["status"], WAITS, "{told:#}");
    let why = waiting(&console, id).await;
    assert_eq!((&why["rule"], &why["reason"]), (&json!("POLICY"), &json!("POLICY_CONSENSUS")), "{why:#}");
    assert_eq!(said(&why["policyEvaluations"]), needs);

    let stricter = story.goes_on();
    assert_eq!(stricter["two"]["status"], WAITS, "two would have been enough before: {stricter:#}");
    assert_eq!(stricter["two"]["voters"], team.ids(&["carol", "dave"]));
    let why = waiting(&console, id).await;
    assert_eq!((&why["rule"], &why["reason"]), (&json!("POLICY"), &json!("POLICY_CONSENSUS")), "{why:#}");
    assert_eq!(said(&why["policyEvaluations"]), needs);
    assert!(are(&why["counted"], &[team.id("carol"), team.id("dave")]), "{why:#}");
    assert!(are(&why["openTo"], &[team.id("erin"), &alice, &bob]), "{why:#}");

    let deleted = story.goes_on();
    no_voter(&deleted["late"]);
    let why = waiting(&console, id).await;
    let found = (&why["rule"], &why["reason"]);
    assert_eq!(found, (&json!("ROOT_QUORUM"), &json!("NO_POLICY_ALLOWS")), "{why:#}");
    assert_eq!(why["policyEvaluations"], json!([]));
    assert!(are(&why["openTo"], &[&alice, &bob]), "{why:#}");
    assert_eq!(approve(&erin, id).await.with(4).code, 4, "the console lets nobody else vote");
    assert_eq!(approve(&console, id).await.with(0).json()["status"], COMPLETED);

    let last = story.goes_on();
    team.paid("pay the supplier", &last["paid"]);
    assert_eq!(last["paid"]["voters"], json!([team.id("carol"), team.id("dave"), bob]));
    let needs: &[_] = &[(team.policy(), NEEDS_VOTES)];
    evaluated(&last["paid"], &[needs, needs, &[]]);
    story.ends().await;
}

#[tokio::test]
async fn a_voter_leaves_while_a_payout_waits() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let mut story = play(&daemon, "departure");
    let told = story.hears();
    let team = Team { daemon: &daemon, told: &told };
    let (id, frank) = (&told["pending"]["id"], team.operator("frank"));
    assert_eq!(told["two"]["status"], WAITS, "{told:#}");
    let why = waiting(&frank, id).await;
    assert!(are(&why["counted"], &[team.id("carol"), team.id("dave")]), "{why:#}");

    let gone = story.goes_on();
    assert_eq!((&gone["gone"]["status"], &gone["gone"]["code"]), (&json!(401), &json!(16)), "{gone:#}");
    assert_eq!(gone["erin"]["status"], WAITS, "the vote of a user who is gone does not count: {gone:#}");
    let needs: &[_] = &[(team.policy(), NEEDS_VOTES)];
    evaluated(&gone["between"], &[needs, needs, needs]);
    let why = waiting(&frank, id).await;
    assert_eq!(why["reason"], "POLICY_CONSENSUS", "{why:#}");
    assert!(are(&why["counted"], &[team.id("carol"), team.id("erin")]), "{why:#}");
    let seen = frank.run(&["review", text(id)]).await.with(0).json();
    let counts = |name: &str| {
        let cast = seen["votes"]["cast"].as_array().expect("votes");
        cast.iter().find(|vote| vote["userId"] == *team.id(name)).map(|vote| vote["counts"].clone())
    };
    assert_eq!(counts("carol"), Some(json!(true)), "{seen:#}");
    assert_eq!(counts("dave"), Some(json!(false)), "the console counts by itself: {seen:#}");
    assert_eq!(counts("erin"), Some(json!(true)), "{seen:#}");
    assert_eq!(approve(&frank, id).await.with(0).json()["status"], COMPLETED);

    let last = story.goes_on();
    team.paid("pay the supplier", &last["paid"]);
    assert_eq!(last["paid"]["voters"], team.ids(&["carol", "dave", "erin", "frank"]));
    evaluated(&last["paid"], &[needs, needs, needs, &[(team.policy(), "OUTCOME_ALLOW")]]);
    story.ends().await;
}
