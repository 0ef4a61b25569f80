//! Bodies: a request's, read within size, time and memory; an answer's, as the HTTP library wants it.
//!
//! Request bodies are never inflated.

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

use super::limits::{BODY_BYTES, RequestLimits, SMALL_BODY_BYTES};
use super::live::Busy;
use super::shares::{Share, Shares};
use crate::source::Client;

/// Why a body is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// Longer than [`BODY_BYTES`].
    TooLarge,
    /// Not complete within the deadline.
    TooSlow,
    /// The framing is broken, or the client went away.
    Broken,
    /// The bodies of this client hold all the memory that it may take.
    ClientFull,
    /// The bodies of all clients hold all the memory that they may take.
    AllFull,
}

/// A whole request body. One that was received in parts keeps its share of the memory until this is dropped.
pub(super) struct Whole {
    pub(super) bytes: Bytes,
    pub(super) share: Option<Share>,
}

/// The memory of request bodies that are received in parts.
pub(super) struct Bodies {
    shares: Arc<Shares>,
    receiving: Mutex<Receiving>,
}

/// Bodies that hold memory and are not complete, from the oldest to the newest.
#[derive(Default)]
struct Receiving {
    next: u64,
    bodies: BTreeMap<u64, Part>,
}

struct Part {
    client: Client,
    bytes: usize,
    /// What it takes of the memory of all clients.
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
        // Every single operation leaves it valid.
        self.receiving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a body to its end.
    ///
    /// What arrived with the head is taken as it is. A body that the daemon has to wait for takes its share of the
    /// memory first: the length that was announced, or the largest one. So it never waits for memory half-way, and a slow
    /// sender holds only memory of its own address.
    pub(super) async fn read(
        &self,
        mut body: Incoming,
        client: Client,
        deadline: Duration,
    ) -> Result<Whole, Unread> {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > BODY_BYTES {
            return Err(Unread::TooLarge);
        }
        let mut begun = Begun::default();
        if announced <= SMALL_BODY_BYTES && begun.take_ready(&mut body).await? {
            return Ok(Whole { bytes: begun.finish(), share: None });
        }
        let length = if body.size_hint().exact().is_some() { announced } else { BODY_BYTES };
        let own = timeout(deadline, self.shares.own(client, length)).await;
        let own = own.ok().flatten().ok_or(Unread::ClientFull)?;
        let share = timeout(deadline, own.of_all(|amount| self.make_room(client, length, amount))).await;
        let mut share = share.ok().flatten().ok_or(Unread::AllFull)?;
        let part = self.begin(client, length, share.lend());
        tokio::select! {
            () = part.evicted.cancelled() => Err(Unread::AllFull),
            read = timeout(deadline, begun.collect(body, length)) => {
                let bytes = read.unwrap_or(Err(Unread::TooSlow))?;
                share.take_back(part.end().ok_or(Unread::AllFull)?);
                Ok(Whole { bytes, share: Some(share) })
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

    /// Ends the oldest incomplete bodies of the client that holds most memory by them, until there is room for one of
    /// `bytes`, and returns `amount` of their memory. It does not go to requests that waited longer: their clients hold
    /// more memory, or they ask for more. A client that would then hold more than that one ends nothing.
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
        // What is left over goes back.
        freed?.split(usize::try_from(amount).ok()?)
    }
}

/// An incomplete body in the register; taken out when dropped.
struct PartGuard<'a> {
    bodies: &'a Bodies,
    id: u64,
    evicted: CancellationToken,
}

impl PartGuard<'_> {
    /// Ends that the body is incomplete. Returns its memory, unless somebody else got it.
    fn end(&self) -> Option<OwnedSemaphorePermit> {
        self.bodies.lock().bodies.remove(&self.id)?.memory
    }
}

impl Drop for PartGuard<'_> {
    fn drop(&mut self) {
        self.bodies.lock().bodies.remove(&self.id);
    }
}

/// What was received of a body.
#[derive(Default)]
struct Begun {
    /// The first part as it came, which mostly is all.
    first: Bytes,
    /// All parts, once there are several.
    whole: BytesMut,
}

impl Begun {
    /// Takes what is there without waiting, up to [`SMALL_BODY_BYTES`]. True if that was all.
    async fn take_ready(&mut self, body: &mut Incoming) -> Result<bool, Unread> {
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

    /// Reads the rest. `length` is how long the whole may become.
    async fn collect(mut self, mut body: Incoming, length: usize) -> Result<Bytes, Unread> {
        self.whole.reserve(length.saturating_sub(self.whole.len()));
        self.whole.extend_from_slice(&std::mem::take(&mut self.first));
        while let Some(frame) = body.frame().await {
            self.take(frame)?;
        }
        Ok(self.finish())
    }

    fn take(&mut self, frame: Result<Frame<Bytes>, hyper::Error>) -> Result<(), Unread> {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { return Ok(()) };
        if self.first.len().max(self.whole.len()) + data.len() > BODY_BYTES {
            return Err(Unread::TooLarge);
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

/// Body of an answer. It holds the request's place in the register until it is handed over.
pub(super) struct AnswerBody {
    form: Form,
    _busy: Busy,
}

enum Form {
    Whole(Bytes),
    Events { events: mpsc::Receiver<Bytes>, stopped: Pin<Box<WaitForCancellationFutureOwned>> },
}

impl AnswerBody {
    pub(super) fn whole(bytes: Bytes, mut busy: Busy) -> Self {
        busy.answering();
        Self { form: Form::Whole(bytes), _busy: busy }
    }

    /// Ends with its sender or when `stopped` completes.
    pub(super) fn events(
        events: mpsc::Receiver<Bytes>,
        stopped: WaitForCancellationFutureOwned,
        busy: Busy,
    ) -> Self {
        Self { form: Form::Events { events, stopped: Box::pin(stopped) }, _busy: busy }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.get_mut().form {
            Form::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Form::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Form::Events { events, stopped } => {
                if stopped.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(None);
                }
                events.poll_recv(cx).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.form, Form::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.form {
            Form::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Form::Events { .. } => SizeHint::default(),
        }
    }
}
