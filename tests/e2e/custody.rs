//! Who can open a store: slots, shares of several holders, and a daemon that is sealed and opened again.

mod canaries;
mod faults;
mod unattended;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::fleet::Fleet;
use quorate_tests::holders::{Holder, is_sealed, rekey, slot_ids, slots, use_key};
use quorate_tests::installation::{Installation, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::{Value, json};

const KEY_FILE: &str = "file = \"root.key\"";
const SHARES: &str = "shares = true";
const USAGE: i32 = 2;
const NOT_FOUND: i32 = 3;
const WRONG_KEY: i32 = 5;
const SEALED: i32 = 9;
const MISMATCH: i32 = 10;
const MORE: i32 = 12;

async fn wallets(root: &Caller) -> usize {
    root.fetch("list_wallets", json!({})).await["wallets"].as_array().map_or(0, Vec::len)
}

/// Creates an installation whose organization has a wallet, with a running daemon. A key file opens its store.
async fn created() -> (Installation, RunningDaemon, String, Key) {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let served = installation.serve().await;
    served.caller(&organization, key.clone()).completed(CREATE_WALLET, &requests::wallet("kept")).await;
    (installation, served, organization, key)
}

/// An installation with an organization, whose store 2 of 3 holders open.
struct Stage {
    installation: Installation,
    organization: String,
    key: Key,
    holders: Vec<Holder>,
    letters: Vec<String>,
}

impl Stage {
    /// Moves a store from its key file to shares, with the file still beside if `keeps_file`.
    async fn prepare(keeps_file: bool) -> Self {
        let (installation, served, organization, key) = created().await;
        let holders = Holder::all(&installation, &["mira", "jo", "zoe"]).await;
        let replaces = if keeps_file { Vec::new() } else { slot_ids(&installation).await };
        let letters = rekey(&installation, "2", &holders, &replaces).await;
        holders[0].unseal(&letters[0], MORE).await;
        let confirmed = holders[1].unseal(&letters[1], 0).await.json();
        assert_eq!(confirmed["open"], true, "{confirmed:#}");
        drop(served);
        use_key(&installation, if keeps_file { KEY_FILE } else { SHARES });
        Self { installation, organization, key, holders, letters }
    }

    fn root(&self, served: &RunningDaemon) -> Caller {
        served.caller(&self.organization, self.key.clone())
    }
}

#[tokio::test]
async fn a_store_moves_from_a_key_file_to_shares() {
    let (installation, served, _, _) = created().await;
    let holders = Holder::all(&installation, &["mira", "jo", "zoe"]).await;
    let file_slot = slot_ids(&installation).await;
    assert_eq!(slots(&installation).await[0]["kind"], "file");
    let letters = rekey(&installation, "2", &holders, &file_slot).await;

    // The holders can read their letters, each only the own one.
    let checked = holders[0].run(&["share", "check"], &letters[0]).await.with(0).json();
    assert_eq!((&checked["holder"], &checked["checked"]), (&json!("mira"), &json!(true)));
    let other = holders[0].run(&["share", "check"], &letters[1]).await.with(NOT_FOUND);
    assert!(other.stderr.contains("no key file is here"), "{other:#?}");
    let shown = holders[2].run(&["share", "show"], &letters[0]).await.with(0).json();
    assert_eq!(
        (&shown["threshold"], &shown["holders"], &shown["checked"]),
        (&json!(2), &json!(3), &json!(false))
    );

    // Until they have shown their shares, nothing changes, also after a crash.
    holders[2].unseal(&letters[2], MORE).await;
    drop(served);
    let served = installation.serve().await;
    let [file, pending] = &slots(&installation).await[..] else { panic!("two slots") };
    assert_eq!((&file["state"], &pending["state"]), (&json!("active"), &json!("pending")));
    assert_eq!(pending["replaces"], json!(file_slot));
    // The shares that were given before the crash are gone.
    assert!(pending["holders"].as_array().expect("holders").iter().all(|holder| holder["given"] == false));
    let first = holders[2].unseal(&letters[2], MORE).await.json();
    assert_eq!((&first["given"], &first["threshold"], &first["open"]), (&json!(1), &json!(2), &json!(false)));
    let again = holders[2].unseal(&letters[2], 1).await;
    assert!(again.stderr.contains("the share of zoe was given already"), "{again:#?}");
    holders[0].unseal(&letters[0], 0).await;
    let [shares] = &slots(&installation).await[..] else { panic!("one slot") };
    assert_eq!((&shares["state"], &shares["kind"]), (&json!("active"), &json!("shares")));
    let late = holders[1].unseal(&letters[1], 1).await;
    assert!(late.stderr.contains("nothing waits for its shares"), "{late:#?}");
    drop(served);

    // The key file opens it no longer, and commands without a daemon cannot open it.
    let run = installation.run("serve", &[]).await;
    assert_eq!(run.code, WRONG_KEY, "{run:#?}");
    assert!(run.stderr.contains("is opened by shares; configure [key] accordingly"), "{run:#?}");
    use_key(&installation, SHARES);
    let run = installation.run("verify", &[]).await;
    assert_eq!(run.code, SEALED, "{run:#?}");
    assert!(run.stderr.contains("is sealed"), "{run:#?}");
    assert_eq!(slots(&installation).await.len(), 1);
}

#[tokio::test]
async fn a_sealed_daemon_answers_nothing_until_enough_holders_have_given_their_shares() {
    let stage = Stage::prepare(false).await;
    let Stage { installation, holders, letters, .. } = &stage;
    let served = installation.serve_until(is_sealed).await;
    assert_eq!(served.get("/healthz").await.status, 200);
    for path in ["/console/v1/status", "/console/v1/organizations", "/public/v1/query/whoami", "/anything"] {
        let reply = served.get(path).await;
        let body: Value = serde_json::from_slice(&reply.body).expect("JSON");
        assert_eq!((reply.status, &body["message"]), (503, &json!("the daemon is sealed")), "{path}");
    }
    let status = holders[0].console.run(&["status"]).await.with(SEALED);
    assert!(status.stderr.contains("sealed"), "{status:#?}");
    // Nobody changes the slots of a sealed daemon.
    let folder = installation.path("more");
    let named =
        holders.iter().map(|holder| format!("{}={}", holder.name, holder.public_key)).collect::<Vec<_>>();
    let mut words = vec!["--threshold", "2", "--letters", folder.to_str().expect("UTF-8")];
    words.extend(named.iter().flat_map(|holder| ["--holder", holder.as_str()]));
    let run = installation.run("rekey", &words).await;
    assert_eq!(run.code, SEALED, "{run:#?}");

    // A letter that was changed, cut, or is another file.
    let text = fs::read_to_string(&letters[0]).expect("a letter");
    let changed = |name: &str, text: &str| {
        let path = installation.path(name);
        fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    for (name, text, code, words) in [
        ("changed", text.replace("mira", "nina"), MISMATCH, "its checksum is"),
        ("cut", text[..text.len() / 2].to_owned(), USAGE, "not a share letter"),
        ("empty", String::new(), USAGE, "not a share letter"),
        ("newer", text.replace("\"version\": 1", "\"version\": 2"), USAGE, "has version 2"),
    ] {
        let ended = holders[0].unseal(&changed(name, &text), code).await;
        assert!(ended.stderr.contains(words), "{name}: {ended:#?}");
    }
    let absent: PathBuf = installation.path("absent");
    holders[0].unseal(absent.to_str().expect("UTF-8"), NOT_FOUND).await;

    let first = holders[2].unseal(&letters[2], MORE).await.json();
    let given = first["status"]["slots"][0]["holders"].as_array().expect("holders");
    let given: Vec<_> = given.iter().map(|holder| holder["given"].clone()).collect();
    assert_eq!(given, [json!(false), json!(false), json!(true)]);
    let opened = holders[0].unseal(&letters[0], 0).await.json();
    assert_eq!(opened["open"], true);
    served.becomes_ready().await;
    let root = stage.root(&served);
    assert_eq!(wallets(&root).await, 1);
    root.completed(CREATE_WALLET, &requests::wallet("more")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sealing_under_load_ends_every_request_and_loses_none() {
    let stage = Stage::prepare(true).await;
    let Stage { installation, holders, letters, .. } = &stage;
    let served = installation.serve().await;
    let pid = served.process_id();
    let sealed = Arc::new(AtomicBool::new(false));
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..8 {
        let (root, sealed) = (stage.root(&served), Arc::clone(&sealed));
        writers.spawn(async move {
            let mut acknowledged = 0;
            for number in 0.. {
                let body = root.proposal(CREATE_WALLET, &requests::wallet(&format!("{writer} {number}")));
                let is_late = sealed.load(Ordering::SeqCst);
                let reply = root.try_send(&submit_path(CREATE_WALLET), &body).await;
                if reply.is_ok_and(|reply| reply.status == 200) {
                    assert!(!is_late, "a request was executed after the daemon was sealed");
                    acknowledged += 1;
                } else if is_late {
                    break;
                }
            }
            acknowledged
        });
    }
    let wrong = installation.run("seal", &["--confirm", "yes"]).await;
    assert_eq!(wrong.code, 1, "{wrong:#?}");
    let run = installation.run("seal", &["--confirm", "seal"]).await;
    assert_eq!(run.code, 0, "{run:#?}");
    sealed.store(true, Ordering::SeqCst);
    let acknowledged: usize = writers.join_all().await.into_iter().sum();
    assert!(acknowledged > 0);
    assert_eq!(served.process_id(), pid);
    let status = served.get("/readyz").await;
    assert!(is_sealed(&status), "{status:?}");
    let again = installation.run("seal", &[]).await;
    assert!(again.code == 0 && again.output.contains("sealed already"), "{again:#?}");

    holders[1].unseal(&letters[1], MORE).await;
    holders[2].unseal(&letters[2], 0).await;
    served.becomes_ready().await;
    let count = wallets(&stage.root(&served)).await;
    assert!(count > acknowledged, "{acknowledged} acknowledged, {count} in the store");
}

/// Nobody has a key file. The holders open the backup on a new machine.
#[tokio::test]
async fn holders_restore_a_backup_on_another_machine() {
    let stage = Stage::prepare(false).await;
    let Stage { installation, holders, letters, .. } = &stage;
    let served = installation.serve_until(is_sealed).await;
    let file = installation.path("treasury.backup");
    let words = ["--to", file.to_str().expect("UTF-8")];
    let sealed = installation.run("backup", &words).await;
    assert_eq!(sealed.code, SEALED, "{sealed:#?}");
    holders[0].unseal(&letters[0], MORE).await;
    holders[1].unseal(&letters[1], 0).await;
    served.becomes_ready().await;
    let made = installation.run("backup", &words).await;
    assert_eq!(made.code, 0, "{made:#?}");
    drop(served);
    fs::remove_dir_all(installation.path("data")).expect("the data directory can be removed");
    // A daemon that was killed leaves its socket.
    let _ = fs::remove_file(installation.path("run/socket"));
    let configuration = installation.path("quorated.toml");
    let configuration = configuration.to_str().expect("UTF-8");
    let words = ["restore", words[1], "--config", configuration];
    let folder = installation.path("");
    let restored = quorate_tests::installation::run(&folder, &words);
    let shares = async {
        // The command listens once it has checked the backup.
        while !installation.path("run/socket").exists() {
            tokio::time::sleep(quorate_tests::daemon::POLL_INTERVAL).await;
        }
        holders[2].unseal(&letters[2], MORE).await;
        holders[0].unseal(&letters[0], 0).await;
    };
    let (restored, ()) = tokio::join!(restored, shares);
    assert_eq!(restored.code, 0, "{restored:#?}");
    let served = installation.serve_until(is_sealed).await;
    holders[1].unseal(&letters[1], MORE).await;
    holders[2].unseal(&letters[2], 0).await;
    served.becomes_ready().await;
    assert_eq!(wallets(&stage.root(&served)).await, 1);
}

#[tokio::test]
async fn a_lost_holder_is_replaced_and_the_letters_of_the_set_before_open_nothing() {
    let stage = Stage::prepare(false).await;
    let Stage { installation, holders, letters, .. } = &stage;
    let served = installation.serve_until(is_sealed).await;
    holders[0].unseal(&letters[0], MORE).await;
    holders[1].unseal(&letters[1], 0).await;
    served.becomes_ready().await;
    let newcomers = Holder::all(installation, &["mira", "jo", "ana"]).await;
    let old = slot_ids(installation).await;
    let fresh = rekey(installation, "2", &newcomers, &old).await;
    newcomers[0].unseal(&fresh[0], MORE).await;
    newcomers[2].unseal(&fresh[2], 0).await;
    let last = installation.run("slot", &[]).await;
    assert_eq!(last.code, USAGE, "{last:#?}");
    drop(served);
    let served = installation.serve_until(is_sealed).await;
    let old = holders[2].unseal(&letters[2], MISMATCH).await;
    assert!(old.stderr.contains("of an earlier set, or of another store"), "{old:#?}");
    newcomers[1].unseal(&fresh[1], MORE).await;
    newcomers[2].unseal(&fresh[2], 0).await;
    served.becomes_ready().await;
    assert_eq!(wallets(&stage.root(&served)).await, 1);
}

/// The header is replaced whole: wherever a ceremony is killed, either the set before or the new one opens the store.
#[tokio::test]
async fn a_ceremony_that_is_killed_leaves_one_set_of_slots() {
    let mut replaced = 0;
    for (point, write) in
        ["file.draft", "file.name", "file.named"].into_iter().flat_map(|point| [(point, 1), (point, 2)])
    {
        let installation = Installation::new(KEY_FILE);
        let key = Key::named("first root user");
        let organization = installation.create_organization("treasury", &key).await;
        let file_slot = slot_ids(&installation).await;
        let holders = Holder::all(&installation, &["mira", "jo"]).await;
        // The first header that is written has the pending slot, and the second one the active slot.
        let fails = format!("{point}={}*off->return", write - 1);
        let served = installation.serve_with(&[("FAIL_POINTS", &fails)]).await;
        let folder = installation.path("letters");
        if write == 1 {
            let named = holders
                .iter()
                .map(|holder| format!("{}={}", holder.name, holder.public_key))
                .collect::<Vec<_>>();
            let mut words = vec!["--threshold", "2", "--letters", folder.to_str().expect("UTF-8")];
            words.extend(named.iter().flat_map(|holder| ["--holder", holder.as_str()]));
            let run = installation.run("rekey", &words).await;
            assert!(run.code == 1 && run.stderr.contains("did not answer"), "{point}: {run:#?}");
        } else {
            let letters = rekey(&installation, "2", &holders, &file_slot).await;
            holders[0].unseal(&letters[0], MORE).await;
            let ended = holders[1].run(&["unseal"], &letters[1]).await;
            assert_ne!(ended.code, 0, "{point}: {ended:#?}");
            drop(served);
            if slots(&installation).await.iter().all(|slot| slot["kind"] == "shares") {
                replaced += 1;
                assert_eq!(installation.run("serve", &[]).await.code, WRONG_KEY);
                use_key(&installation, SHARES);
                let _served = installation.serve_until(is_sealed).await;
                holders[1].unseal(&letters[1], MORE).await;
                holders[0].unseal(&letters[0], 0).await;
                continue;
            }
        }
        let active = slots(&installation).await;
        let active: Vec<_> = active.iter().filter(|slot| slot["state"] == "active").collect();
        assert_eq!(active.len(), 1, "{point}: {active:#?}");
        let served = installation.serve().await;
        served.caller(&organization, key.clone()).completed(CREATE_WALLET, &requests::wallet("kept")).await;
    }
    // The new header has its name before the directory is synced.
    assert_eq!(replaced, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_on_one_database_share_their_slots() {
    let mut fleet = Fleet::start(2, (1, 1), "").await;
    let file_slot = slot_ids(fleet.installation(1)).await;
    let holders = Holder::all(fleet.installation(0), &["mira", "jo"]).await;
    let letters = rekey(fleet.installation(0), "2", &holders, &file_slot).await;
    // The attempt is that of one daemon, and the slot is that of all.
    holders[0].unseal_at(fleet.installation(1), &letters[0], MORE).await;
    holders[1].unseal(&letters[1], MORE).await;
    holders[1].unseal_at(fleet.installation(1), &letters[1], 0).await;
    let shared = slots(fleet.installation(0)).await;
    assert_eq!(
        (shared.len(), &shared[0]["kind"], &shared[0]["state"]),
        (1, &json!("shares"), &json!("active"))
    );

    // Both continue, also after they have connected again.
    fleet.root(0, 0).completed(CREATE_WALLET, &requests::wallet("first")).await;
    fleet.crash_database();
    for daemon in 0..2 {
        let installation = fleet.installation(daemon);
        fleet.daemon(daemon).becomes_ready().await;
        fleet.root(daemon, 0).completed(CREATE_WALLET, &requests::wallet(&format!("after {daemon}"))).await;
        use_key(installation, SHARES);
    }

    // A daemon that is sealed reads the slots in the database, not its copy.
    fleet.kill(0);
    let sealed = fleet.installation(0).serve_until(is_sealed).await;
    holders[0].unseal(&letters[0], MORE).await;
    holders[1].unseal(&letters[1], 0).await;
    sealed.becomes_ready().await;
    assert_eq!(wallets(&fleet.root(1, 0)).await, 3);
}
