//! The inbox of the real console in pseudo-terminals: it is complete and ordered, approvals require that all
//! flags were shown, and no key press is lost.

use std::collections::BTreeSet;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};

use crate::policy_outcomes::text;
use crate::screen::Screen;

/// Number of waiting activities, the oldest of which is HIGH.
const WAITING: usize = 612;
const SIZES: [(u16, u16); 3] = [(120, 36), (80, 24), (40, 12)];
/// End of the address of the recipient of [`payment`].
const PAYEE_END: &str = "3535";

/// Proposes another threshold for a quorum of three.
async fn lowering(daemon: &Daemon, threshold: u32) -> Value {
    let members: Vec<&str> = (0..3).map(|index| daemon.root_id(index)).collect();
    let lowered = json!({ "threshold": threshold, "userIds": members });
    daemon.root(0).waiting(UPDATE_ROOT_QUORUM, &lowered).await
}

/// Proposes a payment of 1 ETH to an unknown address.
async fn payment(daemon: &Daemon) -> Value {
    let account = json!({ "curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32",
        "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM" });
    let wallet = json!({ "walletName": "payer", "accounts": [account] });
    let wallet = daemon.root(0).waiting(CREATE_WALLET, &wallet).await;
    let wallet = daemon.root(1).approved(&wallet["fingerprint"]).await;
    // The example of EIP-155.
    let unsigned =
        "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";
    let parameters = json!({ "signWith": wallet["result"]["createWalletResult"]["addresses"][0],
        "unsignedTransaction": unsigned, "type": "TRANSACTION_TYPE_ETHEREUM" });
    daemon.root(0).waiting("ACTIVITY_TYPE_SIGN_TRANSACTION_V2", &parameters).await
}

/// Returns the selected row.
fn selected_row(screen: &str) -> &str {
    screen.lines().find(|line| line.contains("\u{2502} > ")).unwrap_or_default()
}

/// Returns the line that shows how much of a review is below the screen.
fn lines_below(screen: &str) -> Option<&str> {
    screen.lines().find(|line| line.contains("below"))
}

#[tokio::test]
async fn high_risk_requests_come_first_among_612() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let oldest = lowering(&daemon, 1).await;
    requests::propose_tags(&daemon.root(0), WAITING - 1).await;
    let (bob, carol) = (Operator::root(&daemon, 1), Operator::root(&daemon, 2));

    let listed = bob.run(&["approvals", "ls"]).await.with(0).lines();
    assert_eq!(listed.len(), WAITING);
    assert_eq!((&listed[0]["activityId"], text(&listed[0]["risk"])), (&oldest["id"], "HIGH"));

    let mut bob = Screen::open(bob);
    let mut carol = Screen::sized(carol, (80, 24));
    for screen in [&mut bob, &mut carol] {
        let whole = screen.shows(&format!("Waiting for you: {WAITING} ")).await;
        assert!(whole.contains(&format!("[1 Approvals {WAITING}]")), "{whole}");
        assert!(selected_row(&whole).contains("HIGH  Change root quorum"), "{whole}");
    }
    // Known requests are not marked as new when others in front of them disappear.
    let rejected = daemon.root(1).reject(&listed[WAITING - 1]["fingerprint"]).await;
    rejected.activity();
    for screen in [&mut bob, &mut carol] {
        let shown = screen.shows(&format!("Waiting for you: {} ", WAITING - 1)).await;
        assert!(!shown.contains("new"), "{shown}");
    }
    // A new one comes first and is announced.
    let newest = lowering(&daemon, 3).await;
    for screen in [&mut bob, &mut carol] {
        let shown = screen.shows("1 new HIGH").await;
        assert!(shown.contains(&format!("Waiting for you: {WAITING} ")), "{shown}");
        let first = shown.lines().find(|line| line.contains("HIGH  Change")).unwrap_or_default();
        assert!(first.contains("-> 3"), "{shown}");
        assert!(selected_row(&shown).contains("HIGH"), "{shown}");
    }
    // A request that one user rejects disappears for the other one.
    bob.press("g\r");
    bob.shows("1 What happens").await;
    bob.press("x");
    bob.shows("Enter works on a button only").await;
    bob.press("y\t\t\r");
    bob.shows("Vote recorded").await;
    carol.until("one less", |shown| !shown.contains("1 new HIGH")).await;
    let stored = daemon.root(0).activity(&newest["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_REJECTED");
}

#[tokio::test]
async fn approval_requires_that_all_flags_were_shown() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let pending = payment(&daemon).await;
    let review = Operator::root(&daemon, 1).run(&["review", text(&pending["id"])]).await.with(0).json();
    assert_eq!(review["risk"], "MED", "{review:#}");
    let flags: BTreeSet<String> = review["flags"]
        .as_array()
        .expect("flags")
        .iter()
        .map(|flag| format!("({})", text(&flag["name"])))
        .collect();
    assert!(flags.len() >= 2, "{review:#}");
    for size in SIZES {
        let mut screen = Screen::sized(Operator::root(&daemon, 1), size);
        screen.shows("Sign transaction").await;
        screen.press("\r");
        // Earlier transfers add rows once they are loaded.
        let is_whole = |shown: &str| {
            let is_loaded = shown.contains("1 What happens") && !shown.contains("earlier transfers");
            is_loaded && lines_below(shown).is_some()
        };
        screen.until("the whole review", is_whole).await;
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        loop {
            let shown = screen.text();
            // A name may wrap at the end of a row.
            let joined: String = shown.split_whitespace().collect();
            seen.extend(flags.iter().filter(|flag| joined.contains(flag.as_str())));
            screen.press("a");
            let can_start = |now: &str| now.contains("to approve, type");
            let is_answer =
                |now: &str| now.contains("APPROVE") || now.contains("cannot approve") || can_start(now);
            let after = screen.until("an answer", is_answer).await;
            if after.contains("APPROVE") {
                break;
            }
            if can_start(&after) {
                // The key may have arrived before a flag that just appeared, or is still in flight.
                continue;
            }
            assert!(
                after.contains("flag") && after.contains("PgDn"),
                "{size:?}: the message states the reason and the key:\n{after}"
            );
            screen.press("\u{1b}[6~");
            // Messages appear and disappear, too.
            screen.until("another page", |now| lines_below(now) != lines_below(&shown)).await;
        }
        assert_eq!(seen.len(), flags.len(), "{size:?}: only {seen:?} of {flags:?} were on screen");
        screen.press("\u{1b}");
        screen.shows("nothing was sent").await;
    }
}

#[tokio::test]
async fn no_key_of_a_burst_is_lost() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let pending = payment(&daemon).await;
    let mut screen = Screen::open(Operator::root(&daemon, 1));
    screen.shows("Sign transaction").await;
    screen.press("\r");
    // The earlier transfers to the recipient are loaded after the rest.
    screen.shows("never signed").await;
    screen.press("x");
    screen.shows("Enter works on a button only").await;
    screen.press("\tnot me, book of 1100");
    screen.shows("[ not me, book of 1100_ ]").await;
    screen.press("\u{1b}");
    screen.shows("nothing was sent").await;
    screen.press("G");
    screen.shows("sha256").await;
    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    // The end of the recipient's address. Pasted text is not accepted as an answer.
    screen.press(&format!("\u{1b}[200~{PAYEE_END}\r\u{1b}[201~"));
    screen.shows("pasted text was discarded").await;
    assert!(screen.text().contains("[ _ ]"), "{}", screen.text());
    screen.press(&format!("{PAYEE_END}\r"));
    screen.shows("Vote recorded").await;
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED");
}
