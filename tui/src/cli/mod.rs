//! The command line, one file per subcommand. Commands return data and text; only [`crate::output`] prints.

mod activity;
mod approvals;
mod arguments;
mod book;
mod decide;
mod dev;
mod keys;
mod known_keys;
mod organizations;
mod policies;
mod propose;
mod review;
mod status;
mod webhooks;

pub(crate) use approvals::waits_for_viewer;
pub(crate) use arguments::{Arguments, Command};
pub(crate) use decide::outcome_text;
pub(crate) use dev::{Daemon, DevArguments};
pub(crate) use policies::{replay_lines, simulation_text};
pub(crate) use review::{needs, text as review_text};
pub(crate) use status::{mode_word, store_word};

use std::path::Path;

use serde_json::Value;

use crate::failure::{Exit, Failure};
use crate::files::{self, Folders};
use crate::session::Session;
use crate::text::clean;

/// Result of a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    /// Data for scripts: lists are one object per line.
    pub(crate) data: Vec<Value>,
    /// Text for people.
    pub(crate) text: String,
}

impl Answer {
    /// Creates an empty result.
    pub(crate) const fn nothing() -> Self {
        Self { exit: Exit::Done, data: Vec::new(), text: String::new() }
    }

    fn one(data: Value, text: String) -> Self {
        Self { exit: Exit::Done, data: vec![data], text }
    }

    fn list(data: Vec<Value>, text: String) -> Self {
        Self { exit: Exit::Done, data, text }
    }

    const fn exits(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

/// Runs a command that needs no terminal.
pub(crate) async fn run(
    arguments: &Arguments,
    command: &Command,
    folders: &Folders,
) -> Result<Answer, Failure> {
    let session = || Session::new(&arguments.context, folders);
    match command {
        Command::Status => status::run(&session()?).await,
        Command::Approvals { command } => approvals::run(&session()?, command).await,
        Command::Review { reference } => review::run(&session()?, reference).await,
        Command::Approve(options) => decide::approve(&session()?, options).await,
        Command::Reject { reference, expect_sha256, note } => {
            decide::reject(&session()?, reference, *expect_sha256, note.as_deref()).await
        }
        Command::Activity { command } => activity::run(&session()?, command).await,
        Command::Org { command } => organizations::run(&session()?, command).await,
        Command::Policy { command } => policies::run(session, command).await,
        Command::Webhooks { command } => webhooks::run(&session()?, *command).await,
        Command::Key { command } => keys::run(folders, &arguments.context, command),
        Command::Book { command } => book::run(folders, command),
        Command::KnownKeys { command } => known_keys::run(folders, session, command).await,
        Command::Journal { command } => keys::journal(folders, *command),
        Command::Dev(options) => dev::without_terminal(options, folders).await,
        Command::Completion { shell } => Ok(Answer::one(Value::Null, arguments::completion(*shell))),
    }
}

/// Reads a file, or standard input for `-`.
fn given(file: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    if file == Path::new("-") {
        return Ok(files::read_input(limit)?);
    }
    let missing =
        || Failure::new(Exit::NotFound, format!("file {} not found", clean(&file.display().to_string())));
    files::read(file, limit)?.ok_or_else(missing)
}

#[cfg(test)]
mod tests;
