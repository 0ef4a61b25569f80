//! The command line: one subcommand, one file. Each returns data and words; only [`crate::output`] prints.

mod activity;
mod approvals;
mod arguments;
mod book;
mod decide;
mod dev;
mod keys;
mod organizations;
mod policies;
mod propose;
mod review;
mod roster;
mod status;
mod webhooks;

pub(crate) use approvals::waits_for_viewer;
pub(crate) use arguments::{Arguments, Command};
pub(crate) use decide::outlook;
pub(crate) use dev::{Daemon, DevArguments};
pub(crate) use policies::{foretold, replayed};
pub(crate) use review::{needs, text as review_text};
pub(crate) use status::{mode_word, store_word};

use std::path::Path;

use serde_json::Value;

use crate::failure::{Exit, Failure};
use crate::place::{self, Folders};
use crate::session::Session;
use crate::text::clean;

/// What a command gives back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Exit code.
    pub(crate) exit: Exit,
    /// For scripts: lists are one object per line.
    pub(crate) data: Vec<Value>,
    /// For people.
    pub(crate) text: String,
}

impl Answer {
    /// Nothing more to say.
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
        Command::Approve(wanted) => decide::approve(&session()?, wanted).await,
        Command::Reject { reference, expect_sha256, note } => {
            decide::reject(&session()?, reference, *expect_sha256, note.as_deref()).await
        }
        Command::Activity { command } => activity::run(&session()?, command).await,
        Command::Org { command } => organizations::run(&session()?, command).await,
        Command::Policy { command } => policies::run(session, command).await,
        Command::Webhooks { command } => webhooks::run(&session()?, *command).await,
        Command::Key { command } => keys::run(folders, &arguments.context, command),
        Command::Book { command } => book::run(folders, command),
        Command::Roster { command } => roster::run(folders, session, command).await,
        Command::Journal { command } => keys::journal(folders, *command),
        Command::Dev(wanted) => dev::without_terminal(wanted, folders).await,
        Command::Completion { shell } => Ok(Answer::one(Value::Null, arguments::completion(*shell))),
    }
}

/// The content of a file that was named, or of standard input for `-`.
fn given(file: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    if file == Path::new("-") {
        return Ok(place::read_input(limit)?);
    }
    let missing =
        || Failure::new(Exit::NotFound, format!("there is no file {}", clean(&file.display().to_string())));
    place::read(file, limit)?.ok_or_else(missing)
}

#[cfg(test)]
mod tests;
