//! Authorization. A decision is data: the pipeline executes what it permits.

mod decide;
mod facts;
mod input;
mod mfa;

pub use decide::{Decided, Decision, Granted, Rule, decide, decide_within, is_within_scope, voters};
pub use facts::Facts;
pub use input::DecisionInput;
pub(crate) use input::{instant, parameters};
pub use mfa::MfaState;
pub(crate) use mfa::{states, states_of};
pub use quorate_policy::decide::DenyErrors;
