//! The arguments of `quorate approvals`.

use clap::Subcommand;

use super::examples;
use crate::kinds::Level;

/// A risk on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RiskArgument {
    High,
    Med,
    Low,
}

impl RiskArgument {
    pub(super) const fn level(self) -> Level {
        match self {
            Self::High => Level::High,
            Self::Med => Level::Med,
            Self::Low => Level::Low,
        }
    }
}

/// Which waiting activities are listed.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ApprovalsListArguments {
    /// List only activities that wait for your approval
    #[arg(long, conflicts_with = "others")]
    pub(crate) mine: bool,
    /// List only activities that wait for others
    #[arg(long)]
    pub(crate) others: bool,
    /// List only activities with this risk; may be repeated
    #[arg(long, value_enum, ignore_case = true)]
    pub(crate) risk: Vec<RiskArgument>,
    /// List only activities of this kind, in all versions, for example create-wallet; may be repeated
    #[arg(long = "type")]
    pub(crate) types: Vec<String>,
    /// List only activities whose title, change, proposer or organization contains each of these words, or whose id or
    /// fingerprint starts with them
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// Maximum number of activities; a note states how many more there are
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

impl ApprovalsListArguments {
    /// Returns whether some activities are left out.
    pub(super) const fn is_filter(&self) -> bool {
        let Self { mine, others, risk, types, text, .. } = self;
        *mine || *others || !risk.is_empty() || !types.is_empty() || text.is_some()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List waiting activities: those with HIGH risk first, then MED, then LOW
    ///
    /// Of the same risk, what waits for you comes first, then what waits in the organization itself, then the oldest.
    /// `-o wide` prints a table with one line per activity.
    #[command(after_help = examples::APPROVALS_LS)]
    Ls(ApprovalsListArguments),
}
