//! Proof bundles: exported from a daemon, verified without one, and a vote that one machine signs and another sends.

use std::fs;
use std::path::Path;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::{Ended, Operator};
use quorate_tests::requests::{self, CREATE_WALLET, UPDATE_ROOT_QUORUM};
use quorate_tests::tampering_proxy::{TamperingProxy, each_intent, each_member};
use serde_json::{Value, json};

use crate::console::{review, type_like_a_person};
use crate::screen::Screen;

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// A path in the folder of an operator.
fn path(operator: &Operator, name: &str) -> String {
    operator.home().join(name).to_str().expect("a path in UTF-8").to_owned()
}

/// Returns a user on a machine that reaches no daemon.
fn without_connection(operator: &Operator) -> Operator {
    operator.through(Path::new("nothing-listens-here.sock"))
}

async fn export(operator: &Operator, reference: &str, file: &str) -> Ended {
    operator.run(&["proof", "export", reference, "--output", file]).await
}

/// Returns what a review and the verification of a bundle have in common: all but ages, which depend on the second.
fn verdict(review: &Value) -> Value {
    let names = |list: &str, members: &[&str]| -> Vec<Value> {
        let items = review[list].as_array().into_iter().flatten();
        // A state is in the activity log a moment after its commit.
        let items = items.filter(|item| item["id"] != "K11" && item["id"] != "K12");
        items.map(|item| members.iter().map(|member| item[*member].clone()).collect()).collect()
    };
    let whole = [
        "sentence",
        "risk",
        "blocked",
        "fingerprint",
        "type",
        "fields",
        "facts",
        "changes",
        "votes",
        "message",
    ];
    let whole: Vec<&Value> = whole.iter().map(|member| &review[*member]).collect();
    json!([whole, names("checks", &["id", "mark"]), names("flags", &["name", "level", "text"])])
}

async fn waiting() -> (Daemon, Value) {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let pending = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("two machines")).await;
    (daemon, pending)
}

#[tokio::test]
async fn the_verdict_without_a_connection_is_that_of_the_review() {
    let (daemon, wallet) = waiting().await;
    let members: Vec<&str> = (0..3).map(|index| daemon.root_id(index)).collect();
    let quorum = json!({"threshold": 1, "userIds": members});
    let quorum = daemon.root(0).waiting(UPDATE_ROOT_QUORUM, &quorum).await;
    let jo = Operator::root(&daemon, 1);
    let away = without_connection(&jo);
    for (index, activity) in [&wallet, &quorum].into_iter().enumerate() {
        let id = text(&activity["id"]);
        let review = jo.run(&["review", id]).await.with(0).json();
        let file = path(&jo, &format!("bundle-{index}.json"));
        let exported = export(&jo, id, &file).await.with(0).json();
        assert_eq!(exported["fingerprint"], review["fingerprint"]);
        // With the same known keys, the verdict is the same.
        let known = path(&jo, "known.json");
        fs::write(&known, jo.run(&["known-keys", "export"]).await.with(0).output).expect("a file");
        for user in [&jo, &away] {
            let seen = user.run(&["proof", "verify", &file, "--known-keys", &known]).await.with(0).json();
            assert_eq!(verdict(&seen["review"]), verdict(&review), "{seen:#}");
            assert_eq!(seen["knowsOrganization"], true);
        }
        // Without known keys, this is reported and nothing becomes known.
        for _ in 0..2 {
            let seen = away.run(&["proof", "verify", &file]).await.with(0).json();
            assert_eq!((&seen["knowsOrganization"], &seen["blocked"]), (&json!(false), &json!(false)));
            assert!(seen["unproven"].to_string().contains("no known keys"), "{seen:#}");
        }
        // Exported again, only the time differs.
        let again = path(&jo, &format!("again-{index}.json"));
        export(&jo, id, &again).await.with(0).json();
        let same = away.run(&["proof", "compare", &file, &again]).await.with(0).json();
        assert_eq!(same["equal"], true, "{same:#}");
        export(&jo, id, &again).await.with(1).json();
    }
    let other = jo.run(&["proof", "compare", &path(&jo, "bundle-0.json"), &path(&jo, "bundle-1.json")]).await;
    assert!(!other.with(7).json()["differences"].as_array().expect("a list").is_empty());
}

#[tokio::test]
async fn a_lying_daemon_is_noticed_in_its_bundle() {
    let (daemon, pending) = waiting().await;
    let lie = |answer: &mut Value| {
        each_intent(answer, &|intent| {
            each_member(intent, "walletName", &|name| *name = json!("another name"));
        });
    };
    let honest = Operator::root(&daemon, 1);
    let proxy = TamperingProxy::start(honest.home(), daemon.socket(), lie);
    let jo = honest.through(proxy.socket());
    let file = path(&jo, "bundle.json");
    export(&jo, text(&pending["id"]), &file).await.with(7).json();
    let seen = without_connection(&jo).run(&["proof", "verify", &file]).await.with(7).json();
    let checks = seen["review"]["checks"].as_array().expect("checks");
    assert!(checks.iter().any(|check| check["id"] == "K4" && check["mark"] == "[x]"), "{seen:#}");
}

#[tokio::test]
async fn a_vote_is_signed_on_one_machine_and_sent_from_another() {
    let (daemon, pending) = waiting().await;
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    let jo = Operator::root(&daemon, 1);
    let away = without_connection(&jo);
    let (bundle, vote) = (path(&jo, "bundle.json"), path(&away, "vote.json"));
    export(&jo, id, &bundle).await.with(0).json();

    let wrong = "ab".repeat(32);
    let sign = async |hash: &str, rest: &[&str]| {
        let fixed = ["vote", "sign", &bundle, "--expect-sha256", hash, "--output", &vote];
        away.run(&[&fixed, rest].concat()).await
    };
    sign(&wrong, &[]).await.with(7).json();
    let unknown = sign(fingerprint, &[]).await.with(7).json();
    assert!(unknown.to_string().contains("no-known-keys"), "{unknown:#}");
    assert!(!Path::new(&vote).exists());
    let known = path(&jo, "known.json");
    fs::write(&known, jo.run(&["known-keys", "export"]).await.with(0).output).expect("a file");
    away.run(&["known-keys", "import", &known]).await.with(0).json();
    let signed = sign(fingerprint, &[]).await.with(0).json();
    assert_eq!((&signed["choice"], &signed["vote"]), (&json!("approve"), &json!("signed")));
    sign(fingerprint, &[]).await.with(1).json();
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "nothing was sent: {stored:#}");

    // A third member, without the key that signed, sends it.
    let ana = Operator::root(&daemon, 2);
    let sent = ana.run(&["vote", "submit", &vote]).await.with(0).json();
    assert_eq!(sent["status"], "ACTIVITY_STATUS_COMPLETED", "{sent:#}");
    let stored = daemon.root(0).activity(&pending["id"]).await;
    let written: Value = serde_json::from_str(&fs::read_to_string(&vote).expect("the vote")).expect("JSON");
    for member in ["message", "publicKey", "signature", "scheme"] {
        assert_eq!(stored["votes"][1][member], written[member], "{member}");
    }
    // Sent again, it is reported and counts once.
    let again = ana.run(&["vote", "submit", &vote]).await.with(0).json();
    assert_eq!(again["vote"], "already voted");
    for user in [&away, &ana] {
        user.run(&["journal", "verify"]).await.with(0).json();
    }
}

#[tokio::test]
async fn the_console_exports_and_compares() {
    let (daemon, pending) = waiting().await;
    let (jo, ana) = (Operator::root(&daemon, 1), Operator::root(&daemon, 2));
    let theirs = ana.home().join("theirs.json");
    let id = text(&pending["id"]);
    export(&ana, id, theirs.to_str().expect("a path in UTF-8")).await.with(0).json();
    let written = |name: &str| jo.home().join(format!("quorate-proof-{id}{name}.json"));
    let files = [written(""), written("-2")];
    fs::copy(&theirs, jo.home().join("theirs.json")).expect("a copy");
    let away = without_connection(&jo);
    let mut screen = Screen::open(jo);
    review(&mut screen, "two machines").await;
    for file in &files {
        screen.press("e");
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        // The whole path is shown, and may wrap at the end of a row.
        let joined = |text: &str| text.replace(['\n', ' '], "");
        screen.until("the path", |text| joined(text).contains(&name)).await;
        let file = file.to_str().expect("a path in UTF-8");
        away.run(&["proof", "verify", file]).await.with(0).json();
    }
    for (file, result) in [("./theirs.json", "EQUAL: all"), ("./nothing.json", "NOT COMPARED")] {
        screen.press("c");
        // What was compared before is still in the field.
        screen.press("\u{15}");
        screen.shows("nothing to compare yet").await;
        type_like_a_person(&mut screen, file).await;
        screen.shows("Enter compares with this file").await;
        screen.press("\r");
        screen.shows(result).await;
        screen.press("\u{1b}");
        screen.until("the review", |text| !text.contains("Compare with a file")).await;
    }
}

#[tokio::test]
async fn hostile_files_are_refused() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let jo = Operator::root(&daemon, 0);
    let file = path(&jo, "hostile.json");
    let start = "{\"format\":\"quorate-proof\",\"version\":1,\"contentSha256\":\"\u{9b}31m\",\"content\":";
    let deep = format!("{start}{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let hostile: [(Vec<u8>, i32, &str); 7] = [
        (Vec::new(), 2, "not JSON"),
        (vec![0xff; 10 * 1024 * 1024], 2, "not JSON"),
        (vec![b' '; 20 * 1024 * 1024], 1, "too large"),
        (deep.into_bytes(), 2, "not JSON"),
        (format!("{start}{{}}}}").into_bytes(), 7, "was changed after the export"),
        (b"{\"format\":\"quorate-proof\",\"version\":9}".to_vec(), 2, "has version 9"),
        (b"{\"format\":\"quorate-vote\",\"version\":1}".to_vec(), 2, "not a file that"),
    ];
    for (bytes, code, reason) in hostile {
        fs::write(&file, bytes).expect("a file");
        for command in [&["proof", "verify", &file][..], &["proof", "compare", &file, &file]] {
            let ended = jo.run(command).await.with(code);
            assert!(ended.stderr.contains(reason) && !ended.stderr.contains('\u{9b}'), "{reason}: {ended:?}");
        }
    }
    jo.run(&["proof", "verify", &path(&jo, "missing.json")]).await.with(3).json();
    jo.run(&["vote", "submit", &file]).await.with(2).json();
}
