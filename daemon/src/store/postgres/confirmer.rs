//! Confirms versions on a connection of its own: one statement is under way at a time, and answers all questions that were put
//! before it began.
//!
//! What was committed before a statement begins is visible to it, so a confirmed answer relied on nothing older than what
//! was committed when its request arrived. A lease makes sure that the server is still the primary.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use super::errors::StatementError;
use super::lease::Lease;
use super::replicated::Replicated;
use super::rows::Table;
use super::session::{ANSWER, Session, wait};
use super::shared::Shared;
use crate::store::Register;
use crate::store::judge::number;

/// Whether the registers of a question have their values.
type Answer = Result<bool, Arc<StatementError>>;

/// Registers that should have these values, and where the answer is sent.
struct Question {
    expected: Vec<Register>,
    answer: oneshot::Sender<Answer>,
}

/// Why what a server returned counts.
pub(super) struct Proof {
    pub(super) lease: Arc<Lease>,
    pub(super) replicated: Arc<Replicated>,
    pub(super) shared: Weak<Shared>,
}

impl Proof {
    fn waits_for_standby(&self) -> bool {
        self.shared.upgrade().is_some_and(|shared| shared.waits_for_standby())
    }
}

/// Sends questions to the task that confirms. The task ends when this is dropped.
pub(super) struct Confirmer(mpsc::UnboundedSender<Question>);

impl Confirmer {
    /// Starts the task on a session.
    pub(super) fn start(runtime: &Handle, session: Session, proof: Proof) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        runtime.spawn(run(session, proof, receiver));
        Self(sender)
    }

    /// Returns whether registers have these values. Waits for the answer, whose time is limited.
    pub(super) fn confirm(&self, runtime: &Handle, expected: &[Register]) -> Answer {
        let (answer, answered) = oneshot::channel();
        // If the task ended, it drops the question.
        let _ = self.0.send(Question { expected: expected.to_vec(), answer });
        wait(runtime, answered).unwrap_or_else(|_| {
            let cause = "the connection that confirms versions ended".to_owned();
            Err(Arc::new(StatementError::Lost(cause)))
        })
    }
}

async fn run(session: Session, proof: Proof, mut questions: mpsc::UnboundedReceiver<Question>) {
    while let Some(first) = questions.recv().await {
        let mut together = vec![first];
        while let Ok(further) = questions.try_recv() {
            together.push(further);
        }
        let found = tokio::time::timeout(ANSWER, current_versions(&session, &proof, &together)).await;
        let found = found.unwrap_or_else(|_| Err(StatementError::late(ANSWER))).map_err(Arc::new);
        for Question { expected, answer } in together {
            let is_current = |found: &HashMap<Vec<u8>, u64>| {
                expected.iter().all(|(key, version)| found.get(key).copied().unwrap_or(0) == *version)
            };
            // The request may have been cancelled.
            let _ = answer.send(found.as_ref().map(is_current).map_err(Arc::clone));
        }
    }
}

/// Reads the registers of all questions, again if the lease did not hold then. Waits until they are at the standby, if there is one.
async fn current_versions(
    session: &Session,
    proof: &Proof,
    together: &[Question],
) -> Result<HashMap<Vec<u8>, u64>, StatementError> {
    loop {
        proof.lease.renew(session).await?;
        let (found, read) = versions(session, together).await?;
        if !proof.lease.holds(read) {
            proof.lease.end();
            continue;
        }
        if proof.waits_for_standby() && !proof.replicated.has(&found) {
            proof.lease.commit(session).await?;
            proof.replicated.add(&found);
        }
        return Ok(found);
    }
}

/// Reads the registers of all questions. Those that were never set are absent. Also returns the time of the server after the begin
/// of the read, in milliseconds since 1970.
async fn versions(
    session: &Session,
    together: &[Question],
) -> Result<(HashMap<Vec<u8>, u64>, i64), StatementError> {
    let keys: BTreeSet<&[u8]> = together
        .iter()
        .flat_map(|question| question.expected.iter().map(|(key, _)| key.as_slice()))
        .collect();
    let keys: Vec<&[u8]> = keys.into_iter().collect();
    let statement = session.statement(&Table::Register.timed_values()).await?;
    let rows = session.client.query(&statement, &[&keys]).await?;
    let (mut versions, mut latest) = (HashMap::with_capacity(rows.len()), i64::MIN);
    for row in &rows {
        latest = latest.max(row.try_get(2)?);
        let (Some(key), Some(bytes)) = (row.try_get(0)?, row.try_get::<_, Option<&[u8]>>(1)?) else {
            continue;
        };
        let version = number(bytes).map_err(|error| StatementError::Lost(error.to_string()))?;
        versions.insert(key, version);
    }
    Ok((versions, latest))
}
