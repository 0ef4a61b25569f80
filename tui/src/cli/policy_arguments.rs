//! Subcommands and options of `quorate policy` and `quorate propose`.

use std::path::PathBuf;

use clap::Subcommand;

use super::complete;

/// Arguments of a proposal.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ProposeArguments {
    /// Show the review and the expected outcome only; nothing is sent
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Accept the HIGH flag with this name; repeat for each flag
    #[arg(long, value_name = "FLAG")]
    pub(crate) allow_flag: Vec<String>,
}

/// Arguments of `quorate propose`.
#[derive(Debug, clap::Args)]
pub(crate) struct ProposalArguments {
    /// Type, for example create-user-tag or `ACTIVITY_TYPE_CREATE_USER_TAG`; without a version, the newest one
    #[arg(value_name = "TYPE", required_unless_present = "list")]
    pub(crate) activity_type: Option<String>,
    /// List the types that can be proposed
    #[arg(long, exclusive = true)]
    pub(crate) list: bool,
    /// Print the members of the type, and which of them are required; nothing is proposed
    #[arg(long, conflicts_with_all = ["file", "set", "dry_run", "allow_flag"])]
    pub(crate) schema: bool,
    /// JSON file with the parameters; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Set a member, for example userTagName=auditors, userIds=mira or `accounts[0].path=m/44'/60'/0'/0/0`; may be
    /// repeated. A list without a number gets one more item; a number names an item of the file or the next one
    #[arg(long, value_name = "MEMBER=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) how: ProposeArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// List policies, each also in words
    Ls,
    /// Show one policy as text and in words, who can satisfy it, and findings about it
    #[command(alias = "show")]
    Get {
        /// Policy id or name
        #[arg(value_name = "POLICY", add = complete::policies())]
        policy: String,
    },
    /// Check expressions without a daemon; reports the first error with its position and exits with 1
    Check {
        /// Condition: the requests that the policy applies to
        #[arg(long, value_name = "EXPRESSION")]
        condition: Option<String>,
        /// Consensus: the users who must approve
        #[arg(long, value_name = "EXPRESSION")]
        consensus: Option<String>,
        /// Time: when the policy is active
        #[arg(long, value_name = "EXPRESSION")]
        time: Option<String>,
        /// File with a policy as TOML draft or as JSON, instead of expressions; - for standard input
        #[arg(value_name = "FILE", conflicts_with_all = ["condition", "consensus", "time"])]
        file: Option<PathBuf>,
    },
    /// Explain how each policy evaluates an activity now, and which part of it decides
    Explain {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = complete::waiting())]
        reference: String,
        /// Policy id or name; all policies if omitted
        #[arg(long, value_name = "POLICY", add = complete::policies())]
        policy: Option<String>,
    },
    /// Show how an activity would change policies, and which of the last 1,000 activities would then have
    /// another outcome
    Diff {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = complete::waiting())]
        reference: String,
    },
    /// Show how requests would be decided, without sending them
    Simulate {
        /// Proposer, by user name or id; a request can name another one as its "proposer"
        #[arg(long = "as", value_name = "USER", add = complete::users())]
        proposer: Option<String>,
        /// File with JSON requests, one after another, each with "type" and "parameters"; - for standard
        /// input
        #[arg(value_name = "FILE", default_value = "-")]
        file: PathBuf,
    },
    /// Print a policy, or a template for a new one, as text to edit
    Draft {
        /// Policy id or name
        #[arg(value_name = "POLICY", add = complete::policies())]
        policy: Option<String>,
    },
    /// Propose a new policy
    #[command(after_help = super::examples::POLICY_NEW)]
    New {
        /// Policy in the format of `quorate policy draft`, or in JSON as clients send it; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        how: ProposeArguments,
    },
    /// Propose a change of a policy
    Change {
        /// Policy id or name
        #[arg(value_name = "POLICY", add = complete::policies())]
        policy: String,
        /// Changed policy in the format of `quorate policy draft POLICY`, or in JSON; - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        how: ProposeArguments,
    },
    /// Propose the removal of a policy
    Remove {
        /// Policy id or name
        #[arg(value_name = "POLICY", add = complete::policies())]
        policy: String,
        #[command(flatten)]
        how: ProposeArguments,
    },
    /// Find probable mistakes in policies; exits with 1 if there is a warning
    Lint {
        /// Policy id or name; all policies if omitted
        #[arg(value_name = "POLICY", add = complete::policies())]
        policy: Option<String>,
    },
}
