//! Reviews: what the console can prove about an activity by itself, from the bytes that people signed. Used
//! by the screens and the command line. Reads no clock, file or network; a fact marked `[v]` never depends on
//! the daemon.

mod bundle;
mod check;
mod checks;
mod compare;
mod difference;
mod draft;
mod ended;
mod evidence;
mod flags;
mod logged;
mod past;
mod proposal;
mod quorum;
mod recount;
mod report;
mod result;
mod review;
mod rule;
mod sentences;
mod siblings;
mod states;
mod tally;
mod votes;

pub(crate) use bundle::{BUNDLE_LIMIT, Bundle, BundleError, bundle_differences, unproven_lines};
pub(crate) use check::Mark;
pub(crate) use difference::difference;
pub(crate) use draft::DraftContext;
pub(crate) use evidence::{Evidence, PinnedBy, Record, Viewer};
pub(crate) use flags::of_siblings;
pub(crate) use past::Past;
pub(crate) use quorum::followed;
pub(crate) use report::{json, plain_text};
pub(crate) use result::result_values;
pub(crate) use review::{Challenge, Review, outline};
pub(crate) use sentences::{
    needs, outcome_text, policy_lines, replay_lines, simulation_text, tally_of_marks, waits_for_proof,
};
pub(crate) use siblings::{BURST, BURST_MILLIS, Sibling, Siblings, overriding_type};
pub(crate) use states::{
    daemons_text, engine_text, journal_text, log_text, mode_word, sealing_key_text, silent_daemons,
    state_text, status_word, store_word,
};
#[cfg(test)]
pub(crate) use votes::VoteProof;

#[cfg(test)]
mod tests;
