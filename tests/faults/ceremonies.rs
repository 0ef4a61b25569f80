//! `f22`: ceremonies that are killed before each of their calls that changes a file: making a store, its slots and shares, new
//! sealing keys, and a restore with a journal. Exactly one set of slots opens the store, and nothing is lost.

use std::fs;
use std::path::Path;
use std::process::Command;

use quorate_tests::holders::{Holder, is_sealed, rekey, slot_ids, slots, use_key};
use quorate_tests::installation::{self, Installation, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::paths;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::Value;

use crate::layer::{Calls, Fault, Layer};
use crate::scenario::Scenario;

const KEY_FILE: &str = "file = \"root.key\"";
const SHARES: &str = "shares = true";
const MORE: i32 = 12;
const WRONG_KEY: i32 = 5;
/// Number of records before a rotation.
const RECORDS: usize = 40;

/// Calls `is_killed` with the number of each call, or in the short form of every `stride`th, until a ceremony ends before it.
/// Returns how often one was killed.
async fn each_call(
    scenario: &mut Scenario,
    what: &str,
    stride: usize,
    mut is_killed: impl AsyncFnMut(usize) -> bool,
) -> usize {
    // One round in the long form.
    let stride = if scenario.rounds() == 1 { 1 } else { stride };
    let mut kills = 0;
    for call in (1..).step_by(stride) {
        scenario.step(format!("{what}, killed before call {call}"));
        if !is_killed(call).await {
            break;
        }
        kills += 1;
    }
    kills
}

/// A store with an organization, whose root user signs with an address. It is copied for each kill.
struct Original {
    installation: Installation,
    organization: String,
    key: Key,
    address: String,
}

impl Original {
    async fn new(more: &str) -> Self {
        let installation = Installation::new(KEY_FILE);
        let text = fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
        installation.configure(&format!("{more}{text}"));
        let key = Key::named("first root user");
        let organization = installation.create_organization("treasury", &key).await;
        let served = installation.serve().await;
        let address = requests::create_wallet(&served.caller(&organization, key.clone()), "signs").await;
        Self { installation, organization, key, address }
    }

    /// Returns a copy in another folder.
    fn copy(&self) -> Installation {
        let copy = Installation::new(KEY_FILE);
        copy_all(&self.installation.path(""), &copy.path(""));
        copy
    }

    /// The store opens, and the wallet is there.
    async fn signs(&self, served: &RunningDaemon) {
        let root = served.caller(&self.organization, self.key.clone());
        root.completed(SIGN, &requests::sign(&self.address, "signed")).await;
    }
}

fn copy_all(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.is_ok_and(|copied| copied.success()));
}

/// A layer below an installation.
struct Layered {
    layer: Layer,
    variables: Vec<(String, String)>,
}

impl Layered {
    fn new(installation: &Installation) -> Self {
        let layer = Layer::new();
        let variables = layer.variables(&installation.path("").canonicalize().expect("a folder"));
        Self { layer, variables }
    }

    async fn serve(&self, installation: &Installation) -> RunningDaemon {
        let pairs = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        installation.serve_with(&pairs.collect::<Vec<_>>()).await
    }

    /// Kills the process before this call from now on.
    fn kill_before(&self, call: usize) {
        self.layer.fail(Calls::All, call, Fault::Killed, false);
    }

    /// Returns whether it was killed.
    fn has_killed(&self) -> bool {
        self.layer.failures() > 0
    }

    /// Runs a command, which is killed before a call. Returns whether it was.
    fn run(&self, installation: &Installation, words: &[&str], call: usize) -> bool {
        self.kill_before(call);
        let ended = Command::new(paths::program("quorated"))
            .args(words)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(installation.path(""))
            .output()
            .expect("the program can be started");
        assert!(self.has_killed() || ended.status.success(), "{words:?}: {ended:?}");
        self.has_killed()
    }
}

async fn is_whole(installation: &Installation) {
    let verified = installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
}

/// Kinds of the slots that open a store.
async fn active(installation: &Installation) -> Vec<String> {
    let kind = |slot: &Value| slot["kind"].as_str().expect("a kind").to_owned();
    slots(installation).await.iter().filter(|slot| slot["state"] == "active").map(kind).collect()
}

#[tokio::test]
async fn f22_a_store_that_is_killed_while_it_is_made_is_made_again() {
    let mut scenario = Scenario::begin("f22 init", 2, 1);
    let key = Key::named("first root user");
    let user = format!("root={}", key.public_key());
    let kills = each_call(&mut scenario, "init", 2, async |call| {
        let installation = Installation::new(KEY_FILE);
        let words = ["init", "--config", "quorated.toml", "--name", "treasury", "--root-user", &user];
        let is_killed = Layered::new(&installation).run(&installation, &words, call);
        installation.create_organization("again", &key).await;
        is_whole(&installation).await;
        is_killed
    });
    let kills = kills.await;
    scenario.close(format!("killed at {kills} calls; one set of slots each time"));
}

/// A set of shares is made, and the shares that make it active are given.
#[tokio::test]
async fn f22_a_set_of_shares_opens_the_store_or_the_key_before_does() {
    let mut scenario = Scenario::begin("f22 rekey", 2, 1);
    let original = Original::new("").await;
    let holders = Holder::all(&original.installation, &["mira", "jo"]).await;
    let made = each_call(&mut scenario, "rekey", 1, async |call| {
        let copy = original.copy();
        let layered = Layered::new(&copy);
        let served = layered.serve(&copy).await;
        layered.kill_before(call);
        let folder = copy.path("letters");
        let mut words = vec!["--threshold", "2", "--letters", folder.to_str().expect("UTF-8")];
        let named: Vec<String> =
            holders.iter().map(|holder| format!("{}={}", holder.name, holder.public_key)).collect();
        words.extend(named.iter().flat_map(|holder| ["--holder", holder.as_str()]));
        let _ = copy.run("rekey", &words).await;
        let is_killed = layered.has_killed();
        drop(served);
        assert_eq!(active(&copy).await, ["file"]);
        original.signs(&copy.serve().await).await;
        is_killed
    });
    let made = made.await;
    let mut by_shares = 0;
    let confirmed = each_call(&mut scenario, "the last share", 1, async |call| {
        let copy = original.copy();
        let layered = Layered::new(&copy);
        let served = layered.serve(&copy).await;
        let letters = rekey(&copy, "2", &holders, &slot_ids(&copy).await).await;
        holders[0].unseal_at(&copy, &letters[0], MORE).await;
        layered.kill_before(call);
        let _ = holders[1].try_unseal_at(&copy, &letters[1]).await;
        let is_killed = layered.has_killed();
        drop(served);
        match active(&copy).await.as_slice() {
            [kind] if kind == "file" => original.signs(&copy.serve().await).await,
            [kind] if kind == "shares" => {
                by_shares += 1;
                assert_eq!(copy.run("serve", &[]).await.code, WRONG_KEY);
                use_key(&copy, SHARES);
                let served = copy.serve_until(is_sealed).await;
                holders[1].unseal_at(&copy, &letters[1], MORE).await;
                holders[0].unseal_at(&copy, &letters[0], 0).await;
                served.becomes_ready().await;
                original.signs(&served).await;
            }
            other => panic!("{other:?} open the store"),
        }
        is_killed
    });
    let confirmed = confirmed.await;
    assert!(by_shares > 0);
    scenario.close(format!(
        "killed at {} calls; {by_shares} times the new set opens the store",
        made + confirmed
    ));
}

#[tokio::test]
async fn f22_a_slot_is_added_or_removed_or_not() {
    let mut scenario = Scenario::begin("f22 slots", 2, 1);
    let original = Original::new("").await;
    let slot_of = ["slot", "add", "--config", "quorated.toml", "--key-file", "other.key"];
    let run = |copy: &Installation, words: &[&str]| {
        let mut command = Command::new(paths::program("quorated"));
        command.args(words).current_dir(copy.path("")).output().expect("the program can be started")
    };
    let added = each_call(&mut scenario, "slot add", 1, async |call| {
        let copy = original.copy();
        let layered = Layered::new(&copy);
        let served = layered.serve(&copy).await;
        layered.kill_before(call);
        run(&copy, &slot_of);
        let is_killed = layered.has_killed();
        drop(served);
        original.signs(&copy.serve().await).await;
        let count = slots(&copy).await.len();
        if count == 2 {
            use_key(&copy, "file = \"other.key\"");
            original.signs(&copy.serve().await).await;
        }
        assert!(count == 1 || count == 2);
        is_killed
    });
    let added = added.await;
    let removed = each_call(&mut scenario, "slot rm", 1, async |call| {
        let copy = original.copy();
        let layered = Layered::new(&copy);
        let served = layered.serve(&copy).await;
        let first = slot_ids(&copy).await.remove(0);
        assert!(run(&copy, &slot_of).status.success());
        layered.kill_before(call);
        run(&copy, &["slot", "rm", &first, "--config", "quorated.toml", "--confirm", "remove"]);
        let is_killed = layered.has_killed();
        drop(served);
        if slots(&copy).await.len() == 2 {
            original.signs(&copy.serve().await).await;
        } else {
            assert_eq!(copy.run("serve", &[]).await.code, WRONG_KEY);
        }
        use_key(&copy, "file = \"other.key\"");
        original.signs(&copy.serve().await).await;
        is_killed
    });
    let removed = removed.await;
    scenario.close(format!("killed at {} calls; all slots that are listed open the store", added + removed));
}

/// New sealing keys: after a kill, every record can be read, and the next daemon goes on.
#[tokio::test]
async fn f22_a_rotation_loses_no_record() {
    let mut scenario = Scenario::begin("f22 rotate", 2, 1);
    let original = Original::new("").await;
    let served = original.installation.serve().await;
    for number in 0..RECORDS {
        let root = served.caller(&original.organization, original.key.clone());
        root.completed(CREATE_WALLET, &requests::wallet(&number.to_string())).await;
    }
    drop(served);
    let kills = each_call(&mut scenario, "rotate", 24, async |call| {
        let copy = original.copy();
        let layered = Layered::new(&copy);
        let served = layered.serve(&copy).await;
        layered.kill_before(call);
        let _ = copy.run("rotate", &[]).await;
        let is_killed = ends_or_rotates(&copy, &layered).await;
        drop(served);
        is_whole(&copy).await;
        let served = copy.serve().await;
        original.signs(&served).await;
        is_killed
    });
    let kills = kills.await;
    scenario.close(format!("killed at {kills} calls; every record opens"));
}

/// Waits until the daemon was killed, or one key seals all records. Returns whether it was killed.
async fn ends_or_rotates(copy: &Installation, layered: &Layered) -> bool {
    let listener = quorate_tests::http::Listener::Socket(copy.path("run/socket"));
    let deadline = std::time::Instant::now() + quorate_tests::http::TIMEOUT;
    while !layered.has_killed() && std::time::Instant::now() < deadline {
        let Ok(mut connection) = listener.connect().await else { continue };
        let answered = connection.call(hyper::Method::GET, "/console/v1/status", &[], b"").await;
        let Ok(reply) = answered else { continue };
        let key = &reply.success()["sealingKey"];
        if key["oldestTerm"] == key["term"] && key["term"].as_u64() > Some(1) {
            break;
        }
        tokio::time::sleep(quorate_tests::daemon::POLL_INTERVAL).await;
    }
    layered.has_killed()
}

/// A restore with a journal: whatever kills it, it can be run again, and gives the same state.
#[tokio::test]
async fn f22_a_restore_is_run_again() {
    let mut scenario = Scenario::begin("f22 restore", 2, 1);
    let original = Original::new("[journal]\npath = \"changes.journal\"\n\n").await;
    let source = &original.installation;
    let served = source.serve().await;
    let root = served.caller(&original.organization, original.key.clone());
    let backup = source.path("a.backup");
    let made = source.run("backup", &["--to", backup.to_str().expect("UTF-8")]).await;
    assert_eq!(made.code, 0, "{made:#?}");
    for number in 0..3 {
        root.completed(CREATE_WALLET, &requests::wallet(&number.to_string())).await;
    }
    drop((root, served));
    fs::remove_dir_all(source.path("data")).expect("removed");
    let words = ["restore", "a.backup", "--config", "quorated.toml", "--json"];
    let kills = each_call(&mut scenario, "restore", 3, async |call| {
        let copy = original.copy();
        let is_killed = Layered::new(&copy).run(&copy, &words, call);
        if is_killed {
            let again = installation::run(
                &copy.path(""),
                &[
                    &words[..1],
                    &[
                        backup.to_str().expect("UTF-8"),
                        "--config",
                        copy.path("quorated.toml").to_str().expect("UTF-8"),
                        "--json",
                    ],
                ]
                .concat(),
            )
            .await;
            // Unless it was complete.
            let is_there = again.code == 2 && again.stderr.contains("already contains a store");
            assert!(again.code == 0 || is_there, "{again:#?}");
        }
        is_whole(&copy).await;
        let served = copy.serve().await;
        let root = served.caller(&original.organization, original.key.clone());
        let wallets = root.fetch("list_wallets", serde_json::json!({})).await;
        assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(4), "{wallets:#}");
        is_killed
    });
    let kills = kills.await;
    scenario.close(format!("killed at {kills} calls; the same state each time"));
}
