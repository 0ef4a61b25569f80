//! Subcommands and flags. Help, completions and usage errors come from here.

use clap::{CommandFactory, Parser, Subcommand};
use quorate_chain::address::Chain;
use quorate_common::fingerprint::Fingerprint;

use super::dev::DevArguments;
use crate::session::Context;

const EXITS: &str = "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 denied, 5 waits for approval, 6 rejected, 7 verification failed, 8 unreachable, 9 sealed, 130 interrupted.";

/// Review, approve and reject what waits for consensus, and look into organizations.
#[derive(Debug, Parser)]
#[command(name = "quorate", version, about, after_help = EXITS)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) context: Context,
    /// Data on standard output as JSON; lists are one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Without a subcommand the console opens
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What can be done without the console.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The daemon: version, mode, uptime
    Status,
    /// What waits for approval
    Approvals {
        /// What to do
        #[command(subcommand)]
        command: ApprovalsCommand,
    },
    /// What an activity does, with proof, flags and tally
    Review {
        /// Activity id, fingerprint or 64 hex digits
        #[arg(value_name = "REF")]
        reference: String,
    },
    /// Vote yes
    Approve(ApproveArguments),
    /// Reject an activity: one rejection is final
    ///
    /// Signs for the pinned organization and the fingerprint of the proposal's bytes. If the record holds no such bytes,
    /// name the activity by the fingerprint that its proposer gives you.
    Reject {
        /// Activity id, fingerprint or 64 hex digits
        #[arg(value_name = "REF")]
        reference: String,
        /// Fingerprint that is rejected; nothing is sent if the proposal has another one
        #[arg(long, value_name = "HASH", value_parser = fingerprint)]
        expect_sha256: Option<Fingerprint>,
        /// Remark for the local journal
        #[arg(long)]
        note: Option<String>,
    },
    /// Activities of every state
    Activity {
        /// What to do
        #[command(subcommand)]
        command: ActivityCommand,
    },
    /// Organizations
    Org {
        /// What to do
        #[command(subcommand)]
        command: OrgCommand,
    },
    /// Policies: what they say, and what would happen
    Policy {
        /// What to do
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Webhook deliveries
    Webhooks {
        /// What to do
        #[command(subcommand)]
        command: WebhooksCommand,
    },
    /// Own keys
    Key {
        /// What to do
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// The own address book: whom reviews know by which address
    Book {
        /// What to do
        #[command(subcommand)]
        command: BookCommand,
    },
    /// The keys that this console has seen, and since when
    Roster {
        /// What to do
        #[command(subcommand)]
        command: RosterCommand,
    },
    /// The local journal of decisions
    Journal {
        /// What to do
        #[command(subcommand)]
        command: JournalCommand,
    },
    /// A throw-away daemon with an organization to try things on
    Dev(DevArguments),
    /// Completions for a shell
    Completion {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// Commands on webhook deliveries.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum WebhooksCommand {
    /// List the destinations whose deliveries were parked: taken from the queue, and never made
    Parked,
}

/// Commands on approvals.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Lists what waits
    Ls {
        /// Only what waits for me
        #[arg(long, conflicts_with = "others")]
        mine: bool,
        /// Only what waits for others
        #[arg(long)]
        others: bool,
    },
}

/// A yes has to say what it expects.
#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArguments {
    /// Activity id, fingerprint or 64 hex digits
    #[arg(value_name = "REF")]
    pub(crate) reference: String,
    /// Fingerprint that was reviewed
    #[arg(long, value_name = "HASH", value_parser = fingerprint)]
    pub(crate) expect_sha256: Fingerprint,
    /// Type that was reviewed
    #[arg(long, value_name = "TYPE")]
    pub(crate) expect_type: Option<String>,
    /// Name of a HIGH flag that is accepted; once for each
    #[arg(long, value_name = "FLAG")]
    pub(crate) allow_flag: Vec<String>,
}

/// How something is proposed.
#[derive(Debug, clap::Args)]
pub(crate) struct ProposeArguments {
    /// Only the review: what it would do, what would come of it; nothing is sent
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Name of a HIGH flag that is accepted; once for each
    #[arg(long, value_name = "FLAG")]
    pub(crate) allow_flag: Vec<String>,
}

/// Commands on activities.
#[derive(Debug, Subcommand)]
pub(crate) enum ActivityCommand {
    /// Lists activities, newest first
    Ls {
        /// Only with this status, for example COMPLETED; may be repeated
        #[arg(long)]
        status: Vec<String>,
        /// Only of this type; may be repeated
        #[arg(long = "type")]
        types: Vec<String>,
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// One activity as the daemon records it, with the checks
    Get {
        /// Activity id, fingerprint or 64 hex digits
        #[arg(value_name = "REF")]
        reference: String,
    },
    /// Waits until an activity is decided
    Wait {
        /// Activity id, fingerprint or 64 hex digits
        #[arg(value_name = "REF")]
        reference: String,
        /// Seconds to wait at most
        #[arg(long, default_value_t = 300)]
        timeout: u64,
    },
}

/// Commands on organizations.
#[derive(Debug, Subcommand)]
pub(crate) enum OrgCommand {
    /// Lists organizations
    Ls {
        /// Children of this organization
        #[arg(long, value_name = "ID")]
        parent: Option<quorate_common::ids::OrganizationId>,
    },
    /// One organization: users, keys, wallets, quorum, policies
    Get {
        /// Which; without it the pinned one
        id: Option<quorate_common::ids::OrganizationId>,
    },
}

/// Commands on policies.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Lists policies, each in words
    Ls,
    /// One policy: text, words, who can meet it, and what is suspicious about it
    Get {
        /// Id or name
        #[arg(value_name = "POLICY")]
        policy: String,
    },
    /// Reads expressions without a daemon and tells the first flaw with its place
    Check {
        /// Which requests it is about
        #[arg(long, value_name = "EXPRESSION")]
        condition: Option<String>,
        /// Who must agree
        #[arg(long, value_name = "EXPRESSION")]
        consensus: Option<String>,
        /// When it is active
        #[arg(long, value_name = "EXPRESSION")]
        time: Option<String>,
        /// A file with a policy as JSON in place of the expressions; - for standard input
        #[arg(value_name = "FILE", conflicts_with_all = ["condition", "consensus", "time"])]
        file: Option<std::path::PathBuf>,
    },
    /// Says of an activity what each policy says of it now, and which part of it decides
    Explain {
        /// Activity id, fingerprint or 64 hex digits
        #[arg(value_name = "REF")]
        reference: String,
        /// Only this policy, by id or name
        #[arg(long, value_name = "POLICY")]
        policy: Option<String>,
    },
    /// Says of an activity that changes policies what differs, and which of the last 1,000 activities would come out
    /// otherwise
    Diff {
        /// Activity id, fingerprint or 64 hex digits
        #[arg(value_name = "REF")]
        reference: String,
    },
    /// Says what would happen to requests if a user made them; nothing is sent
    Simulate {
        /// User who would ask, by name or id; a request may name another one as its "requester"
        #[arg(long = "as", value_name = "USER")]
        requester: Option<String>,
        /// Requests as JSON, one after another: a "type" and "parameters" each; - for standard input
        #[arg(value_name = "FILE", default_value = "-")]
        file: std::path::PathBuf,
    },
    /// Prints a policy as text to edit, or the beginning of a new one
    Draft {
        /// Id or name
        #[arg(value_name = "POLICY")]
        policy: Option<String>,
    },
    /// Proposes a new policy
    New {
        /// The policy as `quorate policy draft` writes it; - for standard input
        #[arg(value_name = "FILE")]
        file: std::path::PathBuf,
        #[command(flatten)]
        how: ProposeArguments,
    },
    /// Proposes that a policy changes
    Change {
        /// Id or name
        #[arg(value_name = "POLICY")]
        policy: String,
        /// What it becomes, as `quorate policy draft POLICY` writes it; - for standard input
        #[arg(value_name = "FILE")]
        file: std::path::PathBuf,
        #[command(flatten)]
        how: ProposeArguments,
    },
    /// Proposes that a policy goes
    Remove {
        /// Id or name
        #[arg(value_name = "POLICY")]
        policy: String,
        #[command(flatten)]
        how: ProposeArguments,
    },
    /// Looks for what is suspicious: exits with 1 if anything is
    Lint {
        /// Only this policy, by id or name
        #[arg(value_name = "POLICY")]
        policy: Option<String>,
    },
}

/// Commands on own keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Makes a key in an encrypted file and prints its public half
    Add {
        /// Name of the key
        name: String,
        /// Curve of the key
        #[arg(long, default_value = "p256")]
        curve: CurveArgument,
    },
    /// Lists keys
    Ls,
}

/// Commands on the address book.
#[derive(Debug, Subcommand)]
pub(crate) enum BookCommand {
    /// Lists addresses by name
    Ls,
    /// Adds an address, whose checksum must fit
    Add {
        /// bitcoin, ethereum (and all chains with its addresses), solana or tron
        #[arg(value_parser = super::book::chain)]
        chain: Chain,
        /// The address in full
        address: String,
        /// What it is called
        name: String,
        /// look-alike, to add an address that begins and ends like a known one
        #[arg(long, value_name = "FLAG")]
        allow_flag: Vec<String>,
    },
    /// Takes an address out
    Rm {
        /// What it is called
        name: String,
    },
    /// Prints the book as a file
    Export,
    /// Takes in a book that `quorate book export` wrote: all of it or nothing
    Import {
        /// The file; - for standard input
        #[arg(value_name = "FILE")]
        file: std::path::PathBuf,
        /// look-alike, to take in addresses that begin and end like known ones
        #[arg(long, value_name = "FLAG")]
        allow_flag: Vec<String>,
    },
}

/// Commands on the roster.
#[derive(Debug, Subcommand)]
pub(crate) enum RosterCommand {
    /// Lists keys, and when each was first seen
    Ls,
    /// Prints the roster as a file
    Export,
    /// Takes in the keys of a roster, which then count as seen when it saw them: get it from its owner in person
    Import {
        /// The file; - for standard input
        #[arg(value_name = "FILE")]
        file: std::path::PathBuf,
    },
    /// Compares with a roster: exits with 1 if a key is in only one of them
    Diff {
        /// The file; - for standard input
        #[arg(value_name = "FILE")]
        file: std::path::PathBuf,
    },
    /// Accept the root quorum that the daemon states in place of the known one, and names and keys that you compared
    ///
    /// Reads the executed changes of the quorum since it was pinned, and accepts what they lead to if members of the
    /// known quorum approved each of them with confirmed keys within 24 hours. A later change that the daemon withholds
    /// is not noticed. Lists the keys that came after the first contact and were not accepted.
    Accept {
        /// Accept although no executed change proves it: compare with the members in person first
        #[arg(long)]
        unproven: bool,
        /// Accept the names that users have now: compare their ids with them in person first
        #[arg(long)]
        names: bool,
        /// Accept this key of a user: compare it with the user in person first; may be given several times
        #[arg(long = "public-key", value_name = "USER_ID:PUBLIC_KEY", value_parser = super::roster::UserKey::read)]
        keys: Vec<super::roster::UserKey>,
    },
}

/// Commands on the journal.
#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum JournalCommand {
    /// Checks the hash chain
    Verify,
}

/// A curve by name.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum CurveArgument {
    /// NIST P-256
    P256,
    /// secp256k1
    Secp256k1,
    /// Ed25519
    Ed25519,
}

/// Completions as text.
pub(super) fn completion(shell: clap_complete::Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "quorate", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn fingerprint(text: &str) -> Result<Fingerprint, String> {
    let bare = text.strip_prefix("sha256:").unwrap_or(text);
    let digits: String = bare.chars().filter(|letter| *letter != ' ').collect();
    format!("sha256:{}", digits.to_ascii_lowercase()).parse().map_err(|_| "expected 64 hex digits".to_owned())
}
