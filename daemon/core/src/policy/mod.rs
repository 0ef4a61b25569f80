//! Who may do what. Permits are minted here and nowhere else.

mod decide;
mod facts;
mod permit;

pub use decide::{Case, Decided, Decision, Rule, decide, voters};
pub(crate) use decide::{instant, parameters};
pub use facts::Facts;
pub use permit::Permit;
pub use quorate_policy::decide::DenyErrors;
