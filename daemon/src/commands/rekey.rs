//! `quorated rekey`: splits the key of a new slot into shares.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use quorate_common::console::custody::{Letters, NewHolder, NewShareSet, SealStatus};
use quorate_common::share::ShareLetter;
use serde_json::json;

use super::daemon::request;
use super::serve::read;
use crate::config::Config;
use crate::private_file;
use crate::service::{StartError, create_private};
use crate::vault::VaultError;

/// Arguments of `quorated rekey`.
#[derive(Debug, Args)]
pub struct RekeyArguments {
    /// Configuration file (TOML), which names the socket of the daemon
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Number of shares that open the store, at least 2
    #[arg(long, value_name = "K")]
    threshold: u8,
    /// Holder of a share and the P-256 public key of the holder, as 'quorate key ls' shows it; 2 to 16 times
    #[arg(long = "holder", value_name = "NAME=KEY", required = true, value_parser = holder)]
    holders: Vec<NewHolder>,
    /// Directory for the letters, which is created if missing
    #[arg(long, value_name = "DIR")]
    letters: PathBuf,
    /// Slot to remove when the new one is active, as 'quorated slot ls' shows it; may be repeated
    #[arg(long = "replace", value_name = "SLOT")]
    replaces: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn holder(text: &str) -> Result<NewHolder, String> {
    let (name, key) = text.rsplit_once('=').ok_or("expected NAME=KEY")?;
    Ok(NewHolder { name: name.to_owned(), public_key: key.to_owned() })
}

/// Requests a new set of shares, and writes the letters.
///
/// # Errors
/// Returns an error if the daemon rejects it, or a letter cannot be written.
pub async fn run(arguments: RekeyArguments) -> Result<(), StartError> {
    let RekeyArguments { config, threshold, holders, letters: folder, replaces, json } = arguments;
    let config = read(&config)?;
    create_private(&folder)?;
    let new = NewShareSet { threshold, holders, replaces };
    let made: Letters = request(&config, "rekey", Some(&new)).await?;
    let mut files = Vec::new();
    for letter in &made.letters {
        match write(&folder, letter) {
            Ok(file) => files.push(file),
            Err(error) => {
                withdraw(&config, &made.set, &files).await;
                return Err(error);
            }
        }
    }
    if json {
        let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        return super::print(
            &json!({ "set": made.set, "threshold": threshold, "letters": files }).to_string(),
        );
    }
    let mut text =
        format!("set {}: letters of {} holders, of whom {threshold} open the store\n", made.set, files.len());
    for (file, letter) in files.iter().zip(&made.letters) {
        let _ = writeln!(text, "  {}  for {}", file.display(), letter.place.holder);
    }
    text.push_str(
        "The set opens nothing yet. Send each holder the letter. Each runs 'quorate share check LETTER', and as many \
         as open the store run 'quorate unseal LETTER'; then the set is active.",
    );
    super::print(&text)
}

/// Removes a set of which a letter could not be written. Its holders could confirm it, although one has no share.
async fn withdraw(config: &Config, set: &str, files: &[PathBuf]) {
    for file in files {
        // They are useless without the set.
        let _ = fs::remove_file(file);
    }
    let removed = request::<SealStatus>(config, &format!("slots/{set}/remove"), Some(&json!({}))).await;
    if let Err(error) = removed {
        crate::process::print_error(&error);
    }
}

fn write(folder: &Path, letter: &ShareLetter) -> Result<PathBuf, StartError> {
    let place = &letter.place;
    let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    let holder: String = place.holder.chars().map(plain).collect();
    let set = place.set.get(..8).unwrap_or_default();
    let path = folder.join(format!("share-{set}-{}-{holder}.json", place.index));
    let text = letter.to_json().map_err(|error| StartError::Other(error.to_string()))?;
    private_file::create(&path, text.as_bytes()).map_err(|source| VaultError::System {
        doing: "writing the letter",
        path: path.clone(),
        source,
    })?;
    Ok(path)
}
