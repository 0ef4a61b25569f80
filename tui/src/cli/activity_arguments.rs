//! The arguments of `quorate activity`.

use clap::Subcommand;

use super::complete;
use super::examples;
use super::values::{OrderArgument, date};

/// Which activities are listed, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct ActivityListArguments {
    /// List only activities with this status, for example COMPLETED; may be repeated
    #[arg(long)]
    pub(crate) status: Vec<String>,
    /// List only activities of this kind, in all versions, for example create-wallet; may be repeated
    #[arg(long = "type")]
    pub(crate) types: Vec<String>,
    /// List only proposals of this user, by name or id; may be repeated
    #[arg(long = "by", value_name = "USER")]
    pub(crate) proposers: Vec<String>,
    /// List only activities whose request contains each of these words, or whose id starts with them
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// List only activities from before this day, for example 2026-01-31 (UTC)
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) before: Option<u64>,
    /// Order of the list
    #[arg(long, value_enum, default_value_t)]
    pub(crate) order: OrderArgument,
    /// Maximum number of activities; a note states if there are more
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ActivityCommand {
    /// List activities without votes, newest first
    #[command(after_help = examples::ACTIVITY_LS)]
    Ls(ActivityListArguments),
    /// Show one activity as the daemon records it, with all checks
    #[command(alias = "show")]
    Get {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = complete::waiting())]
        reference: String,
    },
    /// Wait until an activity is executed, rejected or failed
    Wait {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = complete::waiting())]
        reference: String,
        /// Maximum time to wait, in seconds
        #[arg(long, default_value_t = 300)]
        timeout: u64,
    },
}
