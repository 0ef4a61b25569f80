//! The policy language: from the text of an expression to a decision about a request.
//!
//! A policy says by a condition which requests it is about and by a consensus who must agree. [`Program::parse`] reads an
//! expression and checks all names, types and literals once, when the policy is created; [`Program::evaluate`] runs it over
//! the [`Facts`] of a request. [`decide`] turns policies, facts and voters into outcomes.
//!
//! This package never reads a clock, a file, the network or the environment, holds no state and knows no chain: what can be
//! asked about a transaction comes in as [`Value`]s. No input makes it panic, and each evaluation ends within
//! [`STEP_LIMIT`].
//!
//! ```
//! use quorate_policy::decide::{Approver, Credential, Effect, Electorate, PolicyOutcome, PolicyProgram, Requester, outcome};
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
//! let requester = Requester { user_id: "alice".to_owned(), is_root: false };
//! let candidates = || vec![user("alice"), user("bob")];
//! let electorate = Electorate::new(requester, vec![user("alice")], candidates);
//! assert_eq!(outcome(&policy, &facts, &electorate), PolicyOutcome::RequiresConsensus);
//! # Ok::<(), quorate_policy::decide::PolicyFlaw>(())
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
mod flaw;
mod known;
mod lex;
pub mod lint;
mod number;
mod operand;
mod parse;
mod plan;
mod presence;
mod program;
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
pub use flaw::{CronSpanFlaw, Flaw, FlawReason, Position};
pub use number::Integer;
pub use program::{ExpressionKind, Program};
pub use timestamp::{Timestamp, TimestampFlaw};
pub use value::{Facts, Value};
pub use words::{Names, in_words};

/// Longest expression, in bytes.
pub const EXPRESSION_LIMIT_BYTES: usize = 64 * 1024;
/// Deepest nesting of brackets, negations and accesses in an expression, and of lists that are compared.
pub const NESTING_LIMIT: usize = 64;
/// Longest list or struct literal.
pub const LIST_LIMIT: usize = 1_000;
/// Steps one evaluation may take: one for each part visited, each element looked at and each 64 bytes of text handled.
pub const STEP_LIMIT: u32 = 100_000;
/// Steps that one decision may take: all policies, and the search for voters who could complete a consensus. A step
/// takes less than 20 nanoseconds, so that a decision takes less than 2 milliseconds.
pub const DECISION_STEP_LIMIT: u32 = 100_000;
/// Steps that the decisions about all subjects of one request may take: of a batch, each payload is decided by itself.
pub const REQUEST_STEP_LIMIT: u32 = 1_000_000;
