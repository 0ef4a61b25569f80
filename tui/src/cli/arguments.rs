//! Subcommands and options. Help texts, completions and usage errors are generated from them.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use quorate_chain::address::Chain;
use quorate_common::fingerprint::Fingerprint;

use super::activity_arguments::ActivityCommand;
use super::approvals_arguments::ApprovalsCommand;
use super::complete;
use super::dev::DevArguments;
use super::examples;
use super::log::LogCommand;
use super::policy_arguments::{PolicyCommand, ProposalArguments, ProposeArguments};
use super::proof_arguments::{Expected, ProofCommand, VoteCommand};
use super::shares::ShareCommand;
use super::values::{CurveArgument, UserKey, chain, fingerprint};
use super::webhook_arguments::WebhookCommand;
use crate::address::Address;
use crate::keys::security_key::RELYING_PARTY;
use crate::messages::DeliveryState;
use crate::output::Format;
use crate::session::{Context, GLOBAL_OPTIONS};

/// Text after the help: terms of the help texts, and the exit codes as in `docs/src/reference/commands.md`.
const TERMS_AND_EXIT_CODES: &str = "\
Terms:
  activity             signed request that changes the organization or uses its keys
  fingerprint          SHA-256 digest of that request; votes name the activity by it
  HIGH flag            warning in a review; commands proceed only if it is accepted by name
  pinned organization  the one that is selected by its id; nothing is signed for another one

Examples:
  quorate dev                           try the console with a throwaway daemon
  quorate approvals ls --mine           list what waits for your approval
  quorate review ACTIVITY               show what it does, with all checks
  quorate help approve                  show the help of a command

Exit codes:
  0    success
  1    failure; or a policy is invalid or has a warning, known keys differ, or doctor has a warning
  2    wrong usage: an invalid argument, configuration or input
  3    not found, or the user is not in the organization
  4    denied by the daemon or a policy; wrong key or passphrase; unsafe file permissions
  5    waits for approval
  6    rejected
  7    a check failed, a HIGH flag was not accepted by name, proof bundles differ, or doctor found a problem
  8    daemon unreachable or not ready
  9    daemon sealed
  10   a share or a letter does not match
  11   the daemon states an earlier state, or another history, than before
  12   the share is given, and more are needed
  101  internal error of the console
  130  interrupted";

/// Review and decide activities, and inspect organizations; without a command, open the console
#[derive(Debug, Parser)]
#[command(name = "quorate", version, about, after_help = TERMS_AND_EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) context: Context,
    /// Print JSON to standard output; lists are one object per line
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(crate) json: bool,
    /// Form of the output: text, wide (more columns), json (as --json) or name (ids only)
    #[arg(short = 'o', long, global = true, help_heading = GLOBAL_OPTIONS, conflicts_with = "json", default_value = "text", hide_default_value = true, hide_possible_values = true)]
    format: Format,
    /// Open the console in plain lines, for screen readers and dumb terminals
    #[arg(long, conflicts_with = "json")]
    pub(crate) linear: bool,
    /// Command to run; without one the console opens
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Arguments {
    /// Returns the form of the output.
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the daemon's version, mode, uptime and state
    Status,
    /// List activities that wait for approval
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    /// Review an activity: what it does, its flags, proof and votes
    Review {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = complete::waiting())]
        reference: String,
    },
    /// Approve an activity
    ///
    /// Nothing is sent unless the fingerprint is the expected one, all checks pass, and each HIGH flag is
    /// accepted by name.
    #[command(after_help = examples::APPROVE)]
    Approve(ApproveArguments),
    /// Reject an activity; a single rejection is final
    ///
    /// The rejection is signed for the pinned organization and the fingerprint of the activity. If the daemon
    /// does not return the bytes that the proposer signed, pass the fingerprint that the proposer gives you.
    Reject {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = complete::waiting())]
        reference: String,
        /// Expected fingerprint; nothing is sent if the proposal has another one
        #[arg(long, value_name = "HASH", value_parser = fingerprint)]
        expect_sha256: Option<Fingerprint>,
        /// Note to store with the decision in the local journal
        #[arg(long)]
        note: Option<String>,
    },
    /// Export an activity with its proof, and check such files without a connection
    #[command(subcommand)]
    Proof(ProofCommand),
    /// Sign a vote on a machine without a connection, and submit it from another one
    #[command(subcommand)]
    Vote(VoteCommand),
    /// List, show or wait for activities of any status
    #[command(subcommand)]
    Activity(ActivityCommand),
    /// List or show organizations
    #[command(subcommand)]
    Org(OrgCommand),
    /// List, check, simulate and propose policies
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Propose an activity of any type
    ///
    /// The review is the same as for an approval. Nothing is sent if the proposal would be denied, or if a HIGH flag is
    /// not accepted by name. Where a member takes an id, the name of the record is accepted too. Values are checked by
    /// the schema of the type.
    Propose(ProposalArguments),
    /// Inspect webhook receivers, repeat deliveries and test receivers
    #[command(subcommand, alias = "webhooks")]
    Webhook(WebhookCommand),
    /// List what admits users, such as keys, passkeys and sessions, and revoke it
    #[command(subcommand)]
    User(UserCommand),
    /// Inspect the delivery of mail and SMS
    #[command(subcommand)]
    Messages(MessagesCommand),
    /// List or show wallets
    #[command(subcommand)]
    Wallet(WalletCommand),
    /// Print each change of the organization and its sub-organizations as it happens, until interrupted
    ///
    /// One line per event. Without a selected organization, prints the changes of all. If the connection is lost, connects again and continues after the last event.
    #[command(after_help = examples::WATCH)]
    Watch {
        /// End after this number of events
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
    },
    /// Show what an address means, such as the activity in `quorate://ORGANIZATION/activity/ID`
    ///
    /// The addresses of activities are in `quorate review --json`. Those of an organization, its users, policies and wallets
    /// are `quorate://ORGANIZATION` and `quorate://ORGANIZATION/user|policy|wallet/ID`. An address contains ids only.
    Open {
        /// Address
        address: Address,
    },
    /// Show the daemon, organization, user and key that commands use now
    Whoami,
    /// Manage your own signing keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Manage your address book: names for known addresses in reviews
    #[command(subcommand)]
    Book(BookCommand),
    /// Manage the known keys, names and root quorums (trust on first use)
    #[command(subcommand, alias = "roster")]
    KnownKeys(KnownKeysCommand),
    /// Check the activity log of the daemon against what this console knows
    #[command(subcommand)]
    Log(LogCommand),
    /// List or verify the local journal of your decisions
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Check the installation and show what to do
    ///
    /// Checks the configuration, the files and the socket of this console, its user and key, the known keys, and the
    /// daemon: clock, version, store, disk, queues. Each finding has one sentence that states what to do. Exits with 0
    /// if there are notes only, with 1 if there is a warning, and with 7 if there is a problem.
    #[command(alias = "health")]
    Doctor,
    /// Check or show the configuration of this console
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List, select or show contexts: named sets of daemon, organization, user and key
    #[command(subcommand, after_help = examples::CONTEXT)]
    Context(ContextCommand),
    /// Give the share in a letter to the daemon
    ///
    /// Enough shares open a sealed daemon. In an open one, they confirm a new set of shares.
    Unseal {
        /// File of the letter
        #[arg(value_name = "LETTER")]
        letter: PathBuf,
    },
    /// Check or show the letter of a share
    #[command(subcommand)]
    Share(ShareCommand),
    /// Start a throwaway daemon with a demo organization
    Dev(DevArguments),
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETION)]
    Completion {
        /// Shell that runs the script
        shell: clap_complete::Shell,
        /// Complete commands and options only, without calling `quorate` for keys, contexts, names and ids
        #[arg(long)]
        r#static: bool,
    },
    /// Print the JSON Schema of what --json prints
    Schema,
    /// Write a manual page for each command to a folder
    #[command(hide = true)]
    Man {
        /// Folder, which is created if missing
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum WalletCommand {
    /// List wallets
    Ls,
    /// Show a wallet with all of its accounts
    #[command(alias = "show")]
    Get {
        /// Wallet id or name
        #[arg(value_name = "WALLET", add = complete::wallets())]
        wallet: String,
    },
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check config.toml and the key file that it names; exits with 2 if something is not valid
    Check,
    /// Show the settings that apply
    Show {
        /// Show where each setting comes from: an option, a line of config.toml, a credentials file, or the default
        #[arg(long)]
        origin: bool,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ContextCommand {
    /// List the contexts of config.toml; * marks the selected one
    Ls,
    /// Select a context for all later commands, in config.toml
    Use {
        /// Name of the context
        #[arg(add = complete::contexts())]
        name: String,
    },
    /// Show a context
    Show {
        /// Name of the context; the selected one if omitted
        #[arg(add = complete::contexts())]
        name: Option<String>,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum UserCommand {
    /// List credentials, sessions and open invitations with their last use, their end and how to revoke them
    ///
    /// Users without a credential follow at the end. The daemon records the last use of a credential once an hour, so the
    /// real one can be up to an hour later.
    /// "No use recorded" means that the credential was not used since the daemon records this.
    #[command(after_help = examples::USER_LS)]
    Ls {
        /// User id or name; all users and open invitations if omitted
        #[arg(value_name = "USER", add = complete::users())]
        of: Option<String>,
        /// List only sessions that have not ended, recovery keys included
        #[arg(long)]
        sessions: bool,
        /// List only what was not used for this number of days
        #[arg(long, value_name = "DAYS")]
        unused: Option<u32>,
    },
    /// Propose to delete a credential, a session or an invitation
    Revoke {
        /// Id of the credential, the session or the invitation
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        how: ProposeArguments,
    },
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum MessagesCommand {
    /// List the messages of the last 30 days with their delivery states, newest first
    ///
    /// A message is queued, delayed (another attempt follows), delivered (the mail server or the gateway took it),
    /// bounced (rejected, or given up after the last attempt) or expired (its code or key ended first). The answer of
    /// the server follows. A parent lists the messages of its sub-organizations too.
    Ls {
        /// Organization, by id or name; the pinned organization if omitted
        #[arg(value_name = "ORGANIZATION", add = complete::organizations())]
        id: Option<String>,
        /// List only messages in this state
        #[arg(long, value_enum)]
        state: Option<DeliveryState>,
        /// Maximum number of messages
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u16,
    },
}

/// Arguments of an approval. The expected fingerprint is required.
#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArguments {
    /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
    #[arg(value_name = "REF", add = complete::waiting())]
    pub(crate) reference: String,
    #[command(flatten)]
    pub(crate) expected: Expected,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrgCommand {
    /// List organizations
    #[command(after_help = examples::ORG_LS)]
    Ls {
        /// List the children of this organization, by id or name
        #[arg(long, value_name = "ORGANIZATION", add = complete::organizations())]
        parent: Option<String>,
        /// List only children with a user who has this verified mail address or phone number; children of the
        /// pinned organization if --parent is omitted
        #[arg(long, value_name = "ADDRESS")]
        contact: Option<String>,
    },
    /// Show one organization: users, keys, wallets, quorum, policies
    #[command(alias = "show")]
    Get {
        /// Organization, by id or name; the pinned organization if omitted
        #[arg(value_name = "ORGANIZATION", add = complete::organizations())]
        id: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key in an encrypted file, or on a security key, and print its public key
    ///
    /// `fido2:NAME` creates the key on the attached FIDO2 security key, which needs its PIN and a touch.
    #[command(after_help = examples::KEY_ADD)]
    Add {
        /// Name of the key; `fido2:NAME` for a key on a security key
        name: String,
        /// Curve of a key in a file
        #[arg(long, default_value = "p256")]
        curve: CurveArgument,
        /// Relying party of a key on a security key: the domain whose pages can use the key as well
        #[arg(long, value_name = "DOMAIN", default_value = RELYING_PARTY)]
        relying_party: String,
        /// Web origin that stamps of a key on a security key state; https:// and the relying party if omitted
        #[arg(long, value_name = "URL")]
        origin: Option<String>,
    },
    /// Print the registration of a key on a security key, for `quorate propose create-authenticators --file`
    #[command(after_help = examples::KEY_REGISTRATION)]
    Registration {
        /// Name of the key: `fido2:NAME`
        #[arg(add = complete::keys())]
        name: String,
    },
    /// List your keys: key files, keys of the SSH agent, and keys on tokens and security keys
    Ls,
    /// Delete a key file, or the record of a key on a security key; its name must be typed
    ///
    /// Shows what is lost, and reads the name of the key from the terminal, or from standard input without one.
    Rm {
        /// Name of the key
        #[arg(add = complete::keys())]
        name: String,
        /// Name of the key once more, instead of typing it
        #[arg(long, value_name = "NAME")]
        yes: Option<String>,
    },
    /// Lock the unlocked keys of all your open consoles
    Lock,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BookCommand {
    /// List addresses by name
    Ls,
    /// Add an address; its checksum must be valid
    Add {
        /// Chain: bitcoin, ethereum (and all chains with its addresses), solana or tron
        #[arg(value_parser = chain)]
        chain: Chain,
        /// Full address
        address: String,
        /// Your name for the address
        name: String,
        /// Decimals of the token, if the address is the contract of one; reviews then show its amounts in its unit
        #[arg(long, value_name = "N")]
        decimals: Option<u8>,
        /// Accept a flag by name; similar-address accepts an address that starts and ends like a known one
        #[arg(long, value_name = "FLAG")]
        allow_flag: Vec<String>,
    },
    /// Remove an address
    Rm {
        /// Name of the address
        name: String,
    },
    /// Print the address book as a file
    Export,
    /// Import an address book written by `quorate book export`, completely or not at all
    Import {
        /// File to import; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Accept a flag by name; similar-address accepts addresses that start and end like known ones
        #[arg(long, value_name = "FLAG")]
        allow_flag: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KnownKeysCommand {
    /// List the known keys and when each was first seen
    Ls,
    /// Print the known keys as a file
    Export,
    /// Import the known keys of another user
    ///
    /// Imported keys keep the time at which the other user first saw them. Get the file from that user in
    /// person.
    Import {
        /// File to import; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Compare the known keys with a file; exits with 1 if they differ
    Diff {
        /// File to compare; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Accept a changed root quorum if it is proven, and names and keys that you compared in person
    ///
    /// Follows the executed changes of the root quorum since it was pinned. The result is accepted if members
    /// of the known quorum approved each change with confirmed keys within 24 hours. A later change that the
    /// daemon withholds is not noticed. Lists the keys that appeared after the first contact and are not
    /// accepted yet. Exits with 1 if something is left and nothing was accepted.
    Accept {
        /// Accept the quorum although no recorded votes prove it; compare it with the members in person first
        #[arg(long)]
        unproven: bool,
        /// Accept the current user names; compare the ids with the users in person first
        #[arg(long)]
        names: bool,
        /// Accept this key of a user; compare it with the user in person first; may be repeated
        #[arg(long = "public-key", value_name = "USER_ID:PUBLIC_KEY", value_parser = UserKey::read)]
        keys: Vec<UserKey>,
    },
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum JournalCommand {
    /// List your decisions, newest first; exits with 7 if the journal was changed
    Ls {
        /// Maximum number of decisions
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Check that no entry of the journal was changed or removed
    Verify,
}
