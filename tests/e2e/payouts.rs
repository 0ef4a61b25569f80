//! Payouts that members of a team approve together, while members join and leave and the policy changes.
//! Votes count by the current tags, users and policies.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use serde_json::{Value, json};

use crate::console::{digits, review, shows_fingerprint, type_like_a_person};
use crate::policy_outcomes::{
    NOTHING_ALLOWS, approve, denied, evaluated, no_voter, outcomes_by_policy, same_users, start_dialogue,
    text, waiting,
};
use crate::screen::Screen;

const COMPLETED: &str = "ACTIVITY_STATUS_COMPLETED";
const WAITING: &str = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const NEEDS_VOTES: &str = "OUTCOME_REQUIRES_CONSENSUS";

/// The team as the client reports it first.
struct Team<'a> {
    daemon: &'a Daemon,
    setup: &'a Value,
}

impl Team<'_> {
    /// Returns a member of the team at the command line.
    fn operator(&self, name: &str) -> Operator {
        Operator::of(self.daemon, &self.daemon.credentials().organization_id, &self.setup["people"][name])
    }

    fn id(&self, name: &str) -> &Value {
        &self.setup["people"][name]["userId"]
    }

    fn policy(&self) -> &Value {
        &self.setup["policyId"]
    }

    fn ids(&self, names: &[&str]) -> Value {
        names.iter().map(|name| self.id(name).clone()).collect()
    }

    /// Asserts that the team's account signed the text.
    fn assert_paid(&self, text_signed: &str, recalled: &Value) {
        assert_eq!(recalled["status"], COMPLETED, "{recalled:#}");
        let address = text(&self.setup["address"]);
        assert!(proof::is_signed(address, text_signed.as_bytes(), &recalled["signature"]), "{recalled:#}");
    }
}

#[tokio::test]
async fn two_of_a_team_approve_a_payout() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (alice, bob) = (json!(daemon.root_id(0)), json!(daemon.root_id(1)));
    let mut dialogue = start_dialogue(&daemon, "payout");
    let setup = dialogue.observed();
    let team = Team { daemon: &daemon, setup: &setup };
    let (carol, erin, mallory) = (team.operator("carol"), team.operator("erin"), team.operator("mallory"));
    let mut screen = Screen::open(team.operator("dave"));
    screen.shows("Nothing waits").await;

    let proposed = dialogue.proceed();
    let pending = &proposed["pending"];
    assert_eq!((&pending["status"], &pending["voters"]), (&json!(WAITING), &team.ids(&["carol"])));
    denied(&proposed["denied"], NOTHING_ALLOWS, &[(team.policy(), "OUTCOME_DENY_IMPLICIT")]);
    no_voter(&proposed["approved"]);
    no_voter(&proposed["rejected"]);
    let why = waiting(&mallory, &pending["id"]).await;
    assert_eq!((&why["rule"], &why["reason"]), (&json!("POLICY"), &json!("POLICY_CONSENSUS")), "{why:#}");
    assert_eq!(outcomes_by_policy(&why["policyEvaluations"]), [(text(team.policy()), NEEDS_VOTES)].into());
    assert!(same_users(&why["counted"], &[team.id("carol")]), "{why:#}");
    assert!(same_users(&why["openTo"], &[team.id("dave"), team.id("erin"), &alice, &bob]), "{why:#}");
    for (operator, mine) in [(&carol, false), (&erin, true), (&mallory, false)] {
        let inbox = operator.run(&["approvals", "ls"]).await.with(0).lines();
        assert_eq!(inbox.len(), 1, "only permitted requests wait: {inbox:#?}");
        assert_eq!((&inbox[0]["activityId"], &inbox[0]["mine"]), (&pending["id"], &json!(mine)));
    }
    approve_on_screen(&mut screen, pending).await;

    let next = dialogue.proceed();
    let (assert_paid, waits) = (&next["paid"], &next["waits"]);
    team.assert_paid("pay the supplier", assert_paid);
    assert_eq!(assert_paid["voters"], team.ids(&["carol", "dave"]));
    evaluated(assert_paid, &[&[(team.policy(), NEEDS_VOTES)], &[(team.policy(), "OUTCOME_ALLOW")]]);

    // Alice proposed as a member of the team, and is not a member any more. Neither is Erin.
    assert_eq!(next["removed"]["status"], COMPLETED, "{next:#}");
    assert_eq!((&waits["status"], &waits["voters"]), (&json!(WAITING), &json!([alice])));
    no_voter(&next["former"]);
    denied(&next["formerAsks"], NOTHING_ALLOWS, &[(team.policy(), "OUTCOME_DENY_IMPLICIT")]);
    assert_eq!(next["one"]["status"], WAITING, "Alice does not count any more: {next:#}");
    // The root quorum differs from the one that Carol knows. Its former members approved the change.
    let review = carol.run(&["review", text(&waits["id"])]).await.with(7).json();
    assert!(review.to_string().contains("quorum-not-known"), "{review:#}");
    let accepted = carol.run(&["known-keys", "accept"]).await.with(0).json();
    assert_eq!((&accepted["quorumAccepted"], &accepted["proven"]), (&json!(true), &json!(true)));
    let why = waiting(&carol, &waits["id"]).await;
    assert_eq!(why["reason"], "POLICY_CONSENSUS", "{why:#}");
    assert!(same_users(&why["openTo"], &[team.id("carol"), &bob]), "{why:#}");
    assert_eq!(approve(&carol, &waits["id"]).await.with(0).json()["status"], COMPLETED);

    let last = dialogue.proceed();
    team.assert_paid("pay the landlord", &last["paid"]);
    assert_eq!(last["paid"]["voters"], json!([alice, team.id("dave"), team.id("carol")]));
    let needs: &[_] = &[(team.policy(), NEEDS_VOTES)];
    evaluated(&last["paid"], &[needs, needs, &[(team.policy(), "OUTCOME_ALLOW")]]);
    dialogue.finish().await;
}

/// Reviews a waiting request and approves it in the console.
async fn approve_on_screen(screen: &mut Screen, pending: &Value) {
    let digits = digits(pending);
    review(screen, "pay the supplier").await;
    screen.shows(" [s], or 1 [s] of the root quorum; 1 approval so far").await;
    screen.press("G");
    screen.until("the fingerprint", |text| shows_fingerprint(text, &digits)).await;
    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    type_like_a_person(screen, &digits[60..]).await;
    type_like_a_person(screen, "\r").await;
    screen.shows("Vote recorded").await;
}

#[tokio::test]
async fn policy_changes_apply_to_waiting_payouts() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (alice, bob) = (json!(daemon.root_id(0)), json!(daemon.root_id(1)));
    let mut dialogue = start_dialogue(&daemon, "revision");
    let setup = dialogue.observed();
    let team = Team { daemon: &daemon, setup: &setup };
    let (id, needs) = (&setup["pending"]["id"], [(text(team.policy()), NEEDS_VOTES)].into());
    let (console, erin) = (Operator::root(&daemon, 1), team.operator("erin"));
    assert_eq!(setup["pending"]["status"], WAITING, "{setup:#}");
    let why = waiting(&console, id).await;
    assert_eq!((&why["rule"], &why["reason"]), (&json!("POLICY"), &json!("POLICY_CONSENSUS")), "{why:#}");
    assert_eq!(outcomes_by_policy(&why["policyEvaluations"]), needs);

    let stricter = dialogue.proceed();
    assert_eq!(stricter["two"]["status"], WAITING, "two would have been enough before: {stricter:#}");
    assert_eq!(stricter["two"]["voters"], team.ids(&["carol", "dave"]));
    let why = waiting(&console, id).await;
    assert_eq!((&why["rule"], &why["reason"]), (&json!("POLICY"), &json!("POLICY_CONSENSUS")), "{why:#}");
    assert_eq!(outcomes_by_policy(&why["policyEvaluations"]), needs);
    assert!(same_users(&why["counted"], &[team.id("carol"), team.id("dave")]), "{why:#}");
    assert!(same_users(&why["openTo"], &[team.id("erin"), &alice, &bob]), "{why:#}");

    let deleted = dialogue.proceed();
    no_voter(&deleted["late"]);
    let why = waiting(&console, id).await;
    let basis = (&why["rule"], &why["reason"]);
    assert_eq!(basis, (&json!("ROOT_QUORUM"), &json!("NO_POLICY_ALLOWS")), "{why:#}");
    assert_eq!(why["policyEvaluations"], json!([]));
    assert!(same_users(&why["openTo"], &[&alice, &bob]), "{why:#}");
    assert_eq!(approve(&erin, id).await.with(4).code, 4, "the console lets nobody else vote");
    assert_eq!(approve(&console, id).await.with(0).json()["status"], COMPLETED);

    let last = dialogue.proceed();
    team.assert_paid("pay the supplier", &last["paid"]);
    assert_eq!(last["paid"]["voters"], json!([team.id("carol"), team.id("dave"), bob]));
    let needs: &[_] = &[(team.policy(), NEEDS_VOTES)];
    evaluated(&last["paid"], &[needs, needs, &[]]);
    dialogue.finish().await;
}

#[tokio::test]
async fn votes_of_deleted_users_do_not_count() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let mut dialogue = start_dialogue(&daemon, "departure");
    let setup = dialogue.observed();
    let team = Team { daemon: &daemon, setup: &setup };
    let (id, frank) = (&setup["pending"]["id"], team.operator("frank"));
    assert_eq!(setup["two"]["status"], WAITING, "{setup:#}");
    let why = waiting(&frank, id).await;
    assert!(same_users(&why["counted"], &[team.id("carol"), team.id("dave")]), "{why:#}");

    let after_deletion = dialogue.proceed();
    assert_eq!(
        (&after_deletion["gone"]["status"], &after_deletion["gone"]["code"]),
        (&json!(401), &json!(16)),
        "{after_deletion:#}"
    );
    assert_eq!(
        after_deletion["erin"]["status"], WAITING,
        "the vote of a deleted user does not count: {after_deletion:#}"
    );
    let needs: &[_] = &[(team.policy(), NEEDS_VOTES)];
    evaluated(&after_deletion["between"], &[needs, needs, needs]);
    let why = waiting(&frank, id).await;
    assert_eq!(why["reason"], "POLICY_CONSENSUS", "{why:#}");
    assert!(same_users(&why["counted"], &[team.id("carol"), team.id("erin")]), "{why:#}");
    let seen = frank.run(&["review", text(id)]).await.with(0).json();
    let counts = |name: &str| {
        let cast = seen["votes"]["cast"].as_array().expect("votes");
        cast.iter().find(|vote| vote["userId"] == *team.id(name)).map(|vote| vote["counts"].clone())
    };
    assert_eq!(counts("carol"), Some(json!(true)), "{seen:#}");
    assert_eq!(counts("dave"), Some(json!(false)), "the console counts votes independently: {seen:#}");
    assert_eq!(counts("erin"), Some(json!(true)), "{seen:#}");
    assert_eq!(approve(&frank, id).await.with(0).json()["status"], COMPLETED);

    let last = dialogue.proceed();
    team.assert_paid("pay the supplier", &last["paid"]);
    assert_eq!(last["paid"]["voters"], team.ids(&["carol", "dave", "erin", "frank"]));
    evaluated(&last["paid"], &[needs, needs, needs, &[(team.policy(), "OUTCOME_ALLOW")]]);
    dialogue.finish().await;
}
