//! `quorated slot`: what opens the store.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use quorate_common::console::custody::{
    NewKeySlot, NewTokenSlot, SealStatus, SlotCondition, SlotKind, SlotRow,
};
use serde_json::{Value, json};

use super::daemon::request;
use super::serve::{database, read};
use crate::config::TokenLabels;
use crate::custody::{self, Headers};
use crate::private_file;
use crate::service::StartError;

/// Word that confirms the removal of a slot.
const WORD: &str = "remove";

/// Subcommands of `quorated slot`.
#[derive(Debug, Subcommand)]
pub enum SlotCommand {
    /// List the slots, also while the daemon does not run
    Ls(ListArguments),
    /// Add a slot for a key file, a passphrase, a token or a command
    Add(AddArguments),
    /// Remove a slot: what opened it opens the store no longer
    ///
    /// With an old copy of `quorate.json`, it still opens every copy of the store.
    Rm(RemoveArguments),
}

/// Arguments of `quorated slot ls`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Configuration file (TOML), which names the socket of the daemon and the store
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `quorated slot add`.
#[derive(Debug, Args)]
pub struct AddArguments {
    /// Configuration file (TOML), which names the socket of the daemon
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    #[command(flatten)]
    key: NewKeyArguments,
    /// PKCS #11 module of the token
    #[arg(long, value_name = "FILE", requires = "pkcs11")]
    pkcs11_module: Option<PathBuf>,
    /// File that only its owner may read, whose first line is the PIN of the token
    #[arg(long, value_name = "FILE", requires = "pkcs11")]
    pin_file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What opens a new slot.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct NewKeyArguments {
    /// Key file, which the daemon creates if it is missing
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// File that only its owner may read, whose first line is the passphrase
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Labels of a token and of an AES key on it, which encrypts the key of the slot
    #[arg(long, value_name = "TOKEN/LABEL", requires_all = ["pkcs11_module", "pin_file"])]
    pkcs11: Option<TokenLabels>,
    /// Program that encrypts the key of the slot, and its arguments; this option comes last
    #[arg(long, value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Arguments of `quorated slot rm`.
#[derive(Debug, Args)]
pub struct RemoveArguments {
    /// Configuration file (TOML), which names the socket of the daemon
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Id of the slot
    #[arg(value_name = "SLOT", value_parser = slot_id)]
    id: String,
    /// Confirm without a terminal, with the word `remove`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn slot_id(text: &str) -> Result<String, String> {
    let is_id = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { Ok(text.to_owned()) } else { Err("expected an id, as 'quorated slot ls' shows it".to_owned()) }
}

/// Runs a subcommand.
///
/// # Errors
/// Returns an error if the daemon rejects it, or the header cannot be read.
pub async fn run(command: SlotCommand) -> Result<(), StartError> {
    match command {
        SlotCommand::Ls(arguments) => list(&arguments).await,
        SlotCommand::Add(arguments) => {
            let new = new_slot(&arguments)?;
            show(&request(&read(&arguments.config)?, "slots", Some(&new)).await?, arguments.json)
        }
        SlotCommand::Rm(arguments) => {
            let config = read(&arguments.config)?;
            let question = format!("What opens slot {} will open the store no longer.", arguments.id);
            super::confirm(&question, WORD, arguments.confirm.as_deref())?;
            let path = format!("slots/{}/remove", arguments.id);
            show(&request(&config, &path, Some(&json!({}))).await?, arguments.json)
        }
    }
}

fn new_slot(
    AddArguments { key, pkcs11_module, pin_file, .. }: &AddArguments,
) -> Result<NewKeySlot, StartError> {
    // The daemon, which reads them, would only state that a file cannot be used.
    let secrets = [&key.key_file, &key.passphrase_file, pin_file];
    for secret in secrets.into_iter().flatten().filter(|path| path.is_file()) {
        private_file::open_secret(secret)?;
    }
    let path = |path: &Option<PathBuf>| path.as_deref().map(absolute).transpose();
    let token = |labels: &TokenLabels| -> Result<NewTokenSlot, StartError> {
        Ok(NewTokenSlot {
            token: labels.token.clone(),
            key: labels.key.clone(),
            module: path(pkcs11_module)?.unwrap_or_default(),
            pin_file: path(pin_file)?.unwrap_or_default(),
        })
    };
    Ok(NewKeySlot {
        key_file: path(&key.key_file)?,
        passphrase_file: path(&key.passphrase_file)?,
        command: (!key.command.is_empty()).then(|| key.command.clone()),
        pkcs11: key.pkcs11.as_ref().map(token).transpose()?,
    })
}

async fn list(arguments: &ListArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let status = match request(&config, "seal", None::<&Value>).await {
        Err(StartError::NoDaemon(_)) => {
            let headers = Headers::of_sealed(config.store.path.clone(), database(&config.store)?);
            let header = tokio::task::block_in_place(|| headers.read())?;
            let slots = custody::rows(&header, |_| Vec::new());
            SealStatus { sealed: true, attempt: None, ends_in_seconds: None, slots }
        }
        answered => answered?,
    };
    show(&status, arguments.json)
}

fn absolute(path: &Path) -> Result<String, StartError> {
    let full = std::path::absolute(path)
        .map_err(|error| StartError::Usage(format!("{}: {error}", path.display())))?;
    full.into_os_string()
        .into_string()
        .map_err(|path| StartError::Usage(format!("{}: not UTF-8", path.display())))
}

fn show(status: &SealStatus, json: bool) -> Result<(), StartError> {
    if json {
        let text =
            serde_json::to_string(&status.slots).map_err(|error| StartError::Other(error.to_string()))?;
        return super::print(&text);
    }
    let mut text = String::new();
    for slot in &status.slots {
        let _ = writeln!(text, "{}", row(slot));
    }
    super::print(text.trim_end())
}

fn row(slot: &SlotRow) -> String {
    let id = slot.id.as_deref().unwrap_or("the only key");
    let state = match slot.state {
        SlotCondition::Pending => "pending",
        SlotCondition::Active => "active ",
    };
    let kind = match slot.kind {
        SlotKind::File => "key file".to_owned(),
        SlotKind::Passphrase => "passphrase".to_owned(),
        SlotKind::Command => "command".to_owned(),
        SlotKind::Pkcs11 => "PKCS #11 token".to_owned(),
        SlotKind::Shares => {
            let names: Vec<&str> = slot.holders.iter().map(|holder| holder.name.as_str()).collect();
            let threshold = slot.threshold.unwrap_or_default();
            format!("shares, {threshold} of {}: {}", names.len(), names.join(", "))
        }
    };
    let replaces = match slot.replaces.as_slice() {
        [] => String::new(),
        ids => format!("; replaces {}", ids.join(", ")),
    };
    format!("{id}  {state}  {kind}{replaces}")
}
