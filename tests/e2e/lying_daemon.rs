//! A daemon that lies about its lists and versions: lists without end, lists without their entries, and states of the past.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET};
use quorate_tests::tampering_proxy::{TamperingProxy, each_member};
use serde_json::{Value, json};

use crate::console::{review, type_like_a_person};
use crate::screen::Screen;

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Starts a daemon with two activities that wait.
async fn waiting() -> (Daemon, [Value; 2]) {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let mut pending = Vec::new();
    for name in ["first", "second"] {
        pending.push(daemon.root(0).waiting(CREATE_WALLET, &requests::wallet(name)).await);
    }
    (daemon, pending.try_into().expect("two activities"))
}

fn folder(daemon: &Daemon, name: &str) -> PathBuf {
    let folder = daemon.folder().join(name);
    std::fs::create_dir(&folder).expect("a new folder");
    folder
}

/// Starts a proxy whose pages with these members lead to one of two cursors by turns.
fn endless(daemon: &Daemon, name: &str, members: &'static [&str], cursors: [String; 2]) -> TamperingProxy {
    let count = AtomicUsize::new(0);
    TamperingProxy::start(&folder(daemon, name), daemon.socket(), move |answer| {
        if members.iter().all(|member| answer.get(member).is_some()) && answer.get("code").is_none() {
            let turn = count.fetch_add(1, Ordering::Relaxed);
            answer["next"] = json!(cursors[turn % 2]);
        }
    })
}

#[tokio::test]
async fn lists_without_end_are_errors() {
    type List<'a> = (&'a str, &'static [&'static str], [String; 2], Vec<&'a str>);
    let (daemon, [first, second]) = waiting().await;
    let ids = [text(&first["id"]).to_owned(), text(&second["id"]).to_owned()];
    let own = daemon.root(0).organization().to_owned();
    let of = |form: &dyn Fn(&str) -> String| [form(&ids[0]), form(&ids[1])];
    let inbox = of(&|id| format!("0.{own}.{id}"));
    let lists: [List<'_>; 6] = [
        ("inbox", &["organizations", "isComplete"], inbox.clone(), vec!["approvals", "ls"]),
        (
            "history",
            &["activities"],
            of(&|id| format!("0.{id}")),
            vec!["activity", "ls", "--limit", "1000000"],
        ),
        ("organizations", &["organizations"], [own.clone(), own.clone()], vec!["org", "ls"]),
        ("messages", &["events"], of(&ToOwned::to_owned), vec!["messages", "ls"]),
        ("parked", &["destinations"], [own.clone(), own.clone()], vec!["webhook", "parked"]),
        ("siblings", &["activities"], of(&ToOwned::to_owned), vec!["review", &ids[0]]),
    ];
    for (name, members, cursors, command) in lists {
        let proxy = endless(&daemon, name, members, cursors);
        let bob = Operator::root(&daemon, 1).through(proxy.socket());
        let ended = bob.run(&command).await.with(1);
        assert!(ended.stderr.contains("the daemon repeats a page of a list"), "{name}: {ended:#?}");
    }
    let proxy = endless(&daemon, "console", &["organizations", "isComplete"], inbox);
    let mut screen = Screen::open(Operator::root(&daemon, 1).through(proxy.socket()));
    screen.shows("the daemon repeats a page of a list").await;
}

#[tokio::test]
async fn a_list_without_what_the_daemon_counts_is_noticed() {
    let (daemon, _) = waiting().await;
    let proxy = TamperingProxy::start(&folder(&daemon, "empty"), daemon.socket(), |answer| {
        if answer.get("isComplete").is_some() {
            answer["organizations"] = json!([]);
        }
    });
    let bob = Operator::root(&daemon, 1).through(proxy.socket());
    let ended = bob.run(&["approvals", "ls"]).await.with(0);
    assert!(ended.stderr.contains("the daemon states that 2 activities wait, but lists 0"), "{ended:#?}");
    Screen::open(bob).shows("The daemon counts 2 that wait, but lists none").await;
    // One that shows the truth is believed.
    let ended = Operator::root(&daemon, 1).run(&["approvals", "ls"]).await.with(0);
    assert!(!ended.stderr.contains("but lists"), "{ended:#?}");
}

#[tokio::test]
async fn a_state_of_the_past_is_refused() {
    let (daemon, [first, _]) = waiting().await;
    let is_old = Arc::new(AtomicBool::new(false));
    let tampers = Arc::clone(&is_old);
    let proxy = TamperingProxy::start(&folder(&daemon, "old"), daemon.socket(), move |answer| {
        if tampers.load(Ordering::Relaxed) {
            each_member(answer, "version", &|version| {
                if version.is_u64() {
                    *version = json!(1);
                }
            });
        }
    });
    let mut screen = Screen::open(Operator::root(&daemon, 1).through(proxy.socket()));
    review(&mut screen, "first").await;
    is_old.store(true, Ordering::Relaxed);
    screen.press("x");
    screen.shows("Enter works on a button only").await;
    type_like_a_person(&mut screen, "y\t\t").await;
    screen.shows("> [Continue]").await;
    type_like_a_person(&mut screen, "\r").await;
    screen.shows("states version 1 of").await;
    let stored = daemon.root(0).activity(&first["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "nothing was sent: {stored:#}");
    // The present state is used again.
    is_old.store(false, Ordering::Relaxed);
    screen.press("\u{1b}");
    review(&mut screen, "first").await;
}
