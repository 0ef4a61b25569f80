//! The program `quorated`: parses the arguments, runs the command and returns its exit code.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use quorated::commands::{
    Arguments, Command, accept_clock, accept_loss, backup, clear_ip_allowlist, dev, init, join, manual,
    quorum_key, reject, rekey, release, remove_mfa_policies, restore, rotate, seal, serve, slot, store,
    verify,
};
use quorated::service::StartError;

/// Time for work that is still in progress when a command has ended.
const LAST_WORK: Duration = Duration::from_secs(5);

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| reject(error));
    // Core files would contain keys.
    quorated::process::harden();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => {
            let result = runtime.block_on(run(arguments));
            // A file system that does not answer must not keep the process.
            runtime.shutdown_timeout(LAST_WORK);
            result
        }
        Err(error) => Err(StartError::Other(format!("cannot start the runtime: {error}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            quorated::process::print_error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    match arguments.command {
        Command::Serve { config, sealed } => serve::run(&config, sealed).await,
        Command::Init(arguments) => init::run(arguments).await,
        Command::Join(arguments) => join::run(&arguments),
        Command::ClearIpAllowlist(arguments) => clear_ip_allowlist::run(arguments).await,
        Command::RemoveMfaPolicies(arguments) => remove_mfa_policies::run(arguments).await,
        Command::QuorumKey(arguments) => quorum_key::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments).await,
        Command::Backup(arguments) => backup::run(&arguments).await,
        Command::Restore(arguments) => restore::run(&arguments).await,
        Command::Release(arguments) => release::run(&arguments).await,
        Command::AcceptLoss(arguments) => accept_loss::run(&arguments),
        Command::AcceptClock(arguments) => accept_clock::run(&arguments),
        Command::Rekey(arguments) => rekey::run(arguments).await,
        Command::Rotate(arguments) => rotate::run(&arguments).await,
        Command::Seal(arguments) => seal::run(&arguments).await,
        Command::Slot(command) => slot::run(command).await,
        Command::Store(arguments) => store::run(&arguments),
        Command::Dev(arguments) => dev::run(*arguments).await,
        Command::Completion { shell } => manual::completion(shell),
        Command::Man { folder } => manual::pages(&folder),
    }
}
