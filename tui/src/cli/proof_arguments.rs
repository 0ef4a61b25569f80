//! Arguments of `quorate proof` and `quorate vote`.

use std::path::PathBuf;

use clap::Subcommand;
use quorate_common::fingerprint::Fingerprint;

use super::values::fingerprint;

/// What an approval must name.
#[derive(Debug, clap::Args)]
pub(crate) struct Expected {
    /// Fingerprint that was reviewed; nothing is sent if the proposal has another one
    #[arg(long, value_name = "HASH", value_parser = fingerprint)]
    pub(crate) expect_sha256: Fingerprint,
    /// Activity type that was reviewed; nothing is sent if the proposal has another one
    #[arg(long, value_name = "TYPE")]
    pub(crate) expect_type: Option<String>,
    /// Accept the HIGH flag with this name; repeat for each flag
    #[arg(long, value_name = "FLAG")]
    pub(crate) allow_flag: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProofCommand {
    /// Write an activity, its votes as they were signed and all that its review needs to a file
    ///
    /// The file contains no secrets: what reviews mask is left out, and so is the result of the activity.
    Export {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = super::complete::waiting())]
        reference: String,
        /// New file to write; standard output if omitted
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Review an exported activity without a connection; exits with 7 if a check fails
    ///
    /// The checks are those of the review. Lists what the file cannot prove.
    Verify {
        /// File of `quorate proof export`; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Known keys to compare with, as written by `quorate known-keys export`; your own if omitted
        #[arg(long, value_name = "FILE")]
        known_keys: Option<PathBuf>,
    },
    /// Compare two exported activities member by member; exits with 7 if they differ
    Compare {
        /// File of `quorate proof export`; - for standard input
        #[arg(value_name = "FILE")]
        first: PathBuf,
        /// File that another member exported
        #[arg(value_name = "OTHER")]
        second: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum VoteCommand {
    /// Review an exported activity and sign a vote on it, without a connection
    ///
    /// Nothing is signed unless the fingerprint is the expected one, all checks pass, and each HIGH flag is accepted
    /// by name. Without known keys of the organization, accept the flag no-known-keys. The vote must be submitted within
    /// one hour.
    Sign(SignArguments),
    /// Send a signed vote, unless the activity changed since it was exported
    ///
    /// Needs no key at the socket. At a URL, your key stamps the requests that read the activity. Sends exactly the signed
    /// bytes.
    Submit {
        /// File of `quorate vote sign`; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct SignArguments {
    /// File of `quorate proof export`; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) expected: Expected,
    /// Reject the activity; a single rejection is final
    #[arg(long)]
    pub(crate) reject: bool,
    /// Note to store with the decision in the local journal
    #[arg(long)]
    pub(crate) note: Option<String>,
    /// New file to write the vote to
    #[arg(long, value_name = "VOTE")]
    pub(crate) output: PathBuf,
}
