//! A backup that is written during a history: the store that is restored from it is the one of a moment.

use std::path::Path;

use quorate_tests::caller::Caller;
use quorate_tests::http::Listener;
use quorate_tests::installation::{self, Installation};
use serde_json::Value;
use tokio::task::JoinHandle;

use super::Play;
use crate::model::comparison::{self, Answers};

/// Number of moves after the backup, which are lost.
const LATER: usize = 12;

/// The results of all queries at one moment.
pub(super) struct Moment {
    /// Public key of the user who sent the queries.
    reader: String,
    /// Results by the id of the organization.
    organizations: Vec<(String, Answers)>,
}

impl Play {
    /// Runs this many moves, and then more while a backup is written. Restores it on another machine after further moves: all
    /// query results are those of one moment while it was written.
    pub(in crate::model) async fn run_with_backup(mut self, moves: usize) {
        for number in 1..=moves {
            self.number = number;
            self.make_move().await;
        }
        self.compare().await;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history.backup");
        let running = self.back_up(folder.path(), &file);
        self.moments = Some(Vec::new());
        self.keep_moment().await;
        while !running.is_finished() {
            self.number += 1;
            self.make_move().await;
            self.keep_moment().await;
        }
        let moments = self.moments.take().unwrap_or_default();
        let run = running.await.expect("the backup ends");
        assert_eq!(run.code, 0, "{run:#?}");
        let made: Value = serde_json::from_str(&run.output).expect("JSON");
        if moments.iter().any(|moment| moment.organizations.is_empty()) {
            return eprintln!("seed {}: at one moment, no key could be used after a restore", self.seed);
        }
        assert!(moments.len() > 2, "no moves were made while the backup was written: {made:#}");
        for _ in 0..LATER {
            self.number += 1;
            self.make_move().await;
        }
        self.current = String::from("comparing the restored store");
        let target = Installation::new("file = \"root.key\"");
        std::fs::copy(self.daemon.data().join("root.key"), target.path("root.key")).expect("copied");
        let configuration = target.path("quorated.toml");
        let words = ["restore", text(&file), "--config", text(&configuration)];
        let restored = installation::run(&target.path(""), &words).await;
        assert_eq!(restored.code, 0, "{restored:#?}");
        let verified = target.verify().await;
        assert_eq!(verified.code, 0, "{verified:#?}");
        let served = target.serve().await;
        let count = moments.len();
        let mut found = None;
        for (at, moment) in moments.iter().enumerate() {
            if self.is_at(moment, served.listener()).await {
                found = Some(at);
            }
        }
        let found = found.expect("the restored store is that of a moment while the backup was written");
        eprintln!("seed {}: {count} moments during a backup, restored to number {}", self.seed, found + 1);
    }

    fn back_up(&self, folder: &Path, file: &Path) -> JoinHandle<installation::Run> {
        let Listener::Socket(socket) = self.daemon.socket() else { panic!("the socket is a file") };
        let data = self.daemon.data();
        let configuration = folder.join("quorated.toml");
        let text_of = format!(
            "[socket]\npath = \"{}\"\n\n[store]\npath = \"{}\"\n\n[key]\nfile = \"{}\"\n",
            socket.display(),
            data.display(),
            data.join("root.key").display()
        );
        std::fs::write(&configuration, text_of).expect("written");
        let (folder, file) = (folder.to_owned(), file.to_owned());
        tokio::spawn(async move {
            let words = ["backup", "--config", text(&configuration), "--to", text(&file), "--json"];
            installation::run(&folder, &words).await
        })
    }

    /// Keeps the present moment, if moments are kept. The model may not know yet what the last request has changed.
    pub(super) async fn keep_moment(&mut self) {
        if self.moments.is_none() {
            return;
        }
        // Keys that expire end with a restore.
        let users = self.world.organizations[0].users.iter();
        let mut keys = users.flat_map(|user| &user.api_keys);
        let lasting = keys.find(|key| key.life_seconds.is_none() && key.allowlist.is_none());
        let reader = lasting.map(|key| key.public_key.clone()).unwrap_or_default();
        let mut organizations = Vec::new();
        if reader.is_empty() {
            self.moments.get_or_insert_default().push(Moment { reader, organizations });
            return;
        }
        for organization in &self.world.organizations {
            let key = self.keys.of(&reader);
            let caller = Caller::new(self.daemon.socket(), &organization.id, key);
            if caller.query("list_users", serde_json::json!({})).await.status == 200 {
                organizations.push((organization.id.clone(), comparison::query_everything(&caller).await));
            }
        }
        if !organizations.is_empty() {
            self.moments.get_or_insert_default().push(Moment { reader, organizations });
        }
    }

    /// Returns whether a daemon gives these results.
    async fn is_at(&self, moment: &Moment, listener: &Listener) -> bool {
        for (id, answers) in &moment.organizations {
            let caller = Caller::new(listener.clone(), id, self.keys.of(&moment.reader));
            let reply = caller.query("list_users", serde_json::json!({})).await;
            // A child may have registered the same key as one that expires, which has ended with the restore.
            if reply.json()["turnkeyErrorCode"] == "API_KEY_EXPIRED" {
                continue;
            }
            // The organization, or the key, may not be there.
            if reply.status != 200 {
                return false;
            }
            if comparison::query_everything(&caller).await != *answers {
                return false;
            }
        }
        true
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
