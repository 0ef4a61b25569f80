//! What operators may request of the outbox: to see the last attempts, to repeat a delivery, and to test a receiver.

use std::sync::Arc;
use std::time::Duration;

use quorate_common::api_error::{ApiError, Code};
use quorate_common::console::WebhookAttempt;
use quorate_core::model::layout::outbox::Destination;
use quorate_core::operator::Repeated;
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::attempt::DeliveryClient;
use super::attempts::{Attempts, Seen};
use crate::clock::now;

/// Maximum number of requests to repeat a delivery that wait for the worker.
pub(super) const REQUESTS: usize = 16;
/// Maximum number of tests at once.
const TESTS: usize = 4;
/// Maximum time for the worker to queue a delivery again.
const DEADLINE: Duration = Duration::from_secs(10);

/// A request to repeat a delivery.
pub(super) struct RepeatRequest {
    pub(super) repeated: Repeated,
    /// Receives the number of waiting deliveries that are due now, or why nothing was done.
    pub(super) answer: oneshot::Sender<Result<u64, &'static str>>,
}

/// The outbox as operators use it. Cheap to clone.
#[derive(Clone)]
pub struct OutboxControl {
    client: DeliveryClient,
    attempts: Arc<Attempts>,
    requests: mpsc::Sender<RepeatRequest>,
    tests: Arc<Semaphore>,
}

impl OutboxControl {
    pub(super) fn new(
        client: DeliveryClient,
        attempts: Arc<Attempts>,
        requests: mpsc::Sender<RepeatRequest>,
    ) -> Self {
        Self { client, attempts, requests, tests: Arc::new(Semaphore::new(TESTS)) }
    }

    /// Returns the attempts at the deliveries to a receiver since the start, as many as requested.
    pub fn attempts(&self, destination: &Destination, limit: usize) -> Seen {
        self.attempts.of(destination, limit)
    }

    /// Makes the waiting deliveries of an activity to a receiver due now, or queues its current state again. Returns the
    /// number of deliveries that waited.
    ///
    /// # Errors
    /// If one of them is under way, or the outbox does not work now.
    pub async fn repeat(&self, repeated: Repeated) -> Result<u64, ApiError> {
        let unavailable = || ApiError::new(Code::Unavailable, "deliveries cannot be queued now");
        let (answer, answered) = oneshot::channel();
        self.requests.try_send(RepeatRequest { repeated, answer }).map_err(|_| unavailable())?;
        let answered = tokio::time::timeout(DEADLINE, answered).await;
        let result = answered.map_err(|_| unavailable())?.map_err(|_| unavailable())?;
        result.map_err(|why| ApiError::new(Code::FailedPrecondition, why))
    }

    /// Posts a test event to a receiver once, and returns how it ended.
    ///
    /// # Errors
    /// If too many tests are under way, or the event cannot be signed.
    pub async fn test(&self, destination: Destination, url: &str) -> Result<WebhookAttempt, ApiError> {
        let _permit = self
            .tests
            .try_acquire()
            .map_err(|_| ApiError::new(Code::Unavailable, "too many tests are under way"))?;
        let (event, outcome) = self.client.test(&destination, url).await.map_err(|cause| {
            tracing::error!(%cause, "a test event cannot be signed");
            ApiError::new(Code::Internal, "the test event cannot be signed")
        })?;
        Ok(self.attempts.add_test(destination, event, outcome, now()))
    }
}
