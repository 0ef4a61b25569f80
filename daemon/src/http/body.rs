//! Bodies of requests, read within limits of size, time and memory, and bodies of answers for hyper.
//!
//! Request bodies are never decompressed.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::connection_state::RequestGuard;
use super::limits::{BODY_BYTES, RequestLimits, SMALL_BODY_BYTES};
use super::shares::{Share, Shares};
use crate::source::Client;

/// An error while reading a request body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyError {
    /// Longer than [`BODY_BYTES`].
    TooLarge,
    /// Not complete within the deadline.
    TooSlow,
    /// The framing is invalid, or the client disconnected.
    Broken,
    /// The memory for bodies of this client is used up.
    ClientFull,
    /// The memory for bodies of all clients is used up.
    AllFull,
}

/// A complete request body. One that was received in parts holds its share of the memory until it is dropped.
pub(super) struct ReceivedBody {
    pub(super) bytes: Bytes,
    pub(super) share: Option<Share>,
}

/// Memory for request bodies that are received in parts.
pub(super) struct Bodies {
    shares: Arc<Shares>,
    receiving: Mutex<Receiving>,
}

/// Incomplete bodies that hold memory, from the oldest to the newest.
#[derive(Default)]
struct Receiving {
    next: u64,
    bodies: BTreeMap<u64, Part>,
}

/// An incomplete body.
struct Part {
    client: Client,
    bytes: usize,
    /// Permits for its part of the memory of all clients.
    memory: Option<OwnedSemaphorePermit>,
    evicted: CancellationToken,
}

impl Bodies {
    pub(super) fn new(limits: &RequestLimits) -> Self {
        let RequestLimits { body_bytes, body_bytes_per_client, requests_waiting_per_client, .. } = *limits;
        let shares = Shares::new(body_bytes_per_client, body_bytes, requests_waiting_per_client);
        Self { shares, receiving: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Receiving> {
        // Each single operation leaves the state valid.
        self.receiving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a body to its end.
    ///
    /// Data that arrived with the head is used as it is. A body that the daemon has to wait for first takes
    /// its share of the memory, for the announced length or else the maximum length. It therefore never waits
    /// for memory half-way, and a slow sender holds only memory of its own client.
    pub(super) async fn read(
        &self,
        mut body: Incoming,
        client: Client,
        deadline: Duration,
    ) -> Result<ReceivedBody, BodyError> {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > BODY_BYTES {
            return Err(BodyError::TooLarge);
        }
        let mut partial = PartialBody::default();
        if announced <= SMALL_BODY_BYTES && partial.take_ready(&mut body).await? {
            return Ok(ReceivedBody { bytes: partial.finish(), share: None });
        }
        let length = if body.size_hint().exact().is_some() { announced } else { BODY_BYTES };
        let client_share = timeout(deadline, self.shares.acquire(client, length)).await;
        let client_share = client_share.ok().flatten().ok_or(BodyError::ClientFull)?;
        let share =
            timeout(deadline, client_share.acquire_global(|amount| self.make_room(client, length, amount)))
                .await;
        let mut share = share.ok().flatten().ok_or(BodyError::AllFull)?;
        let part = self.begin(client, length, share.detach());
        tokio::select! {
            () = part.evicted.cancelled() => Err(BodyError::AllFull),
            read = timeout(deadline, partial.collect(body, length)) => {
                let bytes = read.unwrap_or(Err(BodyError::TooSlow))?;
                share.attach(part.end().ok_or(BodyError::AllFull)?);
                Ok(ReceivedBody { bytes, share: Some(share) })
            }
        }
    }

    fn begin(&self, client: Client, bytes: usize, memory: Option<OwnedSemaphorePermit>) -> PartGuard<'_> {
        let mut receiving = self.lock();
        let id = receiving.next;
        receiving.next += 1;
        let evicted = CancellationToken::new();
        receiving.bodies.insert(id, Part { client, bytes, memory, evicted: evicted.clone() });
        PartGuard { bodies: self, id, evicted }
    }

    /// Evicts incomplete bodies to make room for one of `bytes`, and returns `amount` of the freed memory. It
    /// evicts the oldest bodies of the client whose incomplete bodies hold the most memory. Nothing is evicted
    /// for a client that would then hold more memory than that client.
    ///
    /// The freed memory does not go to requests that waited longer: their clients hold more memory, or they
    /// need more.
    fn make_room(&self, client: Client, bytes: usize, amount: u32) -> Option<OwnedSemaphorePermit> {
        let mut receiving = self.lock();
        let mut held: HashMap<Client, usize> = HashMap::new();
        for part in receiving.bodies.values() {
            *held.entry(part.client).or_default() += part.bytes;
        }
        let wanted = held.get(&client).copied().unwrap_or_default().saturating_add(bytes);
        let mut freed: Option<OwnedSemaphorePermit> = None;
        while freed.as_ref().map_or(0, OwnedSemaphorePermit::num_permits) < bytes {
            let others = held.iter_mut().filter(|(other, sum)| **other != client && **sum >= wanted);
            let Some((victim, sum)) = others.max_by_key(|(_, sum)| **sum) else { break };
            let oldest = receiving.bodies.iter().find(|(_, part)| part.client == *victim).map(|(id, _)| *id);
            let Some(part) = oldest.and_then(|id| receiving.bodies.remove(&id)) else { break };
            *sum = sum.saturating_sub(part.bytes);
            part.evicted.cancel();
            match (&mut freed, part.memory) {
                (Some(freed), Some(more)) => freed.merge(more),
                (freed @ None, more) => *freed = more,
                (Some(_), None) => {}
            }
        }
        // The rest of the freed memory is released.
        freed?.split(usize::try_from(amount).ok()?)
    }
}

/// A registered incomplete body; dropping the guard removes the entry.
struct PartGuard<'a> {
    bodies: &'a Bodies,
    id: u64,
    evicted: CancellationToken,
}

impl PartGuard<'_> {
    /// Removes the entry. Returns its memory, unless the body was evicted.
    fn end(&self) -> Option<OwnedSemaphorePermit> {
        self.bodies.lock().bodies.remove(&self.id)?.memory
    }
}

impl Drop for PartGuard<'_> {
    fn drop(&mut self) {
        self.bodies.lock().bodies.remove(&self.id);
    }
}

/// The received part of a body.
#[derive(Default)]
struct PartialBody {
    /// The first part as it was received, which in most cases is the whole body.
    first: Bytes,
    /// All parts, if there are several.
    whole: BytesMut,
}

impl PartialBody {
    /// Takes the data that is available without waiting, up to [`SMALL_BODY_BYTES`]. Returns whether the body
    /// is complete.
    async fn take_ready(&mut self, body: &mut Incoming) -> Result<bool, BodyError> {
        loop {
            let polled = poll_fn(|cx| Poll::Ready(Pin::new(&mut *body).poll_frame(cx))).await;
            match polled {
                Poll::Pending => return Ok(false),
                Poll::Ready(None) => return Ok(true),
                Poll::Ready(Some(frame)) => self.take(frame)?,
            }
            if body.is_end_stream() {
                return Ok(true);
            }
            if self.first.len().max(self.whole.len()) > SMALL_BODY_BYTES {
                return Ok(false);
            }
        }
    }

    /// Reads the rest of the body, whose maximum length is `length`.
    async fn collect(mut self, mut body: Incoming, length: usize) -> Result<Bytes, BodyError> {
        self.whole.reserve(length.saturating_sub(self.whole.len()));
        self.whole.extend_from_slice(&std::mem::take(&mut self.first));
        while let Some(frame) = body.frame().await {
            self.take(frame)?;
        }
        Ok(self.finish())
    }

    fn take(&mut self, frame: Result<Frame<Bytes>, hyper::Error>) -> Result<(), BodyError> {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else { return Ok(()) };
        if self.first.len().max(self.whole.len()) + data.len() > BODY_BYTES {
            return Err(BodyError::TooLarge);
        }
        if self.first.is_empty() && self.whole.capacity() == 0 {
            self.first = data;
        } else {
            self.whole.extend_from_slice(&std::mem::take(&mut self.first));
            self.whole.extend_from_slice(&data);
        }
        Ok(())
    }

    fn finish(self) -> Bytes {
        if self.whole.is_empty() { self.first } else { self.whole.freeze() }
    }
}

/// Body of an answer. It keeps the request registered until the body was sent.
pub(super) struct AnswerBody {
    content: AnswerContent,
    _request: RequestGuard,
}

enum AnswerContent {
    Whole(Bytes),
    Events { events: mpsc::Receiver<Bytes>, stopped: Pin<Box<WaitForCancellationFutureOwned>> },
}

impl AnswerBody {
    pub(super) fn whole(bytes: Bytes, mut guard: RequestGuard) -> Self {
        guard.answering();
        Self { content: AnswerContent::Whole(bytes), _request: guard }
    }

    /// Creates an event stream that ends with its sender or when `stopped` completes.
    pub(super) fn events(
        events: mpsc::Receiver<Bytes>,
        stopped: WaitForCancellationFutureOwned,
        guard: RequestGuard,
    ) -> Self {
        Self { content: AnswerContent::Events { events, stopped: Box::pin(stopped) }, _request: guard }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.get_mut().content {
            AnswerContent::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            AnswerContent::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            AnswerContent::Events { events, stopped } => {
                if stopped.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                events.poll_recv(cx).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, AnswerContent::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            AnswerContent::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            AnswerContent::Events { .. } => SizeHint::default(),
        }
    }
}
