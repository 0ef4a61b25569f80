//! Policies that people ask for from the console and from the command line, and that others approve.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::{Ended, Operator};
use serde_json::{Value, json};

use crate::console::type_like_a_person;
use crate::rulings::{approve, text};
use crate::screen::Screen;

/// What a person does to the blank draft in an editor.
const EDITOR: &str = "sed -i -e 's/^name = .*/name = \"payouts\"/' -e 's/ && wallet.id == [^\"]*//'";

/// The only policy that there is.
async fn policy(operator: &Operator) -> Value {
    let listed = operator.run(&["policy", "ls"]).await.with(0).lines();
    assert_eq!(listed.len(), 1, "{listed:#?}");
    listed[0]["policy"].clone()
}

/// The text to edit.
async fn drafted(operator: &Operator, command: &[&str]) -> String {
    text(&operator.run(command).await.with(0).json()["draft"]).to_owned()
}

/// Everything that a command said.
fn told(ended: &Ended) -> String {
    format!("{}{}", ended.output, ended.complaint)
}

/// What waits for a second person, approved by that person.
async fn agreed(proposed: Ended, bob: &Operator) {
    let proposed = proposed.with(5).json();
    assert_eq!((&proposed["choice"], &proposed["outcome"]), (&json!("propose"), &json!("waiting")));
    let approved = approve(bob, &proposed["activityId"]).await.with(0).json();
    assert_eq!(approved["outcome"], "executed", "{approved:#}");
}

#[tokio::test]
async fn a_policy_is_written_in_the_editor_and_asked_for() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let bob = Operator::root(&daemon, 1);
    let mut screen = Screen::with_editor(Operator::root(&daemon, 0), EDITOR);
    screen.shows("Nothing waits").await;
    screen.press("4");
    screen.shows("none: the root quorum decides").await;
    screen.press("n");
    screen.shows("Add the rule \"payouts\": ALLOW").await;
    screen.shows("NEEDS APPROVAL: no policy allows it; so far 1 of 2 of the root quorum").await;
    screen.press("G");
    let shown = screen.until("the fingerprint", |text| digits(text).is_some()).await;
    screen.press("a");
    screen.shows("Enter works once the answer stands there").await;
    let digits = digits(&shown).expect("was there");
    type_like_a_person(&mut screen, &digits[60..]).await;
    type_like_a_person(&mut screen, "\r").await;
    screen.shows("Proposal recorded, with my signature in the record").await;
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

/// The fingerprint as a review shows it.
fn digits(shown: &str) -> Option<String> {
    let after = shown.split("sha256  ").nth(1)?;
    let digits: String = after.chars().filter(|letter| !letter.is_whitespace()).take(64).collect();
    (digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(digits)
}

#[tokio::test]
async fn policies_are_made_changed_and_removed_by_commands() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let (alice, bob) = (Operator::root(&daemon, 0), Operator::root(&daemon, 1));
    let file = alice.home().join("payouts.toml");
    let path = file.to_str().expect("plain");
    let write = |text: &str| std::fs::write(&file, text).expect("written");

    let blank = drafted(&alice, &["policy", "draft"]).await;
    write(&blank);
    let flaw = alice.run(&["policy", "new", path]).await.with(2);
    assert!(told(&flaw).contains("name is empty"), "{flaw:?}");
    write(&blank.replace("name = \"\"", "name = \"payouts\"").replace(" && wallet.id == ''", ""));
    let thought = alice.run(&["policy", "new", path, "--dry-run"]).await.with(0).json();
    assert!(text(&thought["outlook"]).starts_with("NEEDS APPROVAL: "), "{thought:#}");
    assert_eq!((&thought["activityId"], &thought["blocked"]), (&Value::Null, &json!(false)));
    assert!(alice.run(&["activity", "ls"]).await.with(0).lines().is_empty(), "nothing was sent");
    agreed(alice.run(&["policy", "new", path]).await, &bob).await;

    let draft = drafted(&alice, &["policy", "draft", "payouts"]).await;
    write(&draft);
    let same = alice.run(&["policy", "change", "payouts", path]).await.with(2);
    assert!(told(&same).contains("nothing differs"), "{same:?}");
    write(&draft.replace(">= 2", "> 1").replace("notes = \"\"", "notes = \"of November\""));
    agreed(alice.run(&["policy", "change", "payouts", path]).await, &bob).await;
    let changed = policy(&bob).await;
    assert_eq!(changed["consensus"], "approvers.count() > 1");
    assert_eq!(changed["notes"], "of November");
    assert_eq!(changed["condition"], "activity.action == 'SIGN'");

    agreed(alice.run(&["policy", "remove", "payouts"]).await, &bob).await;
    assert!(bob.run(&["policy", "ls"]).await.with(0).lines().is_empty());
    // What is dangerous is named, or it is not sent.
    write("name = 'all'\neffect = 'ALLOW'");
    let unnamed = alice.run(&["policy", "new", path]).await.with(7);
    assert!(told(&unnamed).contains("--allow-flag allow-without-condition"), "{unnamed:?}");
    assert!(bob.run(&["approvals", "ls"]).await.with(0).lines().is_empty());
}
