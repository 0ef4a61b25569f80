//! An invitation reaches its mailbox over SMTP, whatever happens to the mail server or to the daemon, and what it
//! holds makes somebody a user, once. What must not be kept is in no log.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::mailbox::{Mail, Mailbox};
use quorate_tests::passkey::Passkey;
use serde_json::{Value, json};

const CREATE: &str = "ACTIVITY_TYPE_CREATE_INVITATIONS";
const ACCEPT: &str = "ACTIVITY_TYPE_ACCEPT_INVITATION_V2";
/// An id that the guest chose.
const GUEST: &str = "6f1d2c3b-4a59-4c68-9b77-8a6f5e4d3c2b";

fn invitation(daemon: &Daemon) -> Value {
    json!({"invitations": [{"receiverUserName": "guest", "receiverUserEmail": "guest@example.org",
        "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": daemon.root_id(0)}]})
}

/// The value behind a word at the begin of a line of the mail.
fn told(mail: &Mail, word: &str) -> String {
    let line = mail.text.lines().find_map(|line| line.strip_prefix(word));
    line.unwrap_or_else(|| panic!("no {word} in {}", mail.text)).trim().to_owned()
}

fn acceptance(mail: &Mail) -> Value {
    let authenticator = Passkey::of("guest").registration();
    json!({"invitationId": told(mail, "invitation"), "userId": GUEST, "authenticator": authenticator})
}

#[tokio::test]
async fn an_invitation_survives_a_kill_and_a_server_that_wants_it_later() {
    let mailbox = Mailbox::start(1);
    let mut daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let made = daemon.root(0).result(CREATE, &invitation(&daemon)).await;
    daemon.kill();
    daemon.restart().await;
    let mut mail = mailbox.next();
    while mail.refused {
        mail = mailbox.next();
    }
    assert_eq!((mail.to.as_slice(), mail.from.contains('@')), (&["guest@example.org".to_owned()][..], true));
    assert!(mail.subject.starts_with("Invitation to ") && !mail.date.is_empty(), "{mail:?}");
    assert_eq!(json!(told(&mail, "invitation")), made["invitationIds"][0]);
    let key = Key::of_hex(&told(&mail, "private key"));
    assert_eq!(key.public_key(), told(&mail, "public key"));
    let root = daemon.root(0);
    let guest = Caller::new(daemon.http(), &told(&mail, "organization"), key);

    guest.query("whoami", json!({})).await.refusal(401, 16, "PUBLIC_KEY_NOT_FOUND");
    let body = guest.proposal(ACCEPT, &acceptance(&mail));
    let path = "/public/v1/submit/accept_invitation";
    let accepted = guest.send(path, &body).await.activity_in("COMPLETED");
    assert_eq!(accepted["result"]["acceptInvitationResult"]["userId"], GUEST);
    // The answer was lost, say, and over the other door the same bytes come again.
    let over_socket = Caller::new(daemon.socket(), guest.organization(), guest.key().clone());
    assert_eq!(over_socket.send(path, &body).await.activity_in("COMPLETED")["id"], accepted["id"]);
    let user = root.ask("get_user", json!({"userId": GUEST})).await;
    assert_eq!(
        (&user["user"]["userName"], &user["user"]["userEmail"]),
        (&json!("guest"), &json!("guest@example.org"))
    );
    let again = guest.submit(ACCEPT, &acceptance(&mail)).await;
    assert_eq!(again.refusal(400, 3, ""), "invitation has been accepted");
    let log = daemon.log();
    for secret in [told(&mail, "private key").as_str(), "guest@example.org"] {
        assert!(!log.contains(secret), "the log holds what was mailed");
    }
}

#[tokio::test]
async fn nobody_is_invited_without_a_mail_server() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let reply = daemon.root(0).submit(CREATE, &invitation(&daemon)).await;
    assert_eq!(reply.refusal(400, 3, "EMAIL_SENDING_DISABLED"), "this service has no way to send mail");
}

#[tokio::test]
async fn a_card_is_in_no_log_and_in_no_answer() {
    const CARD: &str = "4242424242421881";
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let card = json!({"number": CARD, "cvv": "917", "expiryMonth": "12", "expiryYear": "2031",
        "cardHolderName": "Holder", "cardHolderEmail": "holder@example.org"});
    let made = root.completed("ACTIVITY_TYPE_SET_PAYMENT_METHOD", &card).await;
    assert_eq!(made["result"]["setPaymentMethodResult"]["lastFour"], "1881");
    let listed = root.ask("list_activities", json!({})).await;
    for text in [made.to_string(), listed.to_string(), daemon.log()] {
        assert!(!text.contains(CARD) && !text.contains("\"917\""), "{text}");
    }
}
