//! Webhooks: the receiver gets each update, in order per activity, in spite of failures of receiver and
//! daemon. No request ever waits for a receiver.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL};
use quorate_tests::disk::Disk;
use quorate_tests::http::TIMEOUT;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::paths;
use quorate_tests::receiver::{Answer, Delivery, Receiver};
use quorate_tests::requests::{self, CREATE_WALLET, SIGN, UPDATE_ROOT_QUORUM};
use quorate_tests::webhook_faults::{self, BEHAVIORS};
use serde_json::{Value, json};

const SET_FEATURE: &str = "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE";

async fn hook(caller: &Caller, receiver: &Receiver) {
    let parameters = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/hook") });
    let result = caller.result(SET_FEATURE, &parameters).await;
    assert_eq!(result["features"][0]["name"], "FEATURE_NAME_WEBHOOK", "{result:#}");
}

/// Returns the accepted statuses of each activity, in order of arrival. A repeated delivery, which a lost
/// answer can cause, counts once.
fn accepted(deliveries: &[Delivery]) -> HashMap<String, Vec<String>> {
    let mut seen: HashMap<String, Vec<String>> = HashMap::new();
    for delivery in deliveries.iter().filter(|delivery| delivery.answer.is_accepted()) {
        let text = |member: &str| delivery.body[member].as_str().unwrap_or_default().to_owned();
        let statuses = seen.entry(text("id")).or_default();
        if !statuses.contains(&text("status")) {
            statuses.push(text("status"));
        }
    }
    seen
}

fn has_received(deliveries: &[Delivery], activity: &Value, statuses: &[&str]) -> bool {
    let received = accepted(deliveries);
    let received = activity["id"].as_str().and_then(|id| received.get(id));
    received.is_some_and(|received| {
        received
            .iter()
            .map(|status| status.trim_start_matches("ACTIVITY_STATUS_"))
            .eq(statuses.iter().copied())
    })
}

#[tokio::test]
async fn updates_are_delivered_in_order() {
    let receiver = Receiver::start().await;
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (alice, bob) = (daemon.root(0), daemon.root(1));
    let child_key = Key::named("hooked child");
    let child =
        requests::create_sub_organization(&alice, "child", &[requests::root_user("root", &child_key)], 1)
            .await;
    hook(&alice, &receiver).await;

    let in_child = alice.on(&child).with_key(&child_key);
    let child_activity = in_child.completed(CREATE_WALLET, &requests::wallet("child")).await;
    let members = [daemon.root_id(0), daemon.root_id(1)];
    let quorum = json!({ "threshold": 2, "userIds": members });
    alice.completed(UPDATE_ROOT_QUORUM, &quorum).await;
    let approved = alice.waiting(CREATE_WALLET, &requests::wallet("approved")).await;
    bob.approved(&approved["fingerprint"]).await;
    let rejected = alice.waiting(CREATE_WALLET, &requests::wallet("rejected")).await;
    bob.reject(&rejected["fingerprint"]).await.activity_in("COMPLETED");

    let deliveries = receiver
        .until("all updates", |deliveries| {
            has_received(deliveries, &child_activity, &["COMPLETED"])
                && has_received(deliveries, &approved, &["CONSENSUS_NEEDED", "COMPLETED"])
                && has_received(deliveries, &rejected, &["CONSENSUS_NEEDED", "REJECTED"])
        })
        .await;
    for delivery in &deliveries {
        assert_eq!(delivery.target, "/hook");
        assert_eq!(delivery.headers["content-type"], "application/json");
    }
    let last = deliveries.iter().rfind(|delivery| delivery.body["id"] == approved["id"]).expect("delivered");
    let stored = alice.activity(&approved["id"]).await;
    for member in
        ["status", "type", "fingerprint", "intent", "result", "organizationId", "updatedAt", "votes"]
    {
        assert_eq!(last.body[member], stored[member], "{member} as in the API");
    }
}

#[tokio::test]
async fn deliveries_are_retried_until_accepted() {
    let receiver = Receiver::start().await;
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (alice, bob) = (daemon.root(0), daemon.root(1));
    hook(&alice, &receiver).await;
    receiver.answer(Answer::Status(500));
    let quorum = json!({ "threshold": 2, "userIds": [daemon.root_id(0), daemon.root_id(1)] });
    alice.completed(UPDATE_ROOT_QUORUM, &quorum).await;
    let activity = alice.waiting(CREATE_WALLET, &requests::wallet("retried")).await;
    bob.approved(&activity["fingerprint"]).await;
    receiver
        .until("an attempt that fails", |deliveries| {
            deliveries.iter().any(|delivery| delivery.answer == Answer::Status(500))
        })
        .await;
    receiver.answer(Answer::Status(200));
    receiver
        .until("a second attempt", |deliveries| {
            has_received(deliveries, &activity, &["CONSENSUS_NEEDED", "COMPLETED"])
        })
        .await;
}

#[tokio::test]
async fn deliveries_survive_a_crash() {
    let receiver = Receiver::start().await;
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let alice = daemon.root(0);
    hook(&alice, &receiver).await;
    receiver.answer(Answer::Status(503));
    let address = requests::create_wallet(&alice, "crash").await;
    let mut activities = Vec::new();
    for count in 0..10 {
        let parameters = requests::sign(&address, &format!("crash {count}"));
        activities.push(alice.completed(SIGN, &parameters).await);
    }
    daemon.kill();
    receiver.answer(Answer::Status(200));
    daemon.restart().await;
    receiver
        .until("what was acknowledged before the crash", |deliveries| {
            activities.iter().all(|activity| has_received(deliveries, activity, &["COMPLETED"]))
        })
        .await;
}

#[tokio::test]
async fn requests_do_not_wait_for_a_silent_receiver() {
    let receiver = Receiver::start().await;
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let alice = daemon.root(0);
    let address = requests::create_wallet(&alice, "silent").await;
    receiver.answer(Answer::Never);
    hook(&alice, &receiver).await;
    alice.completed(SIGN, &requests::sign(&address, "first")).await;
    receiver.until("a delivery that hangs", |deliveries| !deliveries.is_empty()).await;
    // A delivery may take ten seconds. Twenty requests that each waited for one would take minutes.
    let started = Instant::now();
    for count in 0..20 {
        alice.completed(SIGN, &requests::sign(&address, &format!("silent {count}"))).await;
    }
    assert!(started.elapsed() < Duration::from_secs(30), "requests wait for the receiver");
}

#[tokio::test]
async fn a_removed_webhook_receives_nothing() {
    let (receiver, marker) = (Receiver::start().await, Receiver::start().await);
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let alice = daemon.root(0);
    hook(&alice, &receiver).await;
    let delivered = alice.completed(CREATE_WALLET, &requests::wallet("on")).await;
    receiver
        .until("the update while on", |deliveries| has_received(deliveries, &delivered, &["COMPLETED"]))
        .await;
    let off = json!({ "name": "FEATURE_NAME_WEBHOOK" });
    alice.completed("ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", &off).await;
    let undelivered = alice.completed(CREATE_WALLET, &requests::wallet("off")).await;
    // The next receiver gets a later update, so an earlier one would have arrived by now.
    hook(&alice, &marker).await;
    let later = alice.completed(CREATE_WALLET, &requests::wallet("later")).await;
    marker
        .until("the update of the next receiver", |deliveries| {
            has_received(deliveries, &later, &["COMPLETED"])
        })
        .await;
    for endpoint in [&receiver, &marker] {
        assert!(endpoint.deliveries().iter().all(|delivery| delivery.body["id"] != undelivered["id"]));
    }
}

#[tokio::test]
async fn rejects_invalid_webhook_urls() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let alice = daemon.root(0);
    for url in [
        "",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "http://",
        "http://user:password@127.0.0.1/",
        "http://169.254.169.254/latest/meta-data",
        "http://10.0.0.1/",
        "not a url",
        &format!("http://127.0.0.1/{}", "a".repeat(10_000)),
    ] {
        let parameters = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": url });
        alice.submit(SET_FEATURE, &parameters).await.expect_error(400, 3, "*");
    }
    let unknown = json!({ "name": "FEATURE_NAME_NO_SUCH" });
    alice.submit(SET_FEATURE, &unknown).await.expect_error(400, 3, "*");
}

#[tokio::test]
async fn endpoints_receive_subscribed_events_only() {
    let (first, second) = (Receiver::start().await, Receiver::start().await);
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let alice = daemon.root(0);
    let endpoint = |name: &str, receiver: &Receiver, active: bool| {
        json!({"name": name, "url": receiver.url(&format!("/{name}")),
            "subscriptions": [{"eventType": "ACTIVITY_UPDATES", "isActive": active}]})
    };
    let create = "ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT";
    let one = alice.result(create, &endpoint("one", &first, true)).await;
    alice.result(create, &endpoint("two", &second, true)).await;
    alice.result(create, &endpoint("deaf", &first, false)).await;
    let delivered = alice.completed(CREATE_WALLET, &requests::wallet("delivered")).await;
    for (receiver, path) in [(&first, "/one"), (&second, "/two")] {
        let deliveries = receiver
            .until("the update of a wallet", |deliveries| {
                has_received(deliveries, &delivered, &["COMPLETED"])
            })
            .await;
        assert!(deliveries.iter().all(|delivery| delivery.target == path), "{path}");
        let headers = &deliveries[0].headers;
        assert_eq!(headers["x-turnkey-event-type"], "ACTIVITY_UPDATES");
        assert_eq!(headers["x-turnkey-organization-id"], alice.organization());
    }
    let event = |receiver: &Receiver| {
        let deliveries = receiver.deliveries();
        let last =
            deliveries.iter().find(|delivery| delivery.body["id"] == delivered["id"]).expect("delivered");
        last.headers["x-turnkey-event-id"].clone()
    };
    assert_ne!(event(&first), event(&second), "each endpoint has its own event ids");

    let off = json!({"endpointId": one["endpointId"], "isActive": false});
    alice.completed("ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT", &off).await;
    let undelivered = alice.completed(CREATE_WALLET, &requests::wallet("undelivered")).await;
    second
        .until("the update of the other wallet", |deliveries| {
            has_received(deliveries, &undelivered, &["COMPLETED"])
        })
        .await;
    assert!(first.deliveries().iter().all(|delivery| delivery.body["id"] != undelivered["id"]));
}

/// Creates an installation whose webhooks may reach the loopback interface, with these limits.
fn installation_with_limits(limits: &str) -> Installation {
    let installation = Installation::new("file = \"root.key\"");
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\nfile = \"root.key\"\n\
         [webhook]\nallow_http = true\nallow_networks = [\"127.0.0.0/8\"]\n[limits]\n{limits}\n"
    ));
    installation
}

async fn endpoint(caller: &Caller, name: &str, receiver: &Receiver) {
    let endpoint = json!({"name": name, "url": receiver.url(&format!("/{name}")),
        "subscriptions": [{"eventType": "ACTIVITY_UPDATES"}]});
    caller.completed("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &endpoint).await;
}

#[tokio::test]
async fn a_silent_receiver_does_not_delay_other_organizations() {
    let installation = installation_with_limits("");
    let keys = [Key::named("attacker"), Key::named("victim")];
    let ids = [
        installation.create_organization("attacker", &keys[0]).await,
        installation.create_organization("victim", &keys[1]).await,
    ];
    let served = installation.serve().await;
    let [attacker, victim] = [0, 1].map(|index: usize| served.caller(&ids[index], keys[index].clone()));
    let (silent, prompt) = (Receiver::start().await, Receiver::start().await);
    silent.answer(Answer::Never);
    let addresses = [
        requests::create_wallet(&attacker, "attacker").await,
        requests::create_wallet(&victim, "victim").await,
    ];
    for number in 0..10 {
        endpoint(&attacker, &format!("e{number}"), &silent).await;
    }
    endpoint(&victim, "prompt", &prompt).await;
    let long = "x".repeat(1_000_000);
    for number in 0..20 {
        attacker.completed(SIGN, &requests::sign(&addresses[0], &format!("{number} {long}"))).await;
    }
    for number in 0..5 {
        let begun = Instant::now();
        let delivered = victim.completed(SIGN, &requests::sign(&addresses[1], &format!("{number}"))).await;
        prompt
            .until("the event of the other", |deliveries| {
                has_received(deliveries, &delivered, &["COMPLETED"])
            })
            .await;
        // One attempt at a silent receiver takes ten seconds.
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn excess_deliveries_are_parked_and_counted() {
    let installation = installation_with_limits("waiting_webhooks = 10");
    let key = Key::named("parked");
    let id = installation.create_organization("parked", &key).await;
    let served = installation.serve().await;
    let alice = served.caller(&id, key);
    let receiver = Receiver::start().await;
    receiver.answer(Answer::Never);
    let address = requests::create_wallet(&alice, "parked").await;
    endpoint(&alice, "parked", &receiver).await;
    let mut activities = Vec::new();
    for number in 0..40 {
        activities.push(alice.completed(SIGN, &requests::sign(&address, &format!("{number}"))).await);
    }
    let deadline = Instant::now() + TIMEOUT;
    let parked = loop {
        let page = alice.call(Method::GET, "/console/v1/outbox/parked", &[], b"").await.json();
        let parked = page["destinations"][0].clone();
        if parked["parked"].as_u64() >= Some(30) {
            break parked;
        }
        assert!(Instant::now() < deadline, "not parked in time: {page:#}");
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    assert_eq!((&parked["organizationId"], &parked["unreadable"]), (&json!(id), &json!(0)));
    assert!(parked["endpointId"].is_string() && parked["newestActivityId"].is_string(), "{parked:#}");
    let console = |arguments: &[&str]| {
        let run = std::process::Command::new(paths::program("quorate"))
            .env("HOME", installation.path(""))
            .arg("--socket")
            .arg(installation.path("run/socket"))
            .args(arguments)
            .output()
            .expect("quorate can be started");
        assert!(run.status.success(), "{run:?}");
        String::from_utf8(run.stdout).expect("UTF-8")
    };
    let status = console(&["status"]);
    assert!(status.contains(" parked for 1 destination; run `quorate webhook parked`"), "{status}");
    let listed = console(&["webhook", "parked"]);
    let endpoint = parked["endpointId"].as_str().expect("an id");
    assert!(listed.starts_with(&format!("organization {id}, endpoint {endpoint}\n")), "{listed}");
    assert!(listed.contains(" parked for a limit, 0 unreadable, from 20"), "{listed}");
    let listed: Value = serde_json::from_str(&console(&["--json", "webhook", "parked"])).expect("JSON");
    assert_eq!(listed["endpointId"], parked["endpointId"], "{listed:#}");
    assert!(listed["parked"].as_u64() >= parked["parked"].as_u64(), "{listed:#}");
    // The newest deliveries are kept.
    receiver.answer(Answer::Status(200));
    let newest = &activities[31..];
    let all =
        |deliveries: &[Delivery]| newest.iter().all(|one| has_received(deliveries, one, &["COMPLETED"]));
    let deliveries = receiver.until("the newest", all).await;
    assert!(deliveries.iter().all(|delivery| delivery.body["id"] != activities[5]["id"]));
}

/// Events of a sub-organization count against its own limits, even if its parent is the receiver.
#[tokio::test]
async fn a_sub_organization_does_not_displace_deliveries_of_others() {
    for limit in ["waiting_webhooks = 20", "waiting_webhook_bytes = 65536"] {
        let installation = installation_with_limits(limit);
        let key = Key::named("parent");
        let id = installation.create_organization("parent", &key).await;
        let served = installation.serve().await;
        let parent = served.caller(&id, key);
        let receiver = Receiver::start().await;
        receiver.answer(Answer::Status(500));
        let children = ["sibling", "hostile"].map(|name| (name, Key::named(name)));
        let mut callers = vec![parent];
        for (name, key) in children {
            let root = requests::root_user("root", &key);
            let child = requests::create_sub_organization(&callers[0], name, &[root], 1).await;
            callers.push(callers[0].on(&child).with_key(&key));
        }
        let mut addresses = Vec::new();
        for caller in &callers {
            addresses.push(requests::create_wallet(caller, "signs").await);
        }
        endpoint(&callers[0], "receiver", &receiver).await;
        let mut events = Vec::new();
        for (caller, address) in callers.iter().zip(&addresses).take(2) {
            for number in 0..3 {
                events.push(caller.completed(SIGN, &requests::sign(address, &format!("{number}"))).await);
            }
        }
        let long = "x".repeat(if limit.contains("bytes") { 6_000 } else { 10 });
        for number in 0..40 {
            let payload = format!("{number} {long}");
            callers[2].completed(SIGN, &requests::sign(&addresses[2], &payload)).await;
        }
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let page = callers[0].call(Method::GET, "/console/v1/outbox/parked", &[], b"").await.json();
            if page["destinations"][0]["parked"].as_u64() >= Some(20) {
                break;
            }
            assert!(Instant::now() < deadline, "not parked in time: {page:#}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        receiver.answer(Answer::Status(200));
        let all =
            |deliveries: &[Delivery]| events.iter().all(|one| has_received(deliveries, one, &["COMPLETED"]));
        receiver.until("the events of parent and sibling", all).await;
    }
}

#[tokio::test]
async fn slow_receivers_do_not_delay_other_organizations() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let parent = daemon.root(0);
    let keys = [Key::named("slow"), Key::named("victim")];
    let mut callers = Vec::new();
    for (name, key) in ["slow", "victim"].into_iter().zip(&keys) {
        let root = requests::root_user("root", key);
        let child = requests::create_sub_organization(&parent, name, &[root], 1).await;
        callers.push(parent.on(&child).with_key(key));
    }
    let addresses = [
        requests::create_wallet(&callers[0], "slow").await,
        requests::create_wallet(&callers[1], "victim").await,
    ];
    let (slow, prompt) = (Receiver::start().await, Receiver::start().await);
    for number in 0..10 {
        endpoint(&callers[0], &format!("e{number}"), &slow).await;
    }
    // The receivers answer promptly at first.
    let first = callers[0].completed(SIGN, &requests::sign(&addresses[0], "first")).await;
    let all = |deliveries: &[Delivery]| {
        deliveries.iter().filter(|delivery| delivery.body["id"] == first["id"]).count() >= 10
    };
    slow.until("the event at all endpoints", all).await;
    endpoint(&callers[1], "prompt", &prompt).await;
    slow.answer(Answer::Slowly(Duration::from_secs(9)));
    let before = slow.deliveries().len();
    for number in 0..20 {
        callers[0].completed(SIGN, &requests::sign(&addresses[0], &format!("{number}"))).await;
    }
    slow.until("slow deliveries", |deliveries| deliveries.len() >= before + 10).await;
    for number in 0..4 {
        let begun = Instant::now();
        let delivered =
            callers[1].completed(SIGN, &requests::sign(&addresses[1], &format!("{number}"))).await;
        prompt
            .until("the event of the other", |deliveries| {
                has_received(deliveries, &delivered, &["COMPLETED"])
            })
            .await;
        eprintln!("delivery time with slow receivers in another organization: {:?}", begun.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}

/// Signing with misbehaving receivers takes no longer than with answering ones, whose deliveries cost more
/// work. The long form allows 5 % and needs an otherwise idle machine.
#[tokio::test]
async fn f19_receivers_do_nothing_to_signing() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let rounds = std::env::var("ROUNDS").ok().map(|text| text.parse().expect("ROUNDS is a number"));
    let rounds = rounds.unwrap_or(if is_long { 40 } else { 2 });
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let figures = webhook_faults::signing_times(&daemon.root(0), 10, rounds, 20).await;
    assert_eq!(figures.len(), BEHAVIORS.len());
    for figures in &figures {
        let webhook_faults::Figures { behavior, median, p99, ratio } = figures;
        eprintln!(
            "f19 a receiver that {behavior}: signing takes {median:?} (p99 {p99:?}), {ratio:.3} times as long"
        );
        // A request that waited for a receiver is visible on any machine.
        assert!(*p99 < Duration::from_secs(3), "{figures:#?}");
        assert!(!is_long || *ratio <= 1.05, "{figures:#?}");
    }
}

#[tokio::test]
async fn a_full_disk_does_not_flood_a_receiver() {
    let Some(disk) = Disk::or_skip() else { return };
    let daemon = Daemon::start_on(Options::quorum(1, 1), &disk.root().join("data")).await;
    let alice = daemon.root(0);
    let receiver = Receiver::start().await;
    hook(&alice, &receiver).await;
    let address = requests::create_wallet(&alice, "full").await;
    // Deliveries are in flight when the store fails.
    receiver.answer(Answer::Slowly(Duration::from_millis(500)));
    disk.fill();
    let text = "x".repeat(1000);
    let mut number = 0;
    let failed = loop {
        let reply = alice.submit(SIGN, &requests::sign(&address, &format!("{number} {text}"))).await;
        if reply.status != 200 {
            break reply.status;
        }
        number += 1;
        assert!(number < 10_000, "the disk does not fill up");
    };
    assert_eq!(failed, 503);
    receiver.answer(Answer::Status(200));
    // A flood of thousands of deliveries would arrive within this time.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for delivery in receiver.deliveries() {
            let event = delivery.headers["x-turnkey-event-id"].to_str().expect("a text").to_owned();
            *counts.entry(event).or_default() += 1;
        }
        assert!(counts.values().all(|count| *count <= 1), "{counts:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
