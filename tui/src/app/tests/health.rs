//! The screen Health: figures and pictures, findings, and that nothing happens while another screen is shown.

use std::collections::BTreeMap;

use quorate_common::console::{EngineStatus, Mode, QueueFigures, StoreDaemon};
use quorate_common::wire::Timestamp;

use super::*;
use crate::doctor::{Daemon, Finding, Level, of_daemon};

impl TestConsole {
    /// Delivers the figures of this many seconds.
    pub(super) fn figures(&mut self, seconds: u64) {
        let start = self.now;
        for second in 0..=seconds {
            self.now = start + second * 1000;
            self.model.shared.now = self.now;
            let mut health = Fixture::health(second);
            health.status.now_millis = self.now;
            self.link(Answer::Health(Box::new(health), Some(false)));
        }
    }
}

fn orders(effects: &[Effect]) -> usize {
    effects.iter().filter(|effect| **effect == Effect::Order(Order::Health)).count()
}

fn console(size: (u16, u16)) -> TestConsole {
    let (fixture, records) = two_proposals();
    TestConsole::new(&fixture, &records, size)
}

#[test]
fn a_daemon_at_a_url_has_no_figures_to_load() {
    let mut console = console((120, 36));
    console.model.shared.identity.viewer.is_remote = true;
    assert_eq!(orders(&console.press(Key::Char('7'))), 0);
    assert_eq!(orders(&console.wait(5_000)), 0);
    let shown = console.shown();
    assert!(!shown.contains("Loading the figures"), "{shown}");
    assert!(shown.contains("Not available at a URL"), "{shown}");
}

#[test]
fn warnings_of_the_daemon_are_findings() {
    let mut health = Fixture::health(1);
    health.warnings = vec!["first\u{1b}[31m".to_owned(), "second".to_owned()];
    let received = health.status.now_millis;
    let findings = of_daemon(&Daemon { health: Ok(&health), received, is_same_host: None });
    let found: Vec<_> = findings.iter().filter(|one| one.code == "daemon-configuration").collect();
    assert!(found.iter().all(|one| one.level == Level::Warning && !one.what.contains('\u{1b}')), "{found:?}");
    assert_eq!(found.iter().map(|one| one.what.get(..5)).collect::<Vec<_>>(), [Some("first"), Some("secon")]);
}

#[test]
fn backups_are_those_of_the_engine() {
    let mut health = Fixture::health(1);
    health.status.mode = Mode::Production;
    health.status.last_backup = None;
    for (engine, expected) in
        [("sled", "quorated backup"), ("redb", "quorated backup"), ("postgres", "database")]
    {
        health.status.engine = Some(Box::new(EngineStatus {
            server: None,
            name: engine.to_owned(),
            durability: BTreeMap::default(),
            warning: (engine == "postgres").then(|| "no standby".to_owned()),
            daemons: Vec::new(),
            notice_lag_millis: None,
        }));
        let received = health.status.now_millis;
        let findings = of_daemon(&Daemon { health: Ok(&health), received, is_same_host: None });
        let durability = findings.iter().find(|one| one.code == "store-durability");
        assert_eq!(durability.is_some_and(|one| one.what.ends_with(": no standby")), engine == "postgres");
        let backups = findings.iter().find(|one| one.code == "backups");
        assert!(backups.is_some_and(|one| one.advice.contains(expected)), "{engine}: {backups:?}");
    }
    assert!(
        of_daemon(&Daemon { health: Ok(&health), received: 0, is_same_host: None })
            .iter()
            .all(|one| one.code != "store-held")
    );
    health.status.awaits_release = true;
    assert!(
        of_daemon(&Daemon { health: Ok(&health), received: 0, is_same_host: None })
            .iter()
            .any(|one| one.code == "store-held")
    );
    for (days, expected) in [(1, None), (3, Some("the newest backup is 3d00h old"))] {
        health.status.last_backup = Some(health.status.now_millis - days * 24 * 60 * 60_000);
        let received = health.status.now_millis;
        let findings = of_daemon(&Daemon { health: Ok(&health), received, is_same_host: None });
        let backups = findings.iter().find(|one| one.code == "backups").map(|one| one.what.as_str());
        assert_eq!(backups, expected);
    }
}

#[test]
fn a_daemon_without_a_sign_of_life_is_a_finding() {
    let mut health = Fixture::health(1);
    let daemon = |id: &str, silent_millis, is_queried| StoreDaemon {
        id: format!("{id}-rest"),
        version: "1.0.0".to_owned(),
        silent_millis,
        is_queried,
    };
    let mut found = |daemons| {
        health.status.engine = Some(Box::new(EngineStatus {
            server: None,
            name: "postgres".to_owned(),
            durability: BTreeMap::default(),
            warning: None,
            daemons,
            notice_lag_millis: None,
        }));
        let received = health.status.now_millis;
        let findings = of_daemon(&Daemon { health: Ok(&health), received, is_same_host: None });
        let silent = findings.into_iter().find(|one| one.code == "daemon-silent");
        silent.map(|one| (one.level, one.what))
    };
    // The daemon that answers lives, whatever its row states.
    assert_eq!(found(vec![daemon("own", 9000, true), daemon("other", 4900, false)]), None);
    let one = found(vec![daemon("own", 0, true), daemon("lost", 8000, false)]);
    let words = "1 other daemon of the store gives no sign of life: lost";
    assert_eq!(one, Some((Level::Warning, words.to_owned())));
    let two = found(vec![daemon("lost", 8000, false), daemon("gone", 90_000, false)]);
    let words = "2 other daemons of the store give no sign of life: lost, gone";
    assert_eq!(two, Some((Level::Warning, words.to_owned())));
}

#[test]
fn figures_are_read_once_a_second_while_the_screen_is_shown() {
    let mut console = console((80, 24));
    for _ in 0..20 {
        assert_eq!(console.wait(200), [], "another screen is shown");
    }
    let opened = console.press(Key::Char('7'));
    assert_eq!(orders(&opened), 1);
    assert!(opened.contains(&Effect::Examine), "{opened:?}");
    // An order that is not answered is not repeated.
    assert_eq!(orders(&console.wait(5000)), 0);
    let health = |second| Answer::Health(Box::new(Fixture::health(second)), None);
    assert_eq!(orders(&console.link(health(1))), 1);
    console.link(health(2));
    let mut count = 0;
    for _ in 0..10 {
        if orders(&console.wait(200)) > 0 {
            count += 1;
            console.link(health(2 + count));
        }
    }
    assert_eq!(count, 2);
    console.press(Key::Char('1'));
    console.link(health(9));
    assert!((0..20).all(|_| console.wait(200).is_empty()));
    // Without figures nothing is drawn again.
    console.model.dirty = false;
    console.wait(200);
    assert!(!console.model.dirty);
}

#[test]
fn every_pane_is_reached_at_every_size() {
    for size in SIZES {
        let mut console = console(size);
        console.press(Key::Char('7'));
        console.figures(60);
        let mut shown = Vec::new();
        for _ in 0..3 {
            loop {
                shown.push(console.shown());
                console.press(Key::PageDown);
                if shown.last() == Some(&console.shown()) {
                    break;
                }
            }
            console.press(Key::Tab);
        }
        let all = shown.join("\n");
        for text in
            ["requests", "p99", "memory", "12 GiB free", "times", "READY", "ahead of", "webhooks", "DEV mode"]
        {
            assert!(all.contains(text), "{text} at {size:?}:\n{all}");
        }
        snapshot(&format!("health_panes_{}x{}", size.0, size.1), &all);
    }
}

#[test]
fn a_restart_of_the_daemon_starts_the_history_again() {
    let mut console = console((120, 36));
    console.press(Key::Char('7'));
    console.figures(30);
    assert!(console.shown().contains("/s; 1"), "{}", console.shown());
    let mut health = Fixture::health(0);
    health.status.process_id = 2;
    console.link(Answer::Health(Box::new(health), Some(true)));
    assert!(console.shown().contains("0.0/s; 19 since start"), "{}", console.shown());
}

#[test]
fn findings_of_the_files_and_the_connection_are_shown() {
    let mut console = console((120, 36));
    console.press(Key::Char('7'));
    console.figures(2);
    let finding = crate::doctor::organization_missing(Fixture::id());
    update(
        &mut console.model,
        Msg::Examined(vec![Finding { what: "key: not readable".to_owned(), ..finding }]),
    );
    let shown = console.shown();
    assert!(shown.contains("[x] key: not readable"), "{shown}");
    assert!(shown.contains("7 Health 3!"), "{shown}");
    console.link(Answer::Lost(LinkError::Down("/run/q.sock".to_owned()), 1));
    let shown = console.shown();
    assert!(shown.contains("Start the daemon"), "{shown}");
    assert!(
        shown.contains("unknown: the connection was lost") && !shown.contains("accepts changes"),
        "{shown}"
    );
    console.link(Answer::Failed(Subject::Health, LinkError::Lost("gone".to_owned())));
}

#[test]
fn an_outage_of_the_mail_server_is_the_same_finding_at_any_time() {
    let found = |next: Option<u64>, since: Option<u64>, delayed: u64| {
        let mut health = Fixture::health(0);
        health.mail = QueueFigures {
            waiting: 2,
            next_at: next.map(Timestamp::from_millis),
            delayed: Some(delayed),
            unavailable_since: since.map(Timestamp::from_millis),
            ..QueueFigures::default()
        };
        let daemon = Daemon { health: Ok(&health), received: NOW, is_same_host: None };
        let found = of_daemon(&daemon).into_iter().find(|one| one.code.starts_with("mail"));
        found.map(|one| (one.code, one.level, one.what))
    };
    let (since, late) = (Some(NOW - 60_000), NOW + 140_000);
    let outage = found(None, since, 0).unwrap();
    assert_eq!((outage.0, outage.1), ("mail-unavailable", Level::Problem));
    assert!(outage.2.ends_with("2 mail waiting"), "{}", outage.2);
    for next in [Some(NOW - 1), Some(NOW + 1), Some(late)] {
        assert_eq!(found(next, since, 2), Some(outage.clone()));
    }
    // A server that takes some messages only later is no outage.
    let delayed = found(None, None, 1);
    assert!(matches!(delayed, Some(("mail-late", Level::Warning, _))), "{delayed:?}");
    assert_eq!(found(Some(late), None, 1), delayed);
    assert!(matches!(found(Some(late), None, 0), Some(("mail-late", Level::Warning, _))));
    assert_eq!(found(Some(NOW), None, 0), None);
}
