//! Tests of exit codes and output data, against a test daemon behind a real socket.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use clap::Parser;
use quorate_common::activity::Status;
use quorate_common::console::ReviewRecord;
use quorate_common::wire::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::clock::now_millis;
use crate::failure::Exit;
use crate::fake::{Behavior, Fake};
use crate::testing::{Fixture, NOW, tag_proposal, threshold_proposal};

mod votes;

/// Returns the record as if it was made just now.
fn fresh(record: &ReviewRecord) -> ReviewRecord {
    let fixture =
        Fixture::new(record.organization.users.len(), record.organization.head.root_quorum.threshold);
    let activity = &record.row.activity;
    let message = activity.votes[0].message.replace(&(NOW - 600_000).to_string(), &now_millis().to_string());
    let mut record = fixture.propose_bytes(1, &message, &activity.activity_type, activity.intent.clone());
    record.row.activity.created_at = Timestamp::from_millis(now_millis());
    record.row.activity.votes[0].created_at = Timestamp::from_millis(now_millis());
    record
}

async fn run_with(words: &[String], folders: &Folders) -> (Exit, Vec<Value>) {
    let all = std::iter::once("quorate").chain(words.iter().map(String::as_str));
    let Ok(arguments) = Arguments::try_parse_from(all) else { return (Exit::Usage, Vec::new()) };
    match run(&arguments, arguments.command.as_ref().unwrap(), folders).await {
        Ok(answer) => (answer.exit, answer.data),
        Err(failure) => (failure.exit, vec![failure.json()]),
    }
}

/// Runs a command as a user of a test daemon.
async fn at(fake: &Fake, user: &str, words: &[&str]) -> (Exit, Vec<Value>) {
    let mut all = vec![
        "--credentials".to_owned(),
        fake.credentials().display().to_string(),
        "--user".to_owned(),
        user.to_owned(),
    ];
    all.extend(words.iter().map(|word| (*word).to_owned()));
    run_with(&all, &fake.folders()).await
}

fn runtime(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(test);
}

fn references(record: &ReviewRecord) -> (String, String) {
    (record.row.activity.id.to_string(), record.row.activity.fingerprint.hex())
}

#[test]
fn approves_a_reviewed_activity() {
    runtime(async {
        let (_, record) = tag_proposal();
        let record = fresh(&record);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let (exit, data) = at(&fake, "mira", &["review", &hash, "--json"]).await;
        assert_eq!((exit, &data[0]["blocked"], &data[0]["risk"]), (Exit::Done, &json!(false), &json!("LOW")));
        assert_eq!(data[0]["votes"]["needed"], json!(2));
        let (exit, data) = at(&fake, "mira", &["approvals", "ls", "--mine"]).await;
        assert_eq!((exit, data.len(), &data[0]["mine"]), (Exit::Done, 1, &json!(true)));
        assert_eq!(at(&fake, "mira", &["approvals", "ls", "--others"]).await.1.len(), 0);
        let (exit, data) = at(
            &fake,
            "mira",
            &["approve", &id, "--expect-sha256", &hash, "--expect-type", "ACTIVITY_TYPE_CREATE_USER_TAG"],
        )
        .await;
        assert_eq!(
            (exit, &data[0]["vote"], &data[0]["outcome"]),
            (Exit::Done, &json!("recorded"), &json!("executed")),
            "{data:?}"
        );
        let sent = fake.votes.lock().unwrap().clone();
        assert_eq!(sent.len(), 1);
        assert!(sent[0].contains(&format!("\"fingerprint\":\"sha256:{hash}\"")));
        assert_eq!(at(&fake, "ana", &["activity", "wait", &id]).await.0, Exit::Done);
        assert_eq!(at(&fake, "ana", &["approve", &id, "--expect-sha256", &hash]).await.0, Exit::Failed);
    });
}

#[test]
fn repeated_approvals_are_not_sent() {
    runtime(async {
        let (_, record) = threshold_proposal();
        let record = fresh(&record);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let flagged = [
            "approve",
            &id,
            "--expect-sha256",
            &hash,
            "--allow-flag",
            "quorum-lowered",
            "--allow-flag",
            "sets-quorum",
        ];
        let (exit, data) = at(&fake, "mira", &flagged).await;
        assert_eq!((exit, &data[0]["outcome"]), (Exit::Waiting, &json!("waiting")), "{data:?}");
        let (exit, data) = at(&fake, "mira", &flagged).await;
        assert_eq!((exit, &data[0]["vote"]), (Exit::Waiting, &json!("already voted")));
        assert_eq!(fake.votes.lock().unwrap().len(), 1);
        assert_eq!(at(&fake, "mira", &["activity", "wait", &id, "--timeout", "0"]).await.0, Exit::Waiting);
        assert_eq!(at(&fake, "kenji", &["reject", &id, "--note", "no"]).await.0, Exit::Done);
        assert_eq!(at(&fake, "mira", &["activity", "wait", &id]).await.0, Exit::Rejected);
        assert_eq!(
            at(
                &fake,
                "sam",
                &[
                    "approve",
                    &id,
                    "--expect-sha256",
                    &hash,
                    "--allow-flag",
                    "quorum-lowered",
                    "--allow-flag",
                    "sets-quorum"
                ]
            )
            .await
            .0,
            Exit::Rejected
        );
    });
}

#[test]
fn unexpected_activities_are_not_approved() {
    runtime(async {
        let (_, record) = threshold_proposal();
        let record = fresh(&record);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let refused = async |words: &[&str], exit: Exit| {
            assert_eq!(at(&fake, "mira", words).await.0, exit, "{words:?}");
        };
        refused(&["approve", &id], Exit::Usage).await;
        refused(&["approve", &id, "--expect-sha256", "xyz"], Exit::Usage).await;
        refused(
            &[
                "approve",
                &id,
                "--expect-sha256",
                &"0".repeat(64),
                "--allow-flag",
                "quorum-lowered",
                "--allow-flag",
                "sets-quorum",
            ],
            Exit::Verification,
        )
        .await;
        refused(&["approve", &id, "--expect-sha256", &hash], Exit::Verification).await;
        let unnamed = at(&fake, "mira", &["approve", &id, "--expect-sha256", &hash]).await.1;
        let message = "2 HIGH flags must be accepted by name: --allow-flag quorum-lowered --allow-flag sets-quorum; nothing was \
                       sent\n  quorum-lowered: ";
        let reason = unnamed[0]["error"]["message"].as_str().unwrap();
        assert!(reason.starts_with(message) && reason.contains("\n  sets-quorum: "), "{reason}");
        let one_named = ["approve", &id, "--expect-sha256", &hash, "--allow-flag", "sets-quorum"];
        let message = "1 HIGH flag must be accepted by name: --allow-flag quorum-lowered; nothing was sent";
        let ended = at(&fake, "mira", &one_named).await.1;
        assert!(ended[0]["error"]["message"].as_str().unwrap().starts_with(message), "{ended:?}");
        refused(
            &[
                "approve",
                &id,
                "--expect-sha256",
                &hash,
                "--expect-type",
                "X",
                "--allow-flag",
                "quorum-lowered",
                "--allow-flag",
                "sets-quorum",
            ],
            Exit::Verification,
        )
        .await;
        refused(&["approve", "nonsense", "--expect-sha256", &hash], Exit::Usage).await;
        refused(&["review", "00000000-0000-7000-8000-000000000001"], Exit::NotFound).await;
        refused(&["activity", "ls", "--status", "nonsense"], Exit::Usage).await;
        refused(&["nonsense"], Exit::Usage).await;
        assert_eq!(at(&fake, "nobody", &["status"]).await.0, Exit::NotFound);
        assert!(fake.votes.lock().unwrap().is_empty());
    });
}

#[test]
fn a_forged_intent_blocks_the_approval() {
    runtime(async {
        let (_, record) = tag_proposal();
        let mut record = fresh(&record);
        record.row.activity.intent =
            json!({"createUserTagIntent": {"userTagName": "harmless", "userIds": []}});
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let (exit, data) = at(&fake, "mira", &["review", &id]).await;
        assert_eq!((exit, &data[0]["blocked"]), (Exit::Verification, &json!(true)));
        assert_eq!(
            at(&fake, "mira", &["approve", &id, "--expect-sha256", &hash]).await.0,
            Exit::Verification
        );
        assert!(fake.votes.lock().unwrap().is_empty());
        assert_eq!(at(&fake, "mira", &["reject", &id]).await.0, Exit::Done);
    });
}

#[test]
fn a_lost_answer_resends_the_same_bytes() {
    runtime(async {
        let (_, record) = tag_proposal();
        let record = fresh(&record);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::LosesAnswer);
        assert_eq!(at(&fake, "mira", &["approve", &id, "--expect-sha256", &hash]).await.0, Exit::Done);
        let sent = fake.votes.lock().unwrap().clone();
        assert_eq!((sent.len(), &sent[0]), (2, &sent[1]));
        assert_eq!(fake.record.lock().unwrap().row.activity.votes.len(), 2);
    });
}

#[test]
fn after_a_lost_answer_a_limit_does_not_end_the_attempts() {
    runtime(async {
        let (_, record) = tag_proposal();
        let record = fresh(&record);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::LosesAnswerAndLimits);
        assert_eq!(at(&fake, "mira", &["approve", &id, "--expect-sha256", &hash]).await.0, Exit::Done);
        let sent = fake.votes.lock().unwrap().clone();
        assert!(sent.len() == 3 && sent.iter().all(|body| *body == sent[0]), "{sent:?}");
        assert_eq!(fake.record.lock().unwrap().row.activity.votes.len(), 2);
    });
}

#[test]
fn a_recorded_rejection_never_reads_as_refused() {
    runtime(async {
        let (_, record) = tag_proposal();
        let record = fresh(&record);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::LimitsAfterVotes);
        let (exit, shown) = at(&fake, "mira", &["reject", &id, "--expect-sha256", &hash]).await;
        assert_eq!(exit, Exit::Unreachable);
        assert!(json!(shown).to_string().contains("was sent and may still count"), "{shown:?}");
        assert_eq!(fake.votes.lock().unwrap().len(), 1);
    });
}

#[test]
fn receipts_are_checked() {
    runtime(async {
        for (behavior, expected) in
            [(Behavior::RecordsNothing, Exit::Verification), (Behavior::FailsExecution, Exit::Failed)]
        {
            let (_, record) = tag_proposal();
            let record = fresh(&record);
            let (id, hash) = references(&record);
            let fake = Fake::start(record, behavior);
            assert_eq!(at(&fake, "mira", &["approve", &id, "--expect-sha256", &hash]).await.0, expected);
        }
    });
}

#[test]
fn exit_codes_distinguish_daemons() {
    runtime(async {
        for (behavior, expected) in [
            (Behavior::Sealed, Exit::Sealed),
            (Behavior::OtherProtocol, Exit::Failed),
            (Behavior::Production, Exit::Denied),
            (Behavior::Honest, Exit::Done),
        ] {
            let fake = Fake::start(tag_proposal().1, behavior);
            assert_eq!(at(&fake, "mira", &["status"]).await.0, expected);
        }
        let fake = Fake::start(tag_proposal().1, Behavior::WithoutLists);
        for list in ["approvals", "activity"] {
            let (exit, answers) = at(&fake, "mira", &[list, "ls"]).await;
            assert_eq!(exit, Exit::Failed, "{list}");
            let message = answers[0]["error"]["message"].to_string();
            assert!(message.contains("install matching versions"), "{list}: {message}");
        }
        let fake = Fake::start(tag_proposal().1, Behavior::Honest);
        let socket = format!("{}.none", fake.socket().display());
        assert_eq!(
            run_with(&["--socket".to_owned(), socket, "status".to_owned()], &fake.folders()).await.0,
            Exit::Unreachable
        );
        let file = fake.credentials();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let words = ["--credentials".to_owned(), file.display().to_string(), "status".to_owned()];
        assert_eq!(run_with(&words, &fake.folders()).await.0, Exit::Denied);
    });
}

#[test]
fn lists_and_shows_records() {
    runtime(async {
        let (_, mut record) = tag_proposal();
        record.row.activity.status = Status::Completed;
        let fake = Fake::start(record, Behavior::Honest);
        for words in [&["org", "ls"][..], &["org", "get"], &["completion", "bash"]] {
            let (exit, data) = at(&fake, "mira", words).await;
            assert_eq!((exit, data.len()), (Exit::Done, 1), "{words:?}");
        }
        assert_eq!(at(&fake, "mira", &["activity", "ls", "--limit", "5"]).await.0, Exit::Done);
        let id = fake.record.lock().unwrap().row.activity.id.to_string();
        let (exit, data) = at(&fake, "mira", &["activity", "get", &id]).await;
        assert_eq!((exit, &data[0]["activity"]["id"]), (Exit::Done, &json!(id)));
    });
}

#[test]
fn address_book_commands_edit_the_book() {
    runtime(async {
        let fake = Fake::start(tag_proposal().1, Behavior::Honest);
        let folders = fake.folders();
        let book = async |words: &[&str]| {
            let all: Vec<String> =
                std::iter::once("book").chain(words.iter().copied()).map(str::to_owned).collect();
            run_with(&all, &folders).await
        };
        // From the test cases of ERC-55; the second address imitates the first one.
        let (known, alike) =
            ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aae00000000000000000000000000000000eaed");
        assert_eq!(book(&["ls"]).await, (Exit::Done, Vec::new()));
        let (exit, data) = book(&["add", "ethereum", &known.to_lowercase(), "exchange cold"]).await;
        assert_eq!(
            (exit, &data[0]["address"], &data[0]["chain"]),
            (Exit::Done, &json!(known), &json!("ethereum"))
        );
        for (words, expected) in [
            (&["add", "ethereum", known, "other"][..], Exit::Failed),
            (&["add", "ethereum", alike, "other"], Exit::Verification),
            (&["add", "ethereum", &known.replace("5aA", "5AA"), "other"], Exit::Usage),
            (&["add", "tron", known, "other"], Exit::Usage),
            (&["add", "dogecoin", known, "other"], Exit::Usage),
            (&["add", "ethereum", alike, "a\u{202e}b"], Exit::Usage),
            (&["rm", "other"], Exit::NotFound),
            (&["import", "/nonexistent/book"], Exit::NotFound),
        ] {
            assert_eq!(book(words).await.0, expected, "{words:?}");
        }
        let (exit, file) = book(&["export"]).await;
        assert_eq!((exit, file[0]["version"].clone()), (Exit::Done, json!(1)));
        let path = folders.config.join("theirs.json");
        let text = file[0].to_string();
        let path_text = path.display().to_string();
        std::fs::write(&path, &text).unwrap();
        let (exit, data) = book(&["import", &path_text]).await;
        assert_eq!((exit, data[0].clone()), (Exit::Done, json!({"added": 0, "known": 1})));
        std::fs::write(&path, text.replace("exchange cold", "exchange")).unwrap();
        assert_eq!(book(&["import", &path_text]).await.0, Exit::Failed);
        let added = book(&["add", "ethereum", alike, "other", "--allow-flag", "similar-address"]).await;
        assert_eq!(added.0, Exit::Done);
        assert_eq!(book(&["ls"]).await.1.len(), 2);
        assert_eq!(book(&["rm", "exchange cold"]).await.0, Exit::Done);
        std::fs::write(&path, &text).unwrap();
        assert_eq!(book(&["import", &path_text]).await.0, Exit::Verification);
        assert_eq!(
            book(&["import", &path_text, "--allow-flag", "similar-address"]).await.1[0]["added"],
            json!(1)
        );
        std::fs::write(&path, "{").unwrap();
        assert_eq!(book(&["import", &path_text]).await.0, Exit::Failed);
        std::fs::write(folders.book(), "{").unwrap();
        assert_eq!(book(&["ls"]).await.0, Exit::Failed);
        std::fs::set_permissions(folders.book(), std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .unwrap();
        assert_eq!(book(&["ls"]).await.0, Exit::Denied);
    });
}

#[test]
fn known_keys_are_compared_and_exchanged() {
    runtime(async {
        let fake = Fake::start(fresh(&tag_proposal().1), Behavior::Honest);
        // The former name of the command keeps working.
        assert_eq!(at(&fake, "mira", &["roster", "ls"]).await, (Exit::Done, Vec::new()));
        assert_eq!(at(&fake, "mira", &["approvals", "ls"]).await.0, Exit::Done);
        let (exit, keys) = at(&fake, "mira", &["known-keys", "ls"]).await;
        assert!(exit == Exit::Done && keys.len() > 1, "{keys:?}");
        let (_, whole) = at(&fake, "mira", &["known-keys", "export"]).await;
        let path = fake.folders().state.join("theirs.json");
        let path_text = path.display().to_string();
        std::fs::write(&path, whole[0].to_string()).unwrap();
        assert_eq!(at(&fake, "mira", &["known-keys", "diff", &path_text]).await, (Exit::Done, Vec::new()));
        let (user, public) = (keys[0]["userId"].as_str().unwrap(), keys[0]["publicKey"].as_str().unwrap());
        let changed = public.replace(['0', '1', '2'], "3");
        std::fs::write(&path, whole[0].to_string().replace(public, &changed)).unwrap();
        let (exit, data) = at(&fake, "mira", &["known-keys", "diff", &path_text]).await;
        let rows: Vec<_> =
            data.iter().map(|row| (row["only"].as_str().unwrap(), row["userId"].as_str().unwrap())).collect();
        assert_eq!((exit, rows), (Exit::Failed, vec![("here", user), ("there", user)]));
        let imported = at(&fake, "mira", &["known-keys", "import", &path_text]).await;
        assert_eq!(imported, (Exit::Done, vec![json!({"added": 1})]));
        assert_eq!(at(&fake, "mira", &["known-keys", "ls"]).await.1.len(), keys.len() + 1);
        assert_eq!(at(&fake, "mira", &["known-keys", "diff", &path_text]).await.1.len(), 1);
        std::fs::write(&path, whole[0].to_string().replace(public, &public.to_uppercase())).unwrap();
        assert_eq!(at(&fake, "mira", &["known-keys", "import", &path_text]).await.0, Exit::Failed);
        assert_eq!(
            at(&fake, "mira", &["known-keys", "import", "/nonexistent/known-keys"]).await.0,
            Exit::NotFound
        );
    });
}

#[test]
fn votes_with_a_key_file() {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    runtime(async {
        let mut record = fresh(&tag_proposal().1);
        let home = Fake::start(tag_proposal().1, Behavior::Honest);
        let folders = home.folders();
        let phrase = |text: &str| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            std::io::Seek::rewind(&mut file).unwrap();
            file
        };
        let run_as = async |file: &std::fs::File, words: &[&str]| {
            let mut all = vec!["--passphrase-fd".to_owned(), file.as_raw_fd().to_string()];
            all.extend(words.iter().map(|word| (*word).to_owned()));
            run_with(&all, &folders).await
        };
        let (exit, data) =
            run_as(&phrase("correct horse\n"), &["key", "add", "laptop", "--curve", "ed25519"]).await;
        assert_eq!(exit, Exit::Done, "{data:?}");
        let public = data[0]["publicKey"].as_str().unwrap().to_owned();
        assert_eq!(run_as(&phrase("short"), &["key", "add", "other"]).await.0, Exit::Usage);
        public.clone_into(&mut record.organization.users[0].api_keys[0].credential.public_key);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let socket = fake.socket().display().to_string();
        let organization = Fixture::id().to_string();
        let unpinned = ["--socket", &socket, "--key", "laptop", "approve", &id, "--expect-sha256", &hash];
        assert_eq!(
            run_as(&phrase("correct horse"), &unpinned).await.0,
            Exit::Usage,
            "no organization is pinned"
        );
        let words = [&["--organization", &organization], &unpinned[..]].concat();
        assert_eq!(run_as(&phrase("wrong horse"), &words).await.0, Exit::Denied);
        let (exit, data) = run_as(&phrase("correct horse"), &words).await;
        assert_eq!(exit, Exit::Done, "{data:?}");
        assert_eq!(run_as(&phrase(""), &["key", "ls"]).await.1.len(), 1);
        // One from before the vote was sent, and one with its outcome.
        assert_eq!(run_as(&phrase(""), &["journal", "verify"]).await.1[0]["entries"], json!(2));
    });
}

#[test]
fn misdirected_votes_are_not_signed() {
    runtime(async {
        let elsewhere = quorate_common::ids::OrganizationId::from_bytes([0x11; 16]);
        let forgeries: [fn(&mut ReviewRecord, quorate_common::ids::OrganizationId); 3] = [
            |record, elsewhere| record.row.activity.organization_id = elsewhere,
            |record, elsewhere| {
                record.row.activity.organization_id = elsewhere;
                record.organization.head.organization_id = elsewhere;
                record.organization.head.parent_organization_id = Some(Fixture::id());
            },
            |record, _| {
                record.row.activity.fingerprint = quorate_common::fingerprint::Fingerprint::of(b"another");
            },
        ];
        for (number, forge) in forgeries.iter().enumerate() {
            let mut record = fresh(&tag_proposal().1);
            forge(&mut record, elsewhere);
            let (id, _) = references(&record);
            let fake = Fake::start(record, Behavior::Honest);
            let (exit, data) = at(&fake, "mira", &["reject", &id]).await;
            assert_ne!(exit, Exit::Done, "forgery {number}: {data:?}");
            assert!(fake.votes.lock().unwrap().is_empty(), "forgery {number} got a signature");
        }
    });
}

#[test]
fn user_and_key_must_match() {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    runtime(async {
        let fake = Fake::start(fresh(&tag_proposal().1), Behavior::Honest);
        let folders = fake.folders();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"correct horse\n").unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let words = ["--passphrase-fd", &file.as_raw_fd().to_string(), "key", "add", "mira"];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let (exit, created) = run_with(&words, &folders).await;
        assert_eq!(exit, Exit::Done);
        created[0]["publicKey"].as_str().unwrap().clone_into(
            &mut fake.record.lock().unwrap().organization.users[0].api_keys[0].credential.public_key,
        );
        let socket = fake.socket().display().to_string();
        let organization = Fixture::id().to_string();
        let as_user = async |user: &[&str], command: &[&str]| {
            let context = ["--socket", &socket, "--organization", &organization];
            let all = context.iter().chain(user).chain(command).map(|word| (*word).to_owned());
            run_with(&all.collect::<Vec<_>>(), &folders).await.0
        };
        let id = fake.record.lock().unwrap().row.activity.id.to_string();
        for command in [&["approvals", "ls"][..], &["activity", "ls"], &["review", &id], &["reject", &id]] {
            let check = async |user: &[&str], expected: Exit| {
                assert_eq!(as_user(user, command).await, expected, "{user:?} {command:?}");
            };
            check(&["--user", "nobody"], Exit::NotFound).await;
            check(&["--user", "00000000-0000-7000-8000-000000000001"], Exit::NotFound).await;
            // A list at the socket needs no key.
            let other = if command[0] == "approvals" { Exit::Done } else { Exit::Denied };
            check(&["--user", "jo", "--key", "mira"], other).await;
        }
        assert_eq!(as_user(&["--user", "mira", "--key", "mira"], &["approvals", "ls"]).await, Exit::Done);
        assert_eq!(as_user(&["--user", "jo"], &["approvals", "ls"]).await, Exit::Done);
        assert!(fake.votes.lock().unwrap().is_empty());
    });
}

#[test]
fn another_organization_is_read_without_its_user_and_key() {
    runtime(async {
        let (_, record) = tag_proposal();
        let record = fresh(&record);
        let (id, _) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let folders = fake.folders();
        let user = "00000000-0000-7000-8000-000000000001";
        let configure = |organization: &str| {
            let text = format!("organization = \"{organization}\"\nuser = \"{user}\"\n");
            std::fs::create_dir_all(&folders.config).unwrap();
            std::fs::write(folders.config.join("config.toml"), text).unwrap();
        };
        let (socket, organization) = (fake.socket().display().to_string(), Fixture::id().to_string());
        let run = async |command: &[&str]| {
            let context = ["--socket", &socket, "--organization", &organization];
            let all = context.iter().chain(command).map(|word| (*word).to_owned());
            run_with(&all.collect::<Vec<_>>(), &folders).await.0
        };
        configure("00000000-0000-7000-8000-000000000002");
        for command in [
            &["activity", "ls"][..],
            &["activity", "get", &id],
            &["approvals", "ls"],
            &["org", "get"],
            &["policy", "ls"],
        ] {
            assert_eq!(run(command).await, Exit::Done, "{command:?}");
        }
        assert_eq!(run(&["approvals", "ls", "--user", "nobody"]).await, Exit::NotFound);
        assert_ne!(run(&["reject", &id]).await, Exit::Done);
        // A user of the configured organization must exist there.
        configure(&organization);
        assert_eq!(run(&["activity", "ls"]).await, Exit::NotFound);
        assert!(fake.votes.lock().unwrap().is_empty());
    });
}

#[test]
fn rejecting_unreadable_bytes_requires_a_fingerprint() {
    runtime(async {
        let (_, record) = crate::testing::card_proposal();
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        assert_eq!(at(&fake, "mira", &["reject", &id]).await.0, Exit::Verification);
        assert_eq!(
            at(&fake, "mira", &["approve", &id, "--expect-sha256", &hash]).await.0,
            Exit::Verification
        );
        assert!(fake.votes.lock().unwrap().is_empty());
        assert_eq!(at(&fake, "mira", &["reject", &id, "--expect-sha256", &hash]).await.0, Exit::Done);
        let sent = fake.votes.lock().unwrap().clone();
        assert!(sent.len() == 1 && sent[0].contains(&hash) && sent[0].contains(&Fixture::id().to_string()));
    });
}

#[test]
fn a_rejection_checks_the_expected_fingerprint() {
    runtime(async {
        let record = fresh(&tag_proposal().1);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        let other = "0".repeat(64);
        assert_eq!(
            at(&fake, "mira", &["reject", &id, "--expect-sha256", &other]).await.0,
            Exit::Verification
        );
        assert!(fake.votes.lock().unwrap().is_empty());
        assert_eq!(at(&fake, "mira", &["reject", &id, "--expect-sha256", &hash]).await.0, Exit::Done);
    });
}

#[test]
fn a_changed_quorum_blocks_until_it_is_accepted() {
    runtime(async {
        let record = fresh(&tag_proposal().1);
        let (id, hash) = references(&record);
        let fake = Fake::start(record, Behavior::Honest);
        assert_eq!(at(&fake, "mira", &["review", &id]).await.0, Exit::Done);
        {
            let mut record = fake.record.lock().unwrap();
            record.organization.head.root_quorum.threshold = 1;
            record.organization.users.swap(0, 1);
            let (first, second) =
                (record.organization.users[0].clone(), record.organization.users[1].clone());
            record.organization.users[0].user_name = second.user_name;
            record.organization.users[1].user_name = first.user_name;
            record.row.waiting.as_mut().unwrap().needed = 1;
        }
        let by_id = async |words: &[&str]| at(&fake, "mira", words).await;
        let (exit, data) = by_id(&["review", &id]).await;
        let checks = data[0]["checks"].as_array().unwrap();
        let k10 = checks.iter().find(|check| check["id"] == "K10").unwrap();
        assert_eq!((exit, &k10["mark"]), (Exit::Verification, &json!("[x]")), "{data:?}");
        let flags = data[0]["flags"].as_array().unwrap();
        assert!(
            flags.iter().any(|flag| flag["name"] == "name-changed" && flag["level"] == "HIGH"),
            "{flags:?}"
        );
        let approve = ["approve", &id, "--expect-sha256", &hash, "--allow-flag", "name-changed"];
        assert_eq!(by_id(&approve).await.0, Exit::Verification);
        assert_eq!(by_id(&["known-keys", "accept"]).await.0, Exit::Verification, "nothing proves it");
        let (exit, data) = by_id(&["known-keys", "accept", "--unproven"]).await;
        assert_eq!((exit, &data[0]["proven"], &data[0]["namesLeft"]), (Exit::Done, &json!(false), &json!(2)));
        assert_eq!(by_id(&["review", &id]).await.0, Exit::Done);
        let (_, data) = by_id(&["known-keys", "accept", "--names"]).await;
        assert_eq!(data[0]["namesAccepted"], json!(2));
        assert_eq!(by_id(&approve[..4]).await.0, Exit::Done);
    });
}

#[test]
fn keys_are_accepted_by_their_public_key() {
    runtime(async {
        let record = fresh(&tag_proposal().1);
        let (id, _) = references(&record);
        let proposers = record.organization.users[1].clone();
        let key = proposers.api_keys[0].credential.public_key.clone();
        let fake = Fake::start(record, Behavior::Honest);
        let by_id = async |words: &[&str]| at(&fake, "mira", words).await;
        fake.record.lock().unwrap().organization.users[1].api_keys.clear();
        assert_eq!(by_id(&["approvals", "ls"]).await.0, Exit::Done);
        // The daemon adds a key to a user.
        fake.record.lock().unwrap().organization.users[1] = proposers;
        let reviewed = async || {
            let (_, data) = by_id(&["review", &id]).await;
            let checks = data[0]["checks"].as_array().unwrap();
            let k6 = checks.iter().find(|check| check["id"] == "K6").unwrap()["mark"].clone();
            (k6, data[0]["flags"].to_string().contains("proposer-key-"))
        };
        assert_eq!(reviewed().await, (json!("[!]"), true));
        let confirmed = async || {
            let listed = by_id(&["known-keys", "ls"]).await.1;
            listed.iter().find(|line| line["publicKey"] == json!(key)).unwrap()["confirmed"].clone()
        };
        assert_eq!(confirmed().await, json!(false));
        let (exit, data) = by_id(&["known-keys", "accept"]).await;
        assert_eq!(
            (exit, &data[0]["keysAccepted"], &data[0]["keysLeft"]),
            (Exit::Failed, &json!(0), &json!(1)),
            "nothing was accepted, and a key is left"
        );
        let right = format!("{}:{}", Fixture::user(1), key.to_uppercase());
        let nobodys = format!("{}:{}", Fixture::user(1), Fixture::stamper(4).public_key());
        let another_users = format!("{}:{key}", Fixture::user(2));
        for wrong in [&[&nobodys][..], &[&another_users], &[&right, &nobodys]] {
            let named = wrong.iter().flat_map(|key| ["--public-key", key.as_str()]);
            let words: Vec<&str> = ["known-keys", "accept"].into_iter().chain(named).collect();
            assert_eq!(by_id(&words).await.0, Exit::NotFound, "{wrong:?}");
        }
        assert_eq!(by_id(&["known-keys", "accept", "--public-key", &key]).await.0, Exit::Usage);
        assert_eq!(confirmed().await, json!(false), "nothing is accepted by halves");
        let (exit, data) = by_id(&["known-keys", "accept", "--public-key", &right]).await;
        assert_eq!(
            (exit, &data[0]["keysAccepted"], &data[0]["keysLeft"]),
            (Exit::Done, &json!(1), &json!(0))
        );
        assert_eq!((confirmed().await, reviewed().await), (json!(true), (json!("[v]"), false)));
    });
}
