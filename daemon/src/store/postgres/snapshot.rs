//! The records of one moment, on a connection of its own.

use quorate_core::world::Page;
use tokio::runtime::Handle;

use super::errors::StatementError;
use super::rows;
use super::session::{ANSWER, Session, answered};
use crate::store::{Row, Snapshot, StoreError};

/// Begins a transaction that sees one moment for as long as it lasts. It takes no locks, and is idle between pages.
const BEGIN: &str = "SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; \
    SELECT FROM meta";

/// A transaction that sees the records of one moment.
pub(super) struct Moment {
    runtime: Handle,
    session: Session,
}

impl Moment {
    /// Begins the transaction. The moment is that of the first statement, which is executed here.
    pub(super) fn begin(runtime: &Handle, session: Session) -> Result<Self, StoreError> {
        let begun = answered(runtime, ANSWER, session.client.batch_execute(BEGIN));
        begun.map_err(failed)?;
        Ok(Self { runtime: runtime.clone(), session })
    }
}

impl Snapshot for Moment {
    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError> {
        answered(&self.runtime, ANSWER, rows::page(&self.session, page, true)).map_err(failed)
    }
}

fn failed(error: StatementError) -> StoreError {
    match error {
        // The comparison begins again once the store was reopened.
        StatementError::Lost(_) => StoreError::Unavailable,
        error @ StatementError::Rejected(_) => error.failed("reading the records of one moment"),
    }
}
