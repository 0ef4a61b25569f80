//! `quorate`: the terminal console of a Quorate daemon, and its command line. Reviews activities from the
//! bytes that people signed, and votes. Keeps no state of the service and holds no keys of it.

mod app;
mod ballot;
mod book;
mod canvas;
mod cli;
mod clock;
mod config;
mod console;
mod contracts;
mod editor;
mod failure;
#[cfg(test)]
mod fake;
mod journal;
mod keymap;
mod keys;
mod kinds;
mod link;
mod output;
#[cfg(test)]
#[path = "../../tests/src/passkey.rs"]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "tests")]
mod passkey;
mod place;
mod policies;
mod proof;
mod roster;
mod screens;
mod session;
mod signals;
mod term;
#[cfg(test)]
mod testing;
mod text;
mod theme;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::{Answer, Arguments, Command, Daemon, DevArguments};
use crate::failure::{Exit, Failure};
use crate::place::Folders;
use crate::session::{Context, Session};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return misuse(&error),
    };
    output::choose(arguments.json);
    let folders = match Folders::of_environment() {
        Ok(folders) => folders,
        Err(flaw) => return code(output::finish(Err(Failure::from(flaw)))),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return code(output::finish(Err(Failure::from(error)))),
    };
    let exit = runtime.block_on(start(&arguments, &folders));
    runtime.shutdown_background();
    code(exit)
}

async fn start(arguments: &Arguments, folders: &Folders) -> Exit {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let result = match &arguments.command {
        None if is_terminal => open(&arguments.context, folders).await,
        Some(Command::Dev(wanted)) if is_terminal && !arguments.json => dev(wanted, folders).await,
        // It ends by a signal, and has a daemon to stop before that.
        Some(command @ Command::Dev(_)) => cli::run(arguments, command, folders).await,
        Some(command) => {
            tokio::select! {
                result = cli::run(arguments, command, folders) => result,
                _ = tokio::signal::ctrl_c() => Err(Failure::new(Exit::Interrupted, "interrupted")),
            }
        }
        None => Err(Failure::new(
            Exit::Usage,
            "the console needs a terminal; without one use a command, for example quorate approvals ls --json",
        )),
    };
    output::finish(result)
}

async fn open(context: &Context, folders: &Folders) -> Result<Answer, Failure> {
    console::run(Session::new(context, folders)?).await?;
    Ok(Answer::nothing())
}

async fn dev(wanted: &DevArguments, folders: &Folders) -> Result<Answer, Failure> {
    let daemon = Daemon::start(wanted, folders).await?;
    let context = daemon.context().await?;
    open(&context, folders).await
}

/// Help and version are no misuse; everything else is told in the form that was asked for.
fn misuse(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return code(Exit::Done);
    }
    let asked = std::env::args_os().any(|argument| argument == "--json");
    output::choose(asked);
    let message = error.to_string();
    let message = message.trim().strip_prefix("error: ").unwrap_or(&message);
    code(output::finish(Err(Failure::lines(Exit::Usage, message))))
}

fn code(exit: Exit) -> ExitCode {
    ExitCode::from(exit as u8)
}
