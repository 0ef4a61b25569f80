//! The policy language: parses expressions and decides on requests.
//!
//! The condition of a policy selects requests, and its consensus determines who must approve them.
//! [`Program::parse`] parses an expression and checks all names, types and literals once, when the policy is
//! created. [`Program::evaluate`] evaluates it over the [`Facts`] of a request. [`decide`] turns policies,
//! facts and voters into outcomes.
//!
//! This crate never reads a clock, a file, the network or the environment, and it holds no state. It knows no
//! blockchain: the caller passes the contents of a transaction as [`Value`]s. No input makes it panic, and
//! each evaluation ends within [`STEP_LIMIT`] steps.
//!
//! ```
//! use quorate_policy::decide::{Approver, Credential, Effect, Electorate, Proposer};
//! use quorate_policy::decide::{PolicyOutcome, PolicyProgram, outcome};
//! use quorate_policy::Value;
//!
//! let policy = PolicyProgram::parse(
//!     Effect::Allow,
//!     Some("activity.action == 'SIGN' && eth.tx.value <= 1000"),
//!     Some("approvers.count() >= 2"),
//!     None,
//! )?;
//! let facts = Value::record([
//!     ("activity", Value::record([("action", Value::text("SIGN"))])),
//!     ("eth", Value::record([("tx", Value::record([("value", Value::int(500_u64))]))])),
//! ]);
//! let user = |id: &str| Approver {
//!     user_id: id.to_owned(),
//!     tags: Vec::new(),
//!     email: String::new(),
//!     alias: id.to_owned(),
//!     credentials: vec![Credential {
//!         id: format!("key of {id}"),
//!         user_id: id.to_owned(),
//!         credential_type: "CREDENTIAL_TYPE_API_KEY_P256".to_owned(),
//!         credential_id: None,
//!         public_key: String::new(),
//!     }],
//! };
//! let proposer = Proposer { user_id: "alice".to_owned(), is_root: false };
//! let candidates = || vec![user("alice"), user("bob")];
//! let electorate = Electorate::new(proposer, vec![user("alice")], candidates);
//! assert_eq!(outcome(&policy, &facts, &electorate), PolicyOutcome::RequiresConsensus);
//! # Ok::<(), quorate_policy::decide::PolicyError>(())
//! ```
#![warn(clippy::arithmetic_side_effects)]

mod budget;
mod check;
mod contribution;
mod cron;
pub mod decide;
mod electorate;
mod error;
mod evaluate;
mod explain;
mod expression_error;
mod expression_kind;
mod lex;
pub mod lint;
mod literal_index;
mod named_enum;
mod number;
mod operand;
mod parse;
mod plan;
mod presence;
mod program;
mod property;
mod reach;
pub mod request;
pub mod selectors;
pub mod simulate;
mod spell;
mod syntax;
mod timestamp;
mod types;
mod value;
mod words;

pub use budget::Budget;
pub use contribution::{contributes, contributors};
pub use error::{EvaluationError, EvaluationReason};
pub use explain::{Explanation, Part, explain};
pub use expression_error::{CronSpanError, ErrorReason, ExpressionError, Position};
pub use expression_kind::ExpressionKind;
pub use number::Integer;
pub use program::Program;
pub use property::Property;
pub use timestamp::{Timestamp, TimestampError};
pub use value::{Facts, Value};
pub use words::{Names, in_words};

/// Maximum length of an expression in bytes.
pub const EXPRESSION_LIMIT_BYTES: usize = 64 * 1024;
/// Maximum nesting depth of brackets, negations and accesses in an expression, and of lists in a comparison.
pub const NESTING_LIMIT: usize = 64;
/// Maximum number of elements of a list or struct literal.
pub const LIST_LIMIT: usize = 1_000;
/// Maximum number of steps of one evaluation: one per visited part, per visited element and per 64 bytes of
/// text.
pub const STEP_LIMIT: u32 = 100_000;
/// Maximum number of steps of one decision: all policies, and the search for voters who could complete a
/// consensus.
///
/// A step takes less than 20 nanoseconds, so a decision takes less than 2 milliseconds.
pub const DECISION_STEP_LIMIT: u32 = 100_000;
/// Maximum number of steps of the decisions about all subjects of one request; each payload of a batch is a
/// subject.
pub const REQUEST_STEP_LIMIT: u32 = 1_000_000;
