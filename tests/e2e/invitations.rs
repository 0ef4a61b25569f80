//! An invitation reaches its mailbox over SMTP in spite of failures of mail server and daemon. Its content
//! creates a user once. Secrets appear in no log.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::mailbox::{Mail, Mailbox};
use quorate_tests::passkey::Passkey;
use serde_json::{Value, json};

const CREATE: &str = "ACTIVITY_TYPE_CREATE_INVITATIONS";
const ACCEPT: &str = "ACTIVITY_TYPE_ACCEPT_INVITATION_V2";
/// User id chosen by the guest.
const GUEST: &str = "6f1d2c3b-4a59-4c68-9b77-8a6f5e4d3c2b";

fn invitation(daemon: &Daemon) -> Value {
    json!({"invitations": [{"receiverUserName": "guest", "receiverUserEmail": "guest@example.org",
        "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": daemon.root_id(0)}]})
}

/// Returns the value after a word at the start of a line of the mail.
fn mail_field(mail: &Mail, word: &str) -> String {
    let line = mail.text.lines().find_map(|line| line.strip_prefix(word));
    line.unwrap_or_else(|| panic!("no {word} in {}", mail.text)).trim().to_owned()
}

fn acceptance(mail: &Mail) -> Value {
    let authenticator = Passkey::of("guest").registration();
    json!({"invitationId": mail_field(mail, "invitation"), "userId": GUEST, "authenticator": authenticator})
}

#[tokio::test]
async fn invitations_survive_a_kill_and_temporary_mail_failures() {
    let mailbox = Mailbox::start(1);
    let mut daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let created = daemon.root(0).result(CREATE, &invitation(&daemon)).await;
    daemon.kill();
    daemon.restart().await;
    let mut mail = mailbox.next();
    while mail.refused {
        mail = mailbox.next();
    }
    assert_eq!((mail.to.as_slice(), mail.from.contains('@')), (&["guest@example.org".to_owned()][..], true));
    assert!(mail.subject.starts_with("Invitation to ") && !mail.date.is_empty(), "{mail:?}");
    assert_eq!(json!(mail_field(&mail, "invitation")), created["invitationIds"][0]);
    let key = Key::of_hex(&mail_field(&mail, "private key"));
    assert_eq!(key.public_key(), mail_field(&mail, "public key"));
    let root = daemon.root(0);
    let guest = Caller::new(daemon.http(), &mail_field(&mail, "organization"), key);

    guest.query("whoami", json!({})).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
    let body = guest.proposal(ACCEPT, &acceptance(&mail));
    let path = "/public/v1/submit/accept_invitation";
    let accepted = guest.send(path, &body).await.activity_in("COMPLETED");
    assert_eq!(accepted["result"]["acceptInvitationResult"]["userId"], GUEST);
    // As after a lost answer, the same bytes arrive over the other listener.
    let over_socket = Caller::new(daemon.socket(), guest.organization(), guest.key().clone());
    assert_eq!(over_socket.send(path, &body).await.activity_in("COMPLETED")["id"], accepted["id"]);
    let user = root.fetch("get_user", json!({"userId": GUEST})).await;
    assert_eq!(
        (&user["user"]["userName"], &user["user"]["userEmail"]),
        (&json!("guest"), &json!("guest@example.org"))
    );
    let again = guest.submit(ACCEPT, &acceptance(&mail)).await;
    assert_eq!(again.expect_error(400, 3, ""), "invitation has been accepted");
    let log = daemon.log();
    for secret in [mail_field(&mail, "private key").as_str(), "guest@example.org"] {
        assert!(!log.contains(secret), "the log contains mailed secrets");
    }
}

#[tokio::test]
async fn invitations_require_a_mail_server() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let reply = daemon.root(0).submit(CREATE, &invitation(&daemon)).await;
    assert_eq!(
        reply.expect_error(400, 3, "EMAIL_SENDING_DISABLED"),
        "this service is not configured to send mail"
    );
}

#[tokio::test]
async fn card_numbers_appear_in_no_log_and_no_answer() {
    const CARD: &str = "4242424242421881";
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let card = json!({"number": CARD, "cvv": "917", "expiryMonth": "12", "expiryYear": "2031",
        "cardHolderName": "Holder", "cardHolderEmail": "holder@example.org"});
    let created = root.completed("ACTIVITY_TYPE_SET_PAYMENT_METHOD", &card).await;
    assert_eq!(created["result"]["setPaymentMethodResult"]["lastFour"], "1881");
    let listed = root.fetch("list_activities", json!({})).await;
    for text in [created.to_string(), listed.to_string(), daemon.log()] {
        assert!(!text.contains(CARD) && !text.contains("\"917\""), "{text}");
    }
}
