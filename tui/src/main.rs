//! `quorate`: the terminal console and the command line of a Quorate daemon. Reviews activities from the
//! signed bytes, and votes on them. Stores no service state and no service keys.

mod address;
mod app;
mod ballot;
mod book;
mod canvas;
mod catalog;
mod cli;
mod clock;
mod config;
mod console;
mod contracts;
mod credentials;
mod doctor;
mod editor;
mod fail_points;
mod failure;
#[cfg(test)]
mod fake;
mod files;
mod forms;
mod fuzzy;
mod journal;
mod keymap;
mod keys;
mod kinds;
mod known_keys;
mod link;
mod messages;
mod nearest;
mod output;
mod panics;
mod policies;
mod process;
mod proof;
mod published;
mod screens;
mod session;
mod signals;
mod term;
#[cfg(test)]
mod testing;
mod text;
mod theme;
mod vote_file;
mod webhooks;
mod witness;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap_complete::CompleteEnv;
use futures_util::FutureExt;

use crate::cli::{Arguments, Command, Daemon, DevArguments};
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::output::{Answer, Format};
use crate::session::{Context, Environment, Session};

fn main() -> ExitCode {
    process::harden();
    // Ends the program if a shell requests completions.
    CompleteEnv::with_factory(cli::command).bin("quorate").complete();
    let mut arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage_error(&error),
    };
    arguments.context.environment = Environment::read();
    output::choose(arguments.format());
    if let Err(error) = catalog::check() {
        return code(output::finish(Err(Failure::new(Exit::Failed, error))));
    }
    let folders = match Folders::from_environment() {
        Ok(folders) => folders,
        Err(error) => return code(output::finish(Err(Failure::from(error)))),
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
        None if is_terminal && arguments.linear => linear(&arguments.context, folders).await,
        None if is_terminal => open(&arguments.context, folders).await,
        Some(_) if arguments.linear => {
            Err(Failure::new(Exit::Usage, "--linear opens the console: it takes no command"))
        }
        Some(Command::Dev(options)) if is_terminal && arguments.format() != Format::Json => {
            dev(options, folders).await
        }
        // `dev` ends on a signal and must stop its daemon first.
        Some(command @ Command::Dev(_)) => cli::run(arguments, command, folders).await,
        Some(command) => {
            tokio::select! {
                result = cli::run(arguments, command, folders) => result,
                failure = tokio::signal::ctrl_c().map(|_| signals::interrupted()) => Err(failure),
            }
        }
        None => Err(Failure::new(
            Exit::Usage,
            "the console needs a terminal, also with --linear; without one, run a command such as `quorate approvals ls --json`",
        )),
    };
    output::finish(result)
}

async fn open(context: &Context, folders: &Folders) -> Result<Answer> {
    if is_dumb() {
        return linear(context, folders).await;
    }
    console::run(Session::interactive(context, folders).await?).await?;
    Ok(Answer::nothing())
}

/// Returns whether the terminal only prints lines, as that of an editor or a printer.
fn is_dumb() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

async fn linear(context: &Context, folders: &Folders) -> Result<Answer> {
    let session = Session::interactive(context, folders).await?;
    let ended = tokio::select! {
        ended = cli::linear::run(&session) => ended,
        failure = signals::ended().map(|()| signals::interrupted()) => Err(failure),
    };
    session.lock();
    ended
}

async fn dev(options: &DevArguments, folders: &Folders) -> Result<Answer> {
    let daemon = Daemon::start(options, folders).await?;
    let context = daemon.context().await?;
    open(&context, daemon.folders()).await
}

/// Handles a failed argument parse. Help and version end successfully; usage errors are reported as text or
/// JSON.
fn usage_error(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return code(Exit::Done);
    }
    let words: Vec<_> = std::env::args_os().collect();
    let is_json = |word: &std::ffi::OsString| {
        ["--json", "-ojson", "-o=json", "--format=json"].iter().any(|one| word == *one)
    };
    let is_pair = |pair: &[std::ffi::OsString]| matches!(pair, [option, value] if (option == "-o" || option == "--format") && value == "json");
    let wants_json = words.iter().any(is_json) || words.windows(2).any(is_pair);
    output::choose(if wants_json { Format::Json } else { Format::Text });
    let message = error.to_string();
    let message = message.trim().strip_prefix("error: ").unwrap_or(&message);
    let message = format!("{message}{}", similar_command(error));
    code(output::finish(Err(Failure::lines(Exit::Usage, &message))))
}

/// Returns a hint at the command that was probably meant, where the error has none: after `quorate help`.
fn similar_command(error: &clap::Error) -> String {
    let typed = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(typed)) if error.get(ContextKind::SuggestedSubcommand).is_none() => typed,
        _ => return String::new(),
    };
    let program = cli::command();
    let names = program.get_subcommands().map(clap::Command::get_name);
    let meant = nearest::nearest(typed, names);
    meant.map_or_else(String::new, |meant| format!("\n\n  tip: a similar subcommand exists: '{meant}'"))
}

fn code(exit: Exit) -> ExitCode {
    ExitCode::from(exit as u8)
}
