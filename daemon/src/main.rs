//! The daemon's program: arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;
use quorated::commands::{
    Arguments, Command, accept_clock, accept_loss, clear_ip_allowlist, dev, init, quorum_key, serve, verify,
};
use quorated::service::StartError;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // No core files: they would hold keys.
    quorated::process::harden();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments)),
        Err(error) => Err(StartError::Other(format!("no threads can be started: {error}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            quorated::process::complain(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), StartError> {
    match arguments.command {
        Command::Serve { config } => serve::run(&config).await,
        Command::Init(arguments) => init::run(arguments).await,
        Command::ClearIpAllowlist(arguments) => clear_ip_allowlist::run(arguments).await,
        Command::QuorumKey(arguments) => quorum_key::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::AcceptLoss(arguments) => accept_loss::run(&arguments),
        Command::AcceptClock(arguments) => accept_clock::run(&arguments),
        Command::Dev(arguments) => dev::run(arguments).await,
    }
}
