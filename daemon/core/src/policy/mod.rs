//! Authorization. A decision is data: the pipeline executes what it permits.

mod decide;
mod facts;

pub use decide::{
    Decided, Decision, DecisionInput, Granted, Rule, decide, decide_within, is_within_scope, voters,
};
pub(crate) use decide::{instant, parameters};
pub use facts::Facts;
pub use quorate_policy::decide::DenyErrors;
