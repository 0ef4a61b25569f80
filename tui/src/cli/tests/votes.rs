//! Tests of votes that are signed on one machine and sent from another.

use std::path::{Path, PathBuf};

use super::*;
use crate::ballot::Ballot;
use crate::proof::Bundle;
use crate::vote_file::VoteFile;

const KNOWN: [&str; 2] = ["--allow-flag", "no-known-keys"];
const FLAGS: [&str; 4] = ["--allow-flag", "quorum-lowered", "--allow-flag", "sets-quorum"];
const ELSEWHERE: [&str; 2] = ["--organization", "00000000-0000-4000-8000-000000000001"];

#[test]
fn a_machine_that_knows_nothing_names_all_that_it_misses() {
    runtime(async {
        let (_, record) = tag_proposal();
        let machines = Machines::start(&record).await;
        let (bundle, vote) = (machines.bundle(), machines.vote());
        let sign = async |selected: &[&str]| {
            let words =
                ["vote", "sign", text(&bundle), "--expect-sha256", &machines.hash, "--output", text(&vote)];
            let all: Vec<String> = selected.iter().chain(&words).map(|word| (*word).to_owned()).collect();
            let (exit, data) = run_with(&all, &machines.away()).await;
            (exit, data[0]["error"]["message"].as_str().unwrap_or_default().to_owned())
        };
        let id = Fixture::id().to_string();
        for (selected, missing) in [
            (&[][..], "--organization ID --user USER --key KEY"),
            (&["--user", "mira"], "--organization ID --key KEY"),
            (&["--organization", &id], "--user USER --key KEY"),
        ] {
            let (exit, message) = sign(selected).await;
            assert_eq!(exit, Exit::Usage, "{message}");
            assert!(message.contains(&format!("missing: {missing}; nothing was signed")), "{message}");
        }
        assert!(!vote.exists());
    });
}

/// Two machines: one that reaches a test daemon, and one with a key.
struct Machines {
    fake: Fake,
    folder: tempfile::TempDir,
    hash: String,
}

impl Machines {
    /// Starts a daemon with this record, made just now, and exports it as mira.
    async fn start(record: &ReviewRecord) -> Self {
        let record = fresh(record);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let folder = tempfile::tempdir().unwrap();
        let machines = Self { fake, folder, hash };
        let bundle = machines.bundle();
        let words = ["proof", "export", &id, "--output", text(&bundle)];
        let (exit, data) = Box::pin(at(&machines.fake, "mira", &words)).await;
        assert_eq!(exit, Exit::Done, "{data:?}");
        machines
    }

    fn bundle(&self) -> PathBuf {
        self.folder.path().join("bundle.json")
    }

    fn vote(&self) -> PathBuf {
        self.folder.path().join("vote.json")
    }

    fn away(&self) -> Folders {
        Folders { config: self.folder.path().join("config"), state: self.folder.path().join("state") }
    }

    /// Runs a command on the machine without connection.
    async fn run_away(&self, words: &[&str]) -> (Exit, String) {
        let credentials = self.fake.credentials().display().to_string();
        let fixed =
            ["--credentials", &credentials, "--socket", "nothing-listens-here.sock", "--user", "mira"];
        let all: Vec<String> = fixed.iter().chain(words).map(|word| (*word).to_owned()).collect();
        let (exit, data) = run_with(&all, &self.away()).await;
        (exit, data.first().map(Value::to_string).unwrap_or_default())
    }

    async fn sign(&self, rest: &[&str]) -> (Exit, String) {
        let (bundle, vote) = (self.bundle(), self.vote());
        let fixed = ["vote", "sign", text(&bundle), "--expect-sha256", &self.hash, "--output", text(&vote)];
        self.run_away(&[&fixed, rest].concat()).await
    }

    async fn submit(&self, options: &[&str]) -> (Exit, String) {
        let vote = self.vote();
        let words = [options, &["vote", "submit", text(&vote)]].concat();
        let (exit, data) = at(&self.fake, "ana", &words).await;
        (exit, data[0].to_string())
    }

    fn sent(&self) -> usize {
        self.fake.votes.lock().unwrap().len()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_signed_bytes_are_sent_and_both_machines_keep_a_journal() {
    runtime(async {
        let machines = Machines::start(&tag_proposal().1).await;
        assert_eq!(machines.sign(&[]).await.0, Exit::Verification, "nothing is known of the organization");
        assert!(!machines.vote().exists());
        assert_eq!(machines.sign(&KNOWN).await.0, Exit::Done);
        assert_eq!(machines.sent(), 0);
        let (exit, answer) = machines.submit(&[]).await;
        assert_eq!((exit, machines.sent()), (Exit::Done, 1), "{answer}");
        let file: Value = serde_json::from_slice(&std::fs::read(machines.vote()).unwrap()).unwrap();
        assert_eq!(json!(machines.fake.votes.lock().unwrap()[0]), file["message"]);
        let (exit, answer) = machines.submit(&[]).await;
        assert_eq!((exit, machines.sent()), (Exit::Done, 1));
        assert!(answer.contains("already voted"), "{answer}");
        for (folders, outcome) in
            [(machines.away(), "signed, not sent"), (machines.fake.folders(), "executed")]
        {
            let journal = crate::journal::read(&folders.journal()).unwrap();
            let [entry] = journal.newest.as_slice() else { unreachable!("{journal:?}") };
            assert_eq!((entry.outcome.as_str(), journal.count, journal.broken_at), (outcome, 1, None));
        }
    });
}

#[test]
fn signing_has_the_rules_of_approve() {
    runtime(async {
        let machines = Machines::start(&threshold_proposal().1).await;
        let (exit, answer) = machines.sign(&[&KNOWN, &FLAGS[..2]].concat()).await;
        assert_eq!(exit, Exit::Verification);
        assert!(answer.contains("--allow-flag sets-quorum"), "{answer}");
        let other = [&KNOWN[..], &FLAGS, &["--expect-type", "ACTIVITY_TYPE_CREATE_WALLET"]].concat();
        assert_eq!(machines.sign(&other).await.0, Exit::Verification);
        let (bundle, vote) = (machines.bundle(), machines.vote());
        let unnamed =
            ["vote", "sign", text(&bundle), "--output", text(&vote), "--allow-flag", "no-known-keys"];
        assert_eq!(machines.run_away(&unnamed).await.0, Exit::Usage);
        let (exit, answer) = machines.sign(&[&KNOWN[..], &FLAGS, &ELSEWHERE].concat()).await;
        assert_eq!(exit, Exit::Verification);
        assert!(answer.contains("is pinned"), "{answer}");
        assert!(!machines.vote().exists());
        assert_eq!(machines.sign(&[&KNOWN[..], &FLAGS].concat()).await.0, Exit::Done);
        assert_eq!(machines.submit(&[]).await.0, Exit::Waiting);
    });
}

#[test]
fn a_rejection_is_signed_and_sent() {
    runtime(async {
        let machines = Machines::start(&tag_proposal().1).await;
        let (exit, answer) = machines.sign(&[&KNOWN[..], &["--reject", "--note", "no"]].concat()).await;
        assert_eq!(exit, Exit::Done, "{answer}");
        let (exit, answer) = machines.submit(&[]).await;
        assert_eq!((exit, machines.sent()), (Exit::Done, 1), "{answer}");
        assert!(answer.contains("rejected"), "{answer}");
        let (exit, answer) = machines.submit(&[]).await;
        assert_eq!((exit, machines.sent()), (Exit::Rejected, 1), "{answer}");
    });
}

#[test]
fn changed_activities_are_not_voted_on() {
    runtime(async {
        type Change = fn(&mut ReviewRecord);
        let changes: [(&str, Change); 4] = [
            ("voted", |record| Fixture::new(5, 3).approve(record, 2)),
            ("the daemon's intent", |record| record.row.activity.intent = json!({})),
            ("executed", |record| record.row.activity.status = Status::Completed),
            ("organization", |record| record.organization.users.truncate(4)),
        ];
        for (reason, change) in changes {
            let machines = Machines::start(&threshold_proposal().1).await;
            assert_eq!(machines.sign(&[&KNOWN[..], &FLAGS].concat()).await.0, Exit::Done);
            change(&mut machines.fake.record.lock().unwrap());
            let (exit, answer) = machines.submit(&[]).await;
            assert_ne!(exit, Exit::Done, "{reason}");
            assert!(answer.contains(reason) && answer.contains("nothing was sent"), "{reason}: {answer}");
            assert_eq!(machines.sent(), 0, "{reason}");
        }
    });
}

#[test]
fn invalid_votes_are_refused_in_plain_words() {
    runtime(async {
        let machines = Machines::start(&tag_proposal().1).await;
        assert_eq!(machines.sign(&KNOWN).await.0, Exit::Done);
        let file: Value = serde_json::from_slice(&std::fs::read(machines.vote()).unwrap()).unwrap();
        let check = async |file: &Value, exit: Exit, words: &str| {
            std::fs::write(machines.vote(), file.to_string()).unwrap();
            let (found, answer) = machines.submit(&[]).await;
            assert_eq!(found, exit, "{words}: {answer}");
            assert!(answer.contains(words), "{words}: {answer}");
        };
        let unsigned = "the signature does not match";
        for (member, value, exit, words) in [
            ("message", json!("x"), Exit::Verification, unsigned),
            ("signature", json!("00"), Exit::Verification, unsigned),
            ("scheme", json!("x"), Exit::Verification, unsigned),
            ("publicKey", json!(Fixture::stamper(1).public_key()), Exit::Verification, unsigned),
            ("choice", json!("reject"), Exit::Verification, "not this vote"),
            ("choice", json!("both"), Exit::Verification, "not this vote"),
            ("userId", json!(Fixture::user(2)), Exit::Denied, "not a key of user"),
            ("version", json!(2), Exit::Usage, "has version 2"),
            ("format", json!("x"), Exit::Usage, "not a file that"),
            ("more", json!(1), Exit::Usage, "more"),
            ("bundle", json!({}), Exit::Usage, "proof bundle"),
        ] {
            let mut changed = file.clone();
            changed[member] = value;
            check(&changed, exit, words).await;
        }
        let mut other = file.clone();
        other["bundle"]["content"]["signed"]["fingerprint"] = json!(format!("sha256:{}", "ab".repeat(32)));
        check(&other, Exit::Verification, "was changed after the export").await;

        // Signed two hours ago, and by a clock that is ahead.
        let bundle = Bundle::read(file["bundle"].to_string().as_bytes()).unwrap();
        for (at, words) in [(now_millis() - 7_200_000, "has expired"), (now_millis() + 900_000, "ahead")] {
            let ballot = Ballot::vote(true, Fixture::id(), bundle.fingerprint(), at);
            let stamp = Fixture::stamper(0).stamp(ballot.message.as_bytes()).unwrap();
            let vote = VoteFile::new(Fixture::user(0), &ballot, &stamp, &[], &bundle);
            check(&vote.json(), Exit::Denied, words).await;
        }
        assert_eq!(machines.sent(), 0);
        std::fs::write(machines.vote(), file.to_string()).unwrap();
        let (exit, answer) = machines.submit(&ELSEWHERE).await;
        assert_eq!(exit, Exit::Verification);
        assert!(answer.contains("signed for organization"), "{answer}");
        assert_eq!((machines.submit(&[]).await.0, machines.sent()), (Exit::Done, 1));
    });
}
