//! Who may do what. A decision is data: what it permits is executed by the pipeline.

mod decide;
mod facts;

pub use decide::{Case, Decided, Decision, Rule, decide, decide_within, voters};
pub(crate) use decide::{instant, parameters};
pub use facts::Facts;
pub use quorate_policy::decide::DenyErrors;
