//! Policies that users propose in the console and on the command line, and that others approve.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::{Ended, Operator};
use serde_json::{Value, json};

use crate::console::type_like_a_person;
use crate::policy_outcomes::{approve, text};
use crate::screen::Screen;

/// Editor command that fills in the blank draft.
const EDITOR: &str = "sed -i -e 's/^name = .*/name = \"payouts\"/' -e 's/ && wallet.id == [^\"]*//'";

/// Returns the only policy.
async fn policy(operator: &Operator) -> Value {
    let listed = operator.run(&["policy", "ls"]).await.with(0).lines();
    assert_eq!(listed.len(), 1, "{listed:#?}");
    listed[0]["policy"].clone()
}

/// Returns the text to edit.
async fn draft_text(operator: &Operator, command: &[&str]) -> String {
    text(&operator.run(command).await.with(0).json()["draft"]).to_owned()
}

/// Returns standard output and standard error of a command.
fn output_of(ended: &Ended) -> String {
    format!("{}{}", ended.output, ended.stderr)
}

/// Asserts that a proposal waits for a second user, and approves it as that user.
async fn approve_proposal(proposed: Ended, bob: &Operator) {
    let proposed = proposed.with(5).json();
    assert_eq!((&proposed["choice"], &proposed["outcome"]), (&json!("propose"), &json!("waiting")));
    let approved = approve(bob, &proposed["activityId"]).await.with(0).json();
    assert_eq!(approved["outcome"], "executed", "{approved:#}");
}

#[tokio::test]
async fn a_policy_is_written_in_the_editor_and_proposed() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let bob = Operator::root(&daemon, 1);
    let mut screen = Screen::with_editor(Operator::root(&daemon, 0), EDITOR);
    screen.shows("Nothing waits").await;
    screen.press("4");
    screen.shows("none: the root quorum decides").await;
    screen.press("n");
    screen.shows("Add the policy \"payouts\": ALLOW").await;
    screen.shows("NEEDS APPROVAL: no policy allows it; 1 of 2 root approvals so far").await;
    screen.press("G");
    let shown = screen.until("the fingerprint", |text| digits(text).is_some()).await;
    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    let digits = digits(&shown).expect("the screen shows it");
    type_like_a_person(&mut screen, &digits[60..]).await;
    type_like_a_person(&mut screen, "\r").await;
    screen.shows("Proposal recorded; the record contains your signature").await;
    screen.press("\r");
    screen.shows("none: the root quorum decides").await;
    let waiting = bob.run(&["approvals", "ls"]).await.with(0).lines();
    assert_eq!(waiting[0]["fingerprint"], json!(format!("sha256:{digits}")));
    let approved = approve(&bob, &waiting[0]["activityId"]).await.with(0).json();
    assert_eq!(approved["outcome"], "executed", "{approved:#}");
    screen.shows("Allow an activity where the action is 'SIGN', once at least 2 users").await;
    screen.shows("by mira, jo (activity").await;
    let policy = policy(&bob).await;
    assert_eq!(policy["condition"], "activity.action == 'SIGN'");
}

/// Returns the fingerprint that a review shows.
fn digits(shown: &str) -> Option<String> {
    let after = shown.split("sha256  ").nth(1)?;
    let digits: String = after.chars().filter(|letter| !letter.is_whitespace()).take(64).collect();
    (digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(digits)
}

#[tokio::test]
async fn commands_create_change_and_remove_policies() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let (alice, bob) = (Operator::root(&daemon, 0), Operator::root(&daemon, 1));
    let file = alice.home().join("payouts.toml");
    let path = file.to_str().expect("plain");
    let write = |text: &str| std::fs::write(&file, text).expect("written");

    let blank = draft_text(&alice, &["policy", "draft"]).await;
    write(&blank);
    let error = alice.run(&["policy", "new", path]).await.with(2);
    assert!(output_of(&error).contains("name must not be empty"), "{error:?}");
    write(&blank.replace("name = \"\"", "name = \"payouts\"").replace(" && wallet.id == ''", ""));
    let dry_run = alice.run(&["policy", "new", path, "--dry-run"]).await.with(0).json();
    assert!(text(&dry_run["outlook"]).starts_with("NEEDS APPROVAL: "), "{dry_run:#}");
    assert_eq!((&dry_run["activityId"], &dry_run["blocked"]), (&Value::Null, &json!(false)));
    assert!(alice.run(&["activity", "ls"]).await.with(0).lines().is_empty(), "nothing was sent");
    approve_proposal(alice.run(&["policy", "new", path]).await, &bob).await;

    let draft = draft_text(&alice, &["policy", "draft", "payouts"]).await;
    write(&draft);
    let unchanged = alice.run(&["policy", "change", "payouts", path]).await.with(2);
    assert!(output_of(&unchanged).contains("the draft does not change the policy"), "{unchanged:?}");
    write(&draft.replace(">= 2", "> 1").replace("notes = \"\"", "notes = \"of November\""));
    approve_proposal(alice.run(&["policy", "change", "payouts", path]).await, &bob).await;
    let changed = policy(&bob).await;
    assert_eq!(changed["consensus"], "approvers.count() > 1");
    assert_eq!(changed["notes"], "of November");
    assert_eq!(changed["condition"], "activity.action == 'SIGN'");

    approve_proposal(alice.run(&["policy", "remove", "payouts"]).await, &bob).await;
    assert!(bob.run(&["policy", "ls"]).await.with(0).lines().is_empty());
    // A dangerous policy must be accepted by name, or it is not sent.
    write("name = 'all'\neffect = 'ALLOW'");
    let unnamed = alice.run(&["policy", "new", path]).await.with(7);
    assert!(output_of(&unnamed).contains("--allow-flag allow-without-condition"), "{unnamed:?}");
    assert!(bob.run(&["approvals", "ls"]).await.with(0).lines().is_empty());
}
