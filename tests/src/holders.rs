//! People who hold shares of a store, and the slots that they open.

use std::fs;

use serde_json::Value;

use crate::http::Reply;
use crate::installation::{self, Installation};
use crate::operator::{Ended, Operator};

/// Passphrase of the key of each holder.
const PHRASE: &str = "a long passphrase\n";

/// A person who holds a share: a console with a key file.
pub struct Holder {
    /// Name.
    pub name: &'static str,
    /// Console with the key file.
    pub console: Operator,
    /// Public key, to which letters are encrypted.
    pub public_key: String,
}

impl Holder {
    /// Creates a holder with a key.
    ///
    /// # Panics
    /// Panics if the key cannot be created.
    pub async fn new(installation: &Installation, name: &'static str) -> Self {
        let console = Operator::anywhere(&installation.path("run/socket"));
        let words = ["--json", "key", "add", name, "--passphrase-fd", "0"];
        let created = console.run_raw(&words, PHRASE).await.with(0).json();
        let public_key = created["publicKey"].as_str().expect("a key").to_owned();
        Self { name, console, public_key }
    }

    /// Creates holders with these names.
    pub async fn all(installation: &Installation, names: &[&'static str]) -> Vec<Self> {
        let mut holders = Vec::new();
        for name in names {
            holders.push(Self::new(installation, name).await);
        }
        holders
    }

    /// Runs a command about a letter.
    pub async fn run(&self, command: &[&str], letter: &str) -> Ended {
        let identity = self.console.identity();
        let own = identity.iter().map(String::as_str);
        let words =
            own.chain(["--json", "--passphrase-fd", "0"]).chain(command.iter().copied()).chain([letter]);
        self.console.run_raw(&words.collect::<Vec<_>>(), PHRASE).await
    }

    /// Gives the share in a letter; the command ends with this code.
    ///
    /// # Panics
    /// Panics if it ends with another one.
    pub async fn unseal(&self, letter: &str, code: i32) -> Ended {
        self.run(&["unseal"], letter).await.with(code)
    }

    /// Tries to give the share in a letter to another daemon.
    ///
    /// # Panics
    /// Panics if the path of its socket is not UTF-8.
    pub async fn try_unseal_at(&self, installation: &Installation, letter: &str) -> Ended {
        let socket = installation.path("run/socket");
        let words = ["--socket", socket.to_str().expect("UTF-8"), "--passphrase-fd", "0", "unseal", letter];
        self.console.run_raw(&words, PHRASE).await
    }

    /// Gives the share in a letter to another daemon.
    ///
    /// # Panics
    /// Panics if the path of its socket is not UTF-8, or the command ends with another code.
    pub async fn unseal_at(&self, installation: &Installation, letter: &str, code: i32) -> Ended {
        self.try_unseal_at(installation, letter).await.with(code)
    }
}

/// Makes a new set of shares, and returns the letters in the order of the holders.
///
/// # Panics
/// Panics if the set cannot be made.
pub async fn rekey(
    installation: &Installation,
    threshold: &str,
    holders: &[Holder],
    replaces: &[String],
) -> Vec<String> {
    let folder = installation.path("letters");
    let folder = folder.to_str().expect("UTF-8");
    let named: Vec<String> =
        holders.iter().map(|holder| format!("{}={}", holder.name, holder.public_key)).collect();
    let mut words = vec!["--json", "--threshold", threshold, "--letters", folder];
    words.extend(named.iter().flat_map(|holder| ["--holder", holder.as_str()]));
    words.extend(replaces.iter().flat_map(|slot| ["--replace", slot.as_str()]));
    let run = installation.run("rekey", &words).await;
    assert_eq!(run.code, 0, "{run:#?}");
    let made: Value = serde_json::from_str(&run.output).expect("JSON");
    let letters = made["letters"].as_array().expect("letters").iter();
    letters.map(|letter| letter.as_str().expect("a path").to_owned()).collect()
}

/// Returns the slots of a store.
///
/// # Panics
/// Panics if they cannot be listed.
pub async fn slots(installation: &Installation) -> Vec<Value> {
    let configuration = installation.path("quorated.toml");
    let words = ["slot", "ls", "--json", "--config", configuration.to_str().expect("UTF-8")];
    let run = installation::run(&installation.path(""), &words).await;
    assert_eq!(run.code, 0, "{run:#?}");
    let listed: Value = serde_json::from_str(&run.output).expect("JSON");
    listed.as_array().expect("slots").clone()
}

/// Returns the ids of the slots of a store.
///
/// # Panics
/// Panics if they cannot be listed.
pub async fn slot_ids(installation: &Installation) -> Vec<String> {
    slots(installation).await.iter().map(|slot| slot["id"].as_str().expect("an id").to_owned()).collect()
}

/// Returns whether a daemon waits for shares.
#[must_use]
pub fn is_sealed(readiness: &Reply) -> bool {
    readiness.status == 503 && readiness.body == br#"{"status":"sealed"}"#[..]
}

/// Replaces the section of the key in the configuration.
///
/// # Panics
/// Panics if the configuration cannot be read.
pub fn use_key(installation: &Installation, key: &str) {
    let text = fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    let (before, _) = text.split_once("[key]").expect("a section");
    installation.configure(&format!("{before}[key]\n{key}\n"));
}
