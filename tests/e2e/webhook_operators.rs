//! Webhooks as operators see them: by command and in the console, with a receiver that fails and then recovers.

use std::time::Instant;

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL};
use quorate_tests::http::TIMEOUT;
use quorate_tests::keys::Key;
use quorate_tests::operator::{Ended, Operator};
use quorate_tests::receiver::{Answer, Receiver};
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::{Value, json};

use crate::screen::Screen;

/// Creates an endpoint of the organization and returns its id.
async fn endpoint(caller: &Caller, name: &str, receiver: &Receiver) -> String {
    let parameters = json!({"name": name, "url": receiver.url(&format!("/{name}")),
        "subscriptions": [{"eventType": "ACTIVITY_UPDATES"}]});
    let result = caller.result("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &parameters).await;
    result["endpointId"].as_str().expect("an id").to_owned()
}

/// Returns the deliveries to a receiver once they fulfil a condition.
async fn deliveries(operator: &Operator, name: &str, condition: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let rows = operator.run(&["webhook", "deliveries", name]).await.with(0).lines();
        if condition(&rows) {
            return rows;
        }
        assert!(Instant::now() < deadline, "not in time: {rows:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Runs a command with text output.
async fn words(operator: &Operator, arguments: &[&str]) -> Ended {
    let identity = operator.identity();
    let all: Vec<&str> = identity.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
    operator.run_raw(&all, "").await
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_refused_delivery_is_sent_again_by_command() {
    let (daemon, receiver) = (Daemon::start(Options::quorum(1, 1)).await, Receiver::start().await);
    let (root, operator) = (daemon.root(0), Operator::root(&daemon, 0));
    let id = endpoint(&root, "ops", &receiver).await;
    // A status that is final: without an operator the event would never arrive.
    receiver.answer(Answer::Status(404));
    let activity = root.completed(CREATE_WALLET, &requests::wallet("lost")).await;
    let activity = text(&activity, "id");
    let is_refused = |rows: &[Value]| {
        rows.iter().any(|row| text(row, "activityId") == activity && text(row, "state") == "refused")
    };
    let rows = deliveries(&operator, "ops", is_refused).await;
    let refused = rows.iter().find(|row| text(row, "activityId") == activity).expect("the attempt");
    assert_eq!((&refused["status"], &refused["attempt"]), (&json!(404), &json!(1)), "{refused:#}");
    assert!(refused.get("nextAt").is_none(), "{refused:#}");

    let listed = operator.run(&["webhook", "ls"]).await.with(0).json();
    assert_eq!((text(&listed, "endpointId"), text(&listed, "state")), (id.as_str(), "failing"), "{listed:#}");
    assert_eq!((&listed["waiting"], &listed["last"]["status"]), (&json!(0), &json!(404)), "{listed:#}");
    let listed = words(&operator, &["webhook", "ls"]).await.with(0).output;
    assert!(listed.contains("failing [!]") && listed.contains(&receiver.url("/ops")), "{listed}");

    receiver.answer(Answer::Status(200));
    let retried = words(&operator, &["webhook", "retry", "ops", activity]).await.with(0).output;
    assert_eq!(retried, "The current state of the activity is queued again for ops.\n");
    let posted = receiver
        .until("the repeated event", |posted| {
            posted.iter().any(|one| one.body["id"] == activity && one.answer == Answer::Status(200))
        })
        .await;
    let events = posted.iter().filter(|one| one.body["id"] == activity);
    let events: Vec<_> = events.map(|one| one.headers["x-turnkey-event-id"].clone()).collect();
    assert!(events.len() >= 2 && events.iter().all(|event| *event == events[0]), "{events:?}");
    let rows = deliveries(&operator, "ops", |rows| {
        rows.iter().any(|row| text(row, "state") == "delivered" && text(row, "activityId") == activity)
    })
    .await;
    assert_eq!(text(&rows[0], "eventId"), text(refused, "eventId"), "{rows:#?}");
}

#[tokio::test]
async fn waiting_deliveries_become_due_and_stay_in_order() {
    let (daemon, receiver) = (Daemon::start(Options::quorum(1, 2)).await, Receiver::start().await);
    let (alice, bob) = (daemon.root(0), daemon.root(1));
    let operator = Operator::root(&daemon, 0);
    endpoint(&alice, "ops", &receiver).await;
    let quorum = json!({ "threshold": 2, "userIds": [daemon.root_id(0), daemon.root_id(1)] });
    alice.completed(requests::UPDATE_ROOT_QUORUM, &quorum).await;
    receiver.answer(Answer::Status(503));
    let activity = alice.waiting(CREATE_WALLET, &requests::wallet("late")).await;
    let id = text(&activity, "id");
    bob.approved(&activity["fingerprint"]).await;
    let has_failed_often = |rows: &[Value]| {
        let mut waiting = rows.iter().filter(|row| text(row, "state") == "waiting");
        waiting.any(|row| text(row, "activityId") == id && row["attempts"].as_u64() >= Some(2))
    };
    deliveries(&operator, "ops", has_failed_often).await;
    receiver.answer(Answer::Status(200));
    let deadline = Instant::now() + TIMEOUT;
    loop {
        // An attempt may be under way. Once all were made, the current state is sent again, which is allowed.
        let retried = operator.run(&["webhook", "retry", "ops", id]).await;
        if retried.code == 0 {
            break;
        }
        assert!(retried.stderr.contains("under way"), "{retried:#?}");
        assert!(Instant::now() < deadline, "{retried:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let accepted = |posted: &[quorate_tests::receiver::Delivery]| {
        let own = posted.iter().filter(|one| one.answer.is_accepted() && one.body["id"] == id);
        own.map(|one| text(&one.body, "status").to_owned()).collect::<Vec<_>>()
    };
    let both = |posted: &[quorate_tests::receiver::Delivery]| accepted(posted).len() >= 2;
    let posted = receiver.until("both states", both).await;
    let expected = ["ACTIVITY_STATUS_CONSENSUS_NEEDED", "ACTIVITY_STATUS_COMPLETED"];
    assert_eq!(accepted(&posted)[..2], expected);
}

#[tokio::test]
async fn test_events_are_signed_marked_and_limited() {
    let (daemon, receiver) = (Daemon::start(Options::quorum(1, 1)).await, Receiver::start().await);
    let (root, operator) = (daemon.root(0), Operator::root(&daemon, 0));
    let feature = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/hook") });
    root.result("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    let tested = words(&operator, &["webhook", "test", "feature"]).await.with(0).output;
    assert!(tested.starts_with("test event to webhook feature: delivered, 200, "), "{tested}");
    let is_test = |one: &quorate_tests::receiver::Delivery| {
        one.headers["x-turnkey-event-type"] == "WEBHOOK_TEST" && one.body["type"] == "WEBHOOK_TEST"
    };
    let posted = receiver.until("the test", |posted| posted.iter().any(is_test)).await;
    let test = posted.iter().find(|one| is_test(one)).expect("the test");
    assert_eq!(test.body["organizationId"], root.organization());
    assert!(test.headers.contains_key("x-turnkey-signature"));

    receiver.answer(Answer::Status(500));
    let failed = operator.run(&["webhook", "test", "feature"]).await.with(1).json();
    assert_eq!((&failed["status"], text(&failed, "eventType")), (&json!(500), "WEBHOOK_TEST"), "{failed:#}");
    let mut limited = None;
    for _ in 0..6 {
        let ended = operator.run(&["webhook", "test", "feature"]).await;
        limited = ended.stderr.contains("too many requests").then_some(ended);
        if limited.is_some() {
            break;
        }
    }
    let limited = limited.expect("the requests of an organization are limited").with(1);
    assert!(limited.stderr.contains("ResourceExhausted"), "{limited:#?}");
    drop(operator.run(&["webhook", "test", "nobody"]).await.with(3));
}

#[tokio::test]
async fn only_receivers_of_an_activity_get_it_and_only_the_socket_serves_operators() {
    let (daemon, receiver) = (Daemon::start(Options::quorum(1, 1)).await, Receiver::start().await);
    let root = daemon.root(0);
    let endpoint = endpoint(&root, "ops", &receiver).await;
    let key = Key::named("child");
    let people = [requests::root_user("root", &key)];
    let child = requests::create_sub_organization(&root, "child", &people, 1).await;
    let in_child = root.on(&child).with_key(&key);
    let parameters = requests::wallet("child");
    let in_child = in_child.completed(CREATE_WALLET, &parameters).await;
    let own = root.completed(CREATE_WALLET, &requests::wallet("own")).await;
    // A delivery that is under way is not repeated.
    let is_delivered = |rows: &[Value], activity: &Value| {
        rows.iter().any(|row| row["activityId"] == activity["id"] && text(row, "state") == "delivered")
    };
    let both = |rows: &[Value]| is_delivered(rows, &in_child) && is_delivered(rows, &own);
    deliveries(&Operator::root(&daemon, 0), "ops", both).await;
    let organization = root.organization();
    let mut connection = daemon.socket().connect().await.expect("a connection");
    let path =
        |organization: &str, rest: &str| format!("/console/v1/organizations/{organization}/webhooks/{rest}");
    let (child_id, own_id) = (text(&in_child, "id"), text(&own, "id"));
    let of_child = format!("{endpoint}/retry?organization={child}&activity={child_id}");
    let of_child_only = format!("{endpoint}/retry?activity={child_id}");
    for (method, path, status) in [
        (Method::POST, path(organization, &of_child), 200),
        (Method::POST, path(organization, &of_child_only), 404),
        (Method::POST, path(&child, &format!("{endpoint}/retry?activity={child_id}")), 404),
        (Method::POST, path(organization, &format!("{endpoint}/retry")), 404),
        (Method::POST, path(organization, &format!("feature/retry?activity={own_id}")), 404),
        (Method::GET, path(organization, &format!("{endpoint}/retry?activity={own_id}")), 404),
        (Method::POST, path(organization, &format!("{endpoint}/deliveries")), 501),
    ] {
        let reply = connection.call(method.clone(), &path, &[], b"").await.expect("an answer");
        assert_eq!(reply.status, status, "{method} {path}: {reply:?}");
    }
    let request = format!(
        "POST {} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        path(organization, &format!("{endpoint}/test"))
    );
    let public = daemon.http().exchange(request.as_bytes()).await;
    assert!(public.starts_with("HTTP/1.1 404"), "{public}");
    // An endpoint that gets no events is neither called nor tested.
    let off = json!({"endpointId": endpoint, "isActive": false});
    root.completed("ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT", &off).await;
    let test = path(organization, &format!("{endpoint}/test"));
    let reply = connection.call(Method::POST, &test, &[], b"").await.expect("an answer");
    assert_eq!(reply.status, 400, "{reply:?}");
}

#[tokio::test]
async fn the_console_shows_a_failure_and_sends_the_event_again() {
    let (daemon, receiver) = (Daemon::start(Options::quorum(1, 1)).await, Receiver::start().await);
    let root = daemon.root(0);
    endpoint(&root, "ops", &receiver).await;
    receiver.answer(Answer::Status(404));
    root.completed(CREATE_WALLET, &requests::wallet("lost")).await;
    receiver.until("the refused event", |posted| !posted.is_empty()).await;
    let mut screen = Screen::open(Operator::root(&daemon, 0));
    screen.shows("live").await;
    screen.press("8");
    screen.shows("failing [!]").await;
    let before = receiver.deliveries().len();
    screen.press("T");
    screen.shows("Post a test event to this receiver?").await;
    screen.press("\u{1b}");
    screen.shows("failing [!]").await;
    screen.press("\t");
    screen.shows("refused").await;
    receiver.answer(Answer::Status(200));
    screen.press("R");
    screen.shows("Send this delivery again?").await;
    assert_eq!(receiver.deliveries().len(), before, "nothing is sent before the confirmation");
    screen.press("y");
    screen.shows("The current state of the activity is queued again").await;
    receiver.until("the event", |posted| posted.iter().any(|one| one.answer.is_accepted())).await;
    screen.shows("delivered").await;
}
