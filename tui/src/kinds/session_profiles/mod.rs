//! Session profiles: limits on what sessions may do and how long they last.

use quorate_policy::{ExpressionKind, Program, lint};

use super::Kind;
use crate::policies;

mod create_session_profile;
mod section;

pub(super) const KINDS: &[Kind] = &[create_session_profile::KIND];

/// Returns a sentence about each name in a scope that no activity has.
fn unknown_names(scope: &str) -> Vec<String> {
    let program = Program::parse(ExpressionKind::Condition, scope).ok();
    let unknown = program.map(|program| lint::unknown_names(&program, &policies::types()));
    unknown.into_iter().flatten().collect()
}
