//! The command line, one file per subcommand. Commands return data and text; only [`crate::output`] prints.

mod activity;
mod activity_arguments;
mod approvals;
mod approvals_arguments;
mod arguments;
mod book;
mod complete;
mod config;
mod contexts;
mod decide;
mod dev;
mod doctor;
mod examples;
mod input;
mod journal;
mod keys;
mod kinds;
mod known_keys;
pub(crate) mod linear;
mod loaded;
mod log;
mod manual;
mod messages;
mod open;
mod organizations;
mod policies;
mod policy_arguments;
mod proof;
mod proof_arguments;
mod proposals;
mod propose;
mod review;
mod schemas;
mod shares;
mod status;
mod table;
mod users;
mod values;
mod vote;
mod wallets;
mod watch;
mod webhook_arguments;
mod webhooks;
mod whoami;

pub(crate) use arguments::{Arguments, Command};
pub(crate) use dev::{Daemon, DevArguments};
pub(crate) use manual::command;

use crate::failure::Result;
use crate::files::Folders;
use crate::output::Answer;
use crate::session::Session;

/// Runs a command that needs no terminal.
pub(crate) async fn run(arguments: &Arguments, command: &Command, folders: &Folders) -> Result<Answer> {
    let session = || Session::new(&arguments.context, folders);
    match command {
        Command::Status => status::run(&session()?).await,
        Command::Approvals(command) => approvals::run(&session()?, command).await,
        Command::Review { reference } => review::run(&session()?, reference).await,
        Command::Approve(options) => decide::approve(&session()?, options).await,
        Command::Reject { reference, expect_sha256, note } => {
            decide::reject(&session()?, reference, *expect_sha256, note.as_deref()).await
        }
        Command::Proof(command) => proof::run(&session()?, command).await,
        Command::Vote(command) => vote::run(&session()?, command).await,
        Command::Activity(command) => activity::run(&session()?, command).await,
        Command::Org(command) => organizations::run(&session()?, command).await,
        Command::Policy(command) => policies::run(session, command).await,
        Command::Propose(arguments) => proposals::run(session, arguments).await,
        Command::Webhook(command) => webhooks::run(&session()?, command).await,
        Command::User(command) => users::run(&session()?, command).await,
        Command::Messages(command) => messages::run(&session()?, command).await,
        Command::Wallet(command) => wallets::run(&session()?, command).await,
        Command::Watch { limit } => watch::run(&session()?, *limit).await,
        Command::Open { address } => open::run(&arguments.context, folders, *address).await,
        Command::Whoami => whoami::run(&session()?, folders).await,
        Command::Key(command) => keys::run(folders, &arguments.context, command),
        Command::Book(command) => book::run(folders, command),
        Command::KnownKeys(command) => known_keys::run(folders, session, command).await,
        Command::Log(command) => log::run(&session()?, command).await,
        Command::Journal(command) => journal::run(folders, *command),
        Command::Doctor => doctor::run(&arguments.context, folders).await,
        Command::Config(command) => config::run(folders, &arguments.context, *command),
        Command::Context(command) => contexts::run(folders, &arguments.context, command),
        Command::Unseal { letter } => shares::unseal(&session()?, folders, &arguments.context, letter).await,
        Command::Share(command) => shares::run(folders, &arguments.context, command),
        Command::Dev(options) => dev::without_terminal(options, folders).await,
        Command::Completion { shell, r#static } => manual::completion(*shell, *r#static),
        Command::Schema => Ok(schemas::run()),
        Command::Man { folder } => manual::pages(folder),
    }
}

#[cfg(test)]
mod tests;
