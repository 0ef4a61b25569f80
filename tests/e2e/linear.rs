//! Linear mode: the console in plain lines, for screen readers and dumb terminals. It decides as the console does.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests;
use serde_json::{Value, json};

use crate::screen::{Screen, Setup};

const QUORUM: &str = "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";
const DUMB: &[(&str, &str)] = &[("TERM", "dumb")];

/// Starts a daemon of two users, with an activity of risk HIGH that waits.
async fn daemon() -> (Daemon, Value) {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let members = [daemon.root_id(0), daemon.root_id(1)];
    let quorum = json!({"threshold": 1, "userIds": members});
    let pending = daemon.root(0).waiting(QUORUM, &quorum).await;
    (daemon, pending)
}

fn linear(daemon: &Daemon) -> Screen {
    let setup = Setup { arguments: &["--linear"], environment: DUMB, ..Setup::default() };
    Screen::start(Operator::root(daemon, 1), setup)
}

fn printed(screen: &Screen) -> String {
    String::from_utf8(screen.output()).expect("UTF-8")
}

/// Waits until this was printed after the last input.
async fn prints(screen: &mut Screen, words: &str) {
    let end = |screen: &Screen| printed(screen).rsplit("quorate: ").take(2).collect::<String>();
    screen.wait_until(words, |screen| end(screen).contains(words)).await;
}

/// Asserts that only plain lines were printed.
fn assert_plain(screen: &Screen) {
    let text = printed(screen);
    let is_plain = |letter: char| match letter {
        '\n' | '\r' => true,
        '\u{2500}'..='\u{25ff}' | '\u{2800}'..='\u{28ff}' => false,
        letter => !letter.is_control(),
    };
    let odd: Vec<char> = text.chars().filter(|letter| !is_plain(*letter)).collect();
    assert!(odd.is_empty(), "{odd:?} in:\n{text}");
}

async fn review(screen: &mut Screen) {
    screen.wait_until("the greeting", |screen| printed(screen).contains("list lists what waits")).await;
    screen.press("list\n");
    prints(screen, "1. HIGH  Change root quorum: threshold 2 [s] -> 1").await;
    screen.press("review 1\n");
    prints(screen, "sha256 ").await;
    for part in ["Set the root quorum threshold to 1", "flag      [!] HIGH", "check     [v]", "proposer  "] {
        assert!(printed(screen).contains(part), "{part}:\n{}", printed(screen));
    }
}

async fn vote_count(daemon: &Daemon, activity: &Value) -> usize {
    daemon.root(0).activity(&activity["id"]).await["votes"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn an_activity_is_approved_with_the_challenge_of_the_console() {
    let (daemon, pending) = daemon().await;
    let mut screen = linear(&daemon);
    prints(&mut screen, "list lists what waits").await;
    screen.press("approve\n");
    prints(&mut screen, "review an activity first").await;
    review(&mut screen).await;
    // What is typed ahead does not count as the answer.
    screen.press("approve\n1\n");
    prints(&mut screen, "Type the NEW THRESHOLD").await;
    assert_eq!(vote_count(&daemon, &pending).await, 1);
    screen.press("2\n");
    prints(&mut screen, "wrong answer: nothing was sent").await;
    screen.press("approve\n");
    prints(&mut screen, "review an activity first").await;
    screen.press("review 1\n");
    prints(&mut screen, "sha256 ").await;
    screen.press("approve\n");
    prints(&mut screen, "Type the NEW THRESHOLD").await;
    screen.press("1\n");
    prints(&mut screen, "Vote recorded. It was executed.").await;
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED");
    assert_plain(&screen);
    screen.press("quit\n");
    screen.wait_until("the end", Screen::has_ended).await;
    screen.wait_until("a restored terminal", |screen| screen.is_restored()).await;
}

#[tokio::test]
async fn a_signed_vote_is_cancelled_by_any_key() {
    let (daemon, pending) = daemon().await;
    let mut screen = linear(&daemon);
    review(&mut screen).await;
    screen.press("approve\n");
    prints(&mut screen, "Type the NEW THRESHOLD").await;
    screen.press("1\n");
    prints(&mut screen, "Any key cancels").await;
    screen.press("\u{1b}");
    prints(&mut screen, "cancelled: nothing was sent").await;
    assert_eq!(vote_count(&daemon, &pending).await, 1);
}

#[tokio::test]
async fn an_activity_is_rejected_in_lines() {
    let (daemon, pending) = daemon().await;
    // A dumb terminal gets linear mode without the option.
    let setup = Setup { environment: DUMB, ..Setup::default() };
    let mut screen = Screen::start(Operator::root(&daemon, 1), setup);
    review(&mut screen).await;
    screen.press("reject\n");
    prints(&mut screen, "A single rejection is final. Type y").await;
    screen.press("y\n");
    prints(&mut screen, "Note for the journal").await;
    screen.press("not agreed\n");
    prints(&mut screen, "Vote recorded. It was rejected.").await;
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_REJECTED");
    assert_plain(&screen);
}

#[tokio::test]
async fn pasted_lines_decide_nothing() {
    let (daemon, pending) = daemon().await;
    let mut screen = linear(&daemon);
    review(&mut screen).await;
    screen.press(&"approve\n1\ny\nreject\ny\n\n".repeat(20));
    prints(&mut screen, "Type the NEW THRESHOLD").await;
    screen.press("\n");
    prints(&mut screen, "wrong answer").await;
    assert_eq!(vote_count(&daemon, &pending).await, 1);
}

#[tokio::test]
async fn ctrl_c_restores_the_terminal_while_keys_are_discarded() {
    let (daemon, _) = daemon().await;
    let mut screen = linear(&daemon);
    review(&mut screen).await;
    screen.press("approve\n");
    prints(&mut screen, "Keys are discarded").await;
    screen.press("\u{3}");
    screen.wait_until("the end", Screen::has_ended).await;
    screen.wait_until("a restored terminal", |screen| screen.is_restored()).await;
}

#[tokio::test]
async fn a_number_opens_the_activity_that_is_listed_with_it() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (root, client) = (daemon.root(0), Key::named("client"));
    for name in ["payouts", "archive"] {
        let users = [requests::root_user("first", &client), requests::root_user("bob", &daemon.root_key(1))];
        let child = requests::create_sub_organization(&root, name, &users, 2).await;
        requests::propose_tags(&root.with_key(&client).on(&child), 3).await;
    }
    let quorum = json!({ "threshold": 2, "userIds": [daemon.root_id(0), daemon.root_id(1)] });
    root.result(QUORUM, &quorum).await;
    requests::propose_tags(&root, 2).await;

    let mut screen = linear(&daemon);
    prints(&mut screen, "list lists what waits").await;
    screen.press("list\n");
    prints(&mut screen, "8. LOW").await;
    let text = printed(&screen);
    let is_listed =
        |line: &&str| line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    let listed: Vec<String> = text.lines().filter(is_listed).map(str::to_owned).collect();
    assert_eq!(listed.len(), 8, "one line and one number per activity:\n{text}");
    for (line, number) in listed.iter().zip(1..) {
        assert!(line.starts_with(&format!("{number}. LOW   Create user tag: ")), "{line}");
        let id = line.trim_end().rsplit(' ').next().expect("an id");
        screen.press(&format!("review {number}\n"));
        prints(&mut screen, &format!("Number {number}: activity {id}")).await;
        prints(&mut screen, "sha256 ").await;
    }
    screen.press("review 9\n");
    prints(&mut screen, "number 9 is not in the list, which ends with 8").await;
    screen.press("approve\n");
    prints(&mut screen, "review an activity first").await;
}
