//! The palette and copies in the real console: what is found opens its view, what is copied reaches the terminal.

use base64ct::{Base64, Encoding};
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET};

use crate::screen::Screen;

#[tokio::test]
async fn a_user_is_found_and_the_id_reaches_the_clipboard() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let mut screen = Screen::open(Operator::root(&daemon, 0));
    // The palette lists what is loaded when it opens.
    screen.shows("Nothing waits").await;
    let name = daemon.credentials().root_users[1].user_name.clone();
    screen.press(":");
    screen.shows("Enter opens").await;
    screen.press(&name);
    screen.shows(&format!("user          {name}")).await;
    screen.press("\r");
    screen.shows(daemon.root_id(1)).await;
    screen.press("y");
    screen.shows("press a key to copy").await;
    screen.press("1");
    screen.shows("was sent to your terminal").await;
    let id = Base64::encode_string(daemon.root_id(1).as_bytes());
    screen.until("the id in the clipboard", |_| true).await;
    assert_eq!(screen.clipboard(), id);
}

#[tokio::test]
async fn an_address_is_looked_up_and_an_activity_opens_its_review() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let address = requests::create_wallet(&root, "treasury").await;
    let activity = root.completed(CREATE_WALLET, &requests::wallet("later")).await;
    let fingerprint = activity["fingerprint"].as_str().expect("a fingerprint").to_owned();
    let mut screen = Screen::open(Operator::root(&daemon, 0));
    screen.shows("live").await;
    screen.press(":");
    screen.shows("Enter opens").await;
    screen.press(&address);
    screen.shows("looked up at the daemon").await;
    screen.press("\r");
    screen.shows(" of this wallet: ").await;
    screen.press(":");
    screen.shows("Enter opens").await;
    screen.press(&fingerprint);
    screen.shows("> activity      sha256:").await;
    screen.press("\r");
    screen.shows("Create wallet").await;
    screen.press("I");
    screen.shows("Who you are here").await;
    screen.shows("member of the root quorum, 1 of 1").await;
}
