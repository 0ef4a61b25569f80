//! Evaluates policies in this console: the organization as the policy language sees it, requests as facts,
//! and the decision on them. Only the policy texts and the names are stated by the daemon; everything else is
//! computed here.

mod content;
mod draft;
mod history;
mod replay;
mod request;
mod rules;
mod scope;
mod text;
mod types;

pub(crate) use content::ResolvedNames;
pub(crate) use draft::{Draft, DraftError, removal};
pub(crate) use history::{History, Matched};
pub(crate) use replay::{RECENT, Replay, changed, outcome_word, replay, signed, verdict_word};
pub(crate) use request::Body;
pub(crate) use rules::{Named, Rules, approvers, difference, program, sentence};
pub(crate) use scope::{doubtful, fewest, gives_access_as_others, is_met_by_anybody, matches_any_activity};
pub(crate) use text::PolicyText;
pub(crate) use types::{changing, types};

#[cfg(test)]
mod tests;
