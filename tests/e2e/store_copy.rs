//! Copies of a store to another engine: nothing changes for users, no daemon serves the old store, and an interrupted
//! copy can be repeated.

use std::path::Path;
use std::process::Command;

use quorate_tests::caller::submit_path;
use quorate_tests::choices::Choices;
use quorate_tests::cluster::Cluster;
use quorate_tests::installation::{self, Installation, Run};
use quorate_tests::keys::Key;
use quorate_tests::paths;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::{Value, json};

const KEY_FILE: &str = "file = \"root.key\"";
const USAGE: i32 = 2;
const MOVED: i32 = 3;
const LOST: i32 = 10;

/// Configures a data directory, on an engine if one is named.
fn use_store(installation: &Installation, path: &str, engine: Option<&str>) {
    let engine = engine.map_or_else(String::new, |engine| format!("engine = \"{engine}\"\n"));
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"{path}\"\n{engine}\n[key]\n{KEY_FILE}\n"
    ));
}

fn place(installation: &Installation, engine: &str, path: &str) -> String {
    format!("{engine}:{}", installation.path(path).display())
}

async fn copy(installation: &Installation, from: (&str, &str), to: (&str, &str)) -> Run {
    let (from, to) = (place(installation, from.0, from.1), place(installation, to.0, to.1));
    installation::run(&installation.path(""), &["store", "copy", "--from", &from, "--to", &to]).await
}

fn assert_run(run: &Run, code: i32, words: &str) {
    assert_eq!(run.code, code, "{words}: {run:#?}");
    assert!(run.stderr.contains(words) || run.output.contains(words), "{words}: {run:#?}");
}

async fn figures(installation: &Installation) -> Value {
    let run = installation.run("store", &[]).await;
    assert_eq!(run.code, USAGE, "`store` needs a subcommand: {run:#?}");
    let configuration = installation.path("quorated.toml");
    let configuration = configuration.to_str().expect("UTF-8");
    let arguments = ["store", "stat", "--json", "--config", configuration];
    let run = installation::run(&installation.path(""), &arguments).await;
    assert_eq!(run.code, 0, "{run:#?}");
    serde_json::from_str(&run.output).expect("JSON")
}

/// An organization with a processed request.
struct Stage {
    organization: String,
    key: Key,
    body: Vec<u8>,
    created: Value,
}

impl Stage {
    async fn prepare(installation: &Installation) -> Self {
        let key = Key::named("first root user");
        let organization = installation.create_organization("moved", &key).await;
        let served = installation.serve().await;
        let root = served.caller(&organization, key.clone());
        let body = root.proposal(CREATE_WALLET, &requests::wallet("kept"));
        let created = root.send(&submit_path(CREATE_WALLET), &body).await.activity_in("COMPLETED");
        // A long record has parts.
        let wallet = &created["result"];
        assert!(wallet.is_object(), "{created:#}");
        Self { organization, key, body, created }
    }

    /// Serves the configured store: it has everything, executes no request twice, and accepts new ones.
    async fn examine(&self, installation: &Installation) {
        let served = installation.serve().await;
        let root = served.caller(&self.organization, self.key.clone());
        let again = root.send(&submit_path(CREATE_WALLET), &self.body).await.activity_in("COMPLETED");
        assert_eq!(again, self.created);
        let before = root.fetch("list_wallets", json!({})).await["wallets"].as_array().map_or(0, Vec::len);
        root.completed(CREATE_WALLET, &requests::wallet(&format!("wallet {before}"))).await;
        let after = root.fetch("list_wallets", json!({})).await["wallets"].as_array().map_or(0, Vec::len);
        assert_eq!(after, before + 1);
    }
}

#[tokio::test]
async fn a_store_moves_to_another_engine_and_back() {
    let installation = Installation::new(KEY_FILE);
    use_store(&installation, "data", None);
    let stage = Stage::prepare(&installation).await;
    let before = figures(&installation).await;
    assert_eq!((&before["engine"], &before["movedTo"]), (&json!("sled"), &Value::Null));

    let run = copy(&installation, ("sled", "data"), ("redb", "new")).await;
    assert_run(&run, 0, "records with");
    // The old store is marked, and every command that opens it reports that.
    let words = format!("was moved to {}", place(&installation, "redb", "new"));
    for command in ["serve", "verify", "quorum-key"] {
        assert_run(&installation.run(command, &[]).await, MOVED, &words);
    }
    // Its figures can still be read.
    assert_eq!(figures(&installation).await["movedTo"], json!(place(&installation, "redb", "new")));
    use_store(&installation, "new", Some("sled"));
    let words = "is on the engine redb; set [store] engine accordingly";
    assert_run(&installation.run("serve", &[]).await, USAGE, words);
    // Without a name, the engine of the store is used.
    use_store(&installation, "new", None);
    let after = figures(&installation).await;
    assert_eq!(after["engine"], json!("redb"));
    for member in ["records", "bytes", "kinds"] {
        assert_eq!(before[member], after[member], "{member}");
    }
    assert_run(&installation.run("verify", &[]).await, 0, "are complete and unchanged");
    use_store(&installation, "new", Some("redb"));
    stage.examine(&installation).await;

    let run = copy(&installation, ("redb", "new"), ("sled", "back")).await;
    assert_run(&run, 0, "records with");
    use_store(&installation, "back", Some("sled"));
    stage.examine(&installation).await;
    assert_run(&installation.run("verify", &[]).await, 0, "are complete and unchanged");
}

/// Copies the store of the configuration `from` to that of `to`, and returns what was copied, with its digest.
async fn copied(installation: &Installation, from: &str, to: &str) -> String {
    let arguments = ["store", "copy", "--from", from, "--to", to];
    let run = installation::run(&installation.path(""), &arguments).await;
    assert_run(&run, 0, "is marked as moved");
    run.output.lines().next().expect("a description of the copy").to_owned()
}

/// Stores with random contents pass over all engines and return as they were.
#[tokio::test]
async fn f9_copies_over_all_engines_change_nothing() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let chosen = std::env::var("ROUNDS").ok().filter(|rounds| !rounds.is_empty());
    let rounds = chosen.map_or(if is_long { 1_000 } else { 1 }, |text| text.parse().expect("a number"));
    let cluster = Cluster::start();
    for round in 0..rounds {
        let mut choices = Choices::of_seed(round);
        let installation = Installation::new(KEY_FILE);
        use_store(&installation, "data", Some("sled"));
        let stage = Stage::prepare(&installation).await;
        {
            let served = installation.serve().await;
            let root = served.caller(&stage.organization, stage.key.clone());
            let address = requests::create_wallet(&root, "signs").await;
            for _ in 0..=choices.below(8) {
                let length = [1, 900, 12_000, 300_000][choices.below(4)];
                root.completed(SIGN, &requests::sign(&address, &"x".repeat(length))).await;
            }
        }
        let database = format!("copy{round}");
        cluster.query("postgres", &format!("CREATE DATABASE {database} ENCODING 'UTF8'"));
        let url = cluster.url_of(&database);
        use_store(&installation, "remote", Some(&format!("postgres\"\nurl = \"{url}")));
        let remote = installation.path("remote.toml");
        std::fs::rename(installation.path("quorated.toml"), &remote).expect("renamed");
        std::fs::create_dir(installation.path("remote")).expect("a folder");
        let places = [
            place(&installation, "sled", "data"),
            place(&installation, "redb", "second"),
            place(&installation, "postgres", "remote.toml"),
            place(&installation, "sled", "last"),
        ];
        let mut copies = Vec::new();
        for [from, to] in places.array_windows() {
            copies.push(copied(&installation, from, to).await);
        }
        assert!(copies.iter().all(|one| *one == copies[0]), "seed {round}: {copies:#?}");
        use_store(&installation, "last", None);
        assert_run(&installation.run("verify", &[]).await, 0, "are complete and unchanged");
        stage.examine(&installation).await;
        cluster.query("postgres", &format!("DROP DATABASE {database}"));
    }
    eprintln!("f9 copies: {rounds} stores over sled, redb, PostgreSQL and sled, all unchanged");
}

#[tokio::test]
async fn copies_that_could_be_mistaken_are_refused() {
    let installation = Installation::new(KEY_FILE);
    use_store(&installation, "data", None);
    let stage = Stage::prepare(&installation).await;
    std::fs::create_dir(installation.path("full")).expect("a folder");
    std::fs::write(installation.path("full/file"), "mine").expect("written");
    for (from, words) in [
        ("redb:", "the path is empty"),
        (
            "postgres:postgres://quorate@db.example.org/quorate",
            "name the configuration file whose [store] has this URL",
        ),
    ] {
        let arguments = ["store", "copy", "--from", from, "--to", "sled:new"];
        assert_run(&installation::run(&installation.path(""), &arguments).await, USAGE, words);
    }
    for (from, to, code, words) in [
        (("sled", "missing"), ("redb", "new"), MOVED, "no store in"),
        (("redb", "data"), ("redb", "new"), USAGE, "is on the engine sled: use --from sled:"),
        (("sled", "data"), ("redb", "data"), USAGE, "must be outside of the directory of the store"),
        (("sled", "data"), ("redb", "data/store"), USAGE, "must be outside of the directory of the store"),
        (("mysql", "data"), ("redb", "new"), USAGE, "must be \"sled\", \"redb\" or \"postgres\""),
        (("sled", "data"), ("redb", "full"), USAGE, "full is not empty: name an empty or missing directory"),
        (("sled", "data"), ("redb", "full/file"), USAGE, "file: is not a directory: name the data directory"),
        (("sled", "data"), ("postgres", "full"), USAGE, "is a directory: name the configuration file"),
    ] {
        assert_run(&copy(&installation, from, to).await, code, words);
    }
    {
        let _served = installation.serve().await;
        assert_run(&copy(&installation, ("sled", "data"), ("redb", "new")).await, 6, "is in use");
    }
    // A directory with a store, and one that lost its store.
    use_store(&installation, "other", Some("redb"));
    installation.create_organization("other", &Key::named("somebody")).await;
    let run = copy(&installation, ("sled", "data"), ("redb", "other")).await;
    assert_run(&run, USAGE, "already contains a store");
    std::fs::create_dir(installation.path("lost")).expect("a folder");
    std::fs::copy(installation.path("other/guard"), installation.path("lost/guard")).expect("copied");
    let run = copy(&installation, ("sled", "data"), ("redb", "lost")).await;
    assert_run(&run, LOST, "belongs to a store that is not in");
    use_store(&installation, "data", None);
    stage.examine(&installation).await;
}

#[tokio::test]
async fn a_subcommand_of_store_is_suggested() {
    let installation = Installation::new(KEY_FILE);
    for command in ["stat", "copy", "reclaim"] {
        let run = installation::run(&installation.path(""), &[command]).await;
        assert_run(&run, USAGE, &format!("a similar subcommand exists: 'store {command}'"));
    }
}

#[tokio::test]
async fn a_command_beside_the_daemon_states_what_to_do() {
    let installation = Installation::new(KEY_FILE);
    use_store(&installation, "data", None);
    Stage::prepare(&installation).await;
    let _served = installation.serve().await;
    let words = "is in use by another process; stop the daemon, or the other command, first";
    assert_run(&installation.run("verify", &[]).await, 6, words);
    let words = "first; while the daemon runs, `quorate status` shows the quorum key";
    assert_run(&installation.run("quorum-key", &[]).await, 6, words);
}

#[tokio::test]
async fn a_moved_store_is_reclaimed_only_on_purpose() {
    let installation = Installation::new(KEY_FILE);
    use_store(&installation, "data", None);
    let stage = Stage::prepare(&installation).await;
    assert_run(&copy(&installation, ("sled", "data"), ("redb", "new")).await, 0, "is marked as moved");
    // It is copied nowhere else, and not twice.
    assert_run(&copy(&installation, ("sled", "data"), ("redb", "third")).await, MOVED, "was moved to");
    let words = format!("was moved to {}; configure that one", place(&installation, "redb", "new"));
    assert_run(&copy(&installation, ("sled", "data"), ("redb", "new")).await, MOVED, &words);
    let configuration = installation.path("quorated.toml");
    let reclaim = async |word: &str| {
        let configuration = configuration.to_str().expect("UTF-8");
        let arguments = ["store", "reclaim", "--config", configuration, "--confirm", word];
        installation::run(&installation.path(""), &arguments).await
    };
    assert_run(
        &reclaim("yes").await,
        1,
        "nothing was changed: type the word `unserved` to confirm, or add --confirm unserved",
    );
    assert_run(&installation.run("serve", &[]).await, MOVED, "was moved to");
    let words = format!("reclaimed: remove the directory {}", installation.path("new").display());
    assert_run(&reclaim("unserved").await, 0, &words);
    assert_run(&reclaim("unserved").await, 0, "nothing to reclaim");
    stage.examine(&installation).await;
}

/// Runs a subcommand of `quorated store` with the configuration.
async fn run_store(installation: &Installation, command: &str, more: &[&str]) -> Run {
    let configuration = installation.path("quorated.toml");
    let mut arguments = vec!["store", command, "--config", configuration.to_str().expect("UTF-8")];
    arguments.extend(more);
    installation::run(&installation.path(""), &arguments).await
}

#[tokio::test]
async fn a_store_in_a_database_is_named_by_its_configuration() {
    let cluster = Cluster::start();
    let installation = Installation::new(KEY_FILE);
    use_database(&installation, "data", &cluster.url());
    // A database without a store, and then one whose header is missing in the data directory.
    let words = "no store in the database quorate on ";
    for run in [run_store(&installation, "stat", &[]).await, installation.run("join", &[]).await] {
        assert_run(&run, MOVED, words);
        assert_run(&run, MOVED, "; check [store] url, or create a store with 'quorated init'");
    }
    let stage = Stage::prepare(&installation).await;
    let before = figures(&installation).await;
    std::fs::remove_file(installation.path("data/quorate.json")).expect("removed");
    assert_eq!(figures(&installation).await, before);
    assert!(!installation.path("data/quorate.json").exists(), "it only reads");
    stage.examine(&installation).await;

    let run = copy(&installation, ("sled", "data"), ("redb", "new")).await;
    assert_run(
        &run,
        USAGE,
        "is in a database: use --from postgres:FILE, with the configuration file of the daemon",
    );
    assert_run(
        &copy(&installation, ("postgres", "quorated.toml"), ("redb", "new")).await,
        0,
        "is marked as moved",
    );
    let folder = installation.path("data");
    let words = format!("the store in the database of the data directory {} was moved to", folder.display());
    assert_run(&installation.run("serve", &[]).await, MOVED, &words);
    std::fs::remove_file(installation.path("data/quorate.json")).expect("removed");
    assert_run(&run_store(&installation, "reclaim", &["--confirm", "unserved"]).await, 0, "reclaimed");
    stage.examine(&installation).await;

    // The place of a copy in a database is the configuration file, which is kept.
    cluster.query("postgres", "CREATE DATABASE second ENCODING 'UTF8'");
    let text = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    let to = in_database(&installation, "second", &cluster.url_of("second"));
    installation.configure(&text);
    copied(&installation, &place(&installation, "postgres", "quorated.toml"), &to).await;
    let words = "reclaimed: drop the schema quorate, which is the copy, in the database of the configuration";
    assert_run(&run_store(&installation, "reclaim", &["--confirm", "unserved"]).await, 0, words);
}

/// Configures a data directory and a database.
fn use_database(installation: &Installation, path: &str, url: &str) {
    use_store(installation, path, Some(&format!("postgres\"\nurl = \"{url}")));
}

/// Writes a configuration file `NAME.toml`, of the data directory `NAME` and a database. Returns how `quorated store` names it.
fn in_database(installation: &Installation, name: &str, url: &str) -> String {
    use_database(installation, name, url);
    let file = format!("{name}.toml");
    std::fs::rename(installation.path("quorated.toml"), installation.path(&file)).expect("renamed");
    place(installation, "postgres", &file)
}

/// Returns a digest of all rows of the store in a database.
fn digest(cluster: &Cluster) -> String {
    let digest = |table| {
        let rows =
            format!("SELECT md5(string_agg(one::text, ' ' ORDER BY one::text)) FROM quorate.{table} one");
        cluster.sql(&rows)
    };
    ["record", "queue", "register", "meta"].map(digest).concat()
}

#[tokio::test]
async fn a_copy_to_a_database_with_a_store_is_refused_and_changes_nothing() {
    let cluster = Cluster::start();
    let (installation, other) = (Installation::new(KEY_FILE), Installation::new(KEY_FILE));
    use_database(&other, "data", &cluster.url());
    let kept = Stage::prepare(&other).await;
    use_store(&installation, "data", Some("sled"));
    let stage = Stage::prepare(&installation).await;
    let (from, to) =
        (place(&installation, "sled", "data"), in_database(&installation, "new", &cluster.url()));
    use_store(&installation, "data", None);
    let arguments = ["store", "copy", "--from", &from, "--to", &to];
    let copy = async || installation::run(&installation.path(""), &arguments).await;
    let before = digest(&cluster);
    let words = "the database quorate on ";
    for step in ["complete", "without its header", "without records", "without anything"] {
        let run = copy().await;
        assert_run(&run, USAGE, words);
        assert_run(&run, USAGE, "already contains a store: name an empty one");
        assert!(is_servable(&installation.path("data")) && !is_servable(&installation.path("new")), "{step}");
        match step {
            "complete" => {
                assert_eq!(digest(&cluster), before);
                assert_run(&other.run("verify", &[]).await, 0, "are complete and unchanged");
                kept.examine(&other).await;
                cluster.sql("DELETE FROM quorate.meta WHERE name = 'header'");
            }
            "without its header" => drop(cluster.sql("DELETE FROM quorate.record")),
            "without records" => drop(cluster.sql("DELETE FROM quorate.queue; DELETE FROM quorate.register")),
            _ => {}
        }
    }
    // The store can be copied elsewhere, and the daemon serves it.
    stage.examine(&installation).await;
    cluster.sql("DROP SCHEMA quorate CASCADE");
    assert_run(&copy().await, 0, "is marked as moved");
    use_database(&installation, "new", &cluster.url());
    stage.examine(&installation).await;
}

#[tokio::test]
async fn an_interrupted_copy_to_a_database_can_be_repeated_until_the_copy_was_served() {
    let cluster = Cluster::start();
    let installation = Installation::new(KEY_FILE);
    use_store(&installation, "data", Some("sled"));
    let stage = Stage::prepare(&installation).await;
    let (from, to) =
        (place(&installation, "sled", "data"), in_database(&installation, "new", &cluster.url()));
    use_store(&installation, "data", None);
    for point in ["copy.rows", "copy.compare", "copy.mark", "file.draft", "copy.begin", "copy.header"] {
        dies_at(&installation, point, &from, &to);
        assert!(!is_servable(&installation.path("new")), "{point}");
        if is_servable(&installation.path("data")) {
            stage.examine(&installation).await;
        }
    }
    // The database has all records and the header now.
    let arguments = ["store", "copy", "--from", &from, "--to", &to];
    let copy = async || installation::run(&installation.path(""), &arguments).await;
    let complete = digest(&cluster);
    assert_run(&copy().await, 0, "is marked as moved");
    assert_eq!(digest(&cluster), complete);
    // A daemon with another data directory serves it, so that nothing may be copied over it.
    std::fs::remove_file(installation.path("new/quorate.json")).expect("the header is removed");
    use_database(&installation, "second", &cluster.url());
    assert_run(&installation.run("join", &[]).await, 0, "");
    stage.examine(&installation).await;
    let served = digest(&cluster);
    assert_run(&copy().await, MOVED, "was moved to postgres:");
    assert_eq!(digest(&cluster), served);
    stage.examine(&installation).await;
}

/// Runs a copy that dies at a fail point.
fn dies_at(installation: &Installation, point: &str, from: &str, to: &str) {
    let status = Command::new(paths::program("quorated"))
        .args(["store", "copy", "--from", from, "--to", to])
        .env("FAIL_POINTS", format!("{point}=return"))
        .current_dir(installation.path(""))
        .output()
        .expect("quorated can be started")
        .status;
    assert_eq!(status.code(), None, "{point} is not passed");
}

/// Returns whether a data directory has a header that a daemon would accept.
fn is_servable(data: &Path) -> bool {
    std::fs::read_to_string(data.join("quorate.json")).is_ok_and(|header| !header.contains("movedTo"))
}

#[tokio::test]
async fn an_interrupted_copy_can_be_repeated() {
    for (one, other) in [("sled", "redb"), ("redb", "sled")] {
        let installation = Installation::new(KEY_FILE);
        use_store(&installation, "data", Some(one));
        let stage = Stage::prepare(&installation).await;
        let (from, to) = (place(&installation, one, "data"), place(&installation, other, "new"));
        for point in ["store.applied", "copy.rows", "copy.mark", "file.draft", "file.name", "copy.begin"] {
            dies_at(&installation, point, &from, &to);
            assert!(!is_servable(&installation.path("new")), "{point}");
            if is_servable(&installation.path("data")) {
                stage.examine(&installation).await;
            }
        }
        // The old store is marked now, and the new one has no header yet.
        assert!(!is_servable(&installation.path("data")));
        assert_run(&copy(&installation, (one, "data"), (other, "new")).await, 0, "is marked as moved");
        use_store(&installation, "new", Some(other));
        stage.examine(&installation).await;
    }
}
