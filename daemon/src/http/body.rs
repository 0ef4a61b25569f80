//! Bodies: a request's, read within size and time; an answer's, as the HTTP library wants it.
//!
//! Request bodies are never inflated.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::limits::{BODY_BYTES, SMALL_BODY_BYTES};
use super::live::Busy;

/// Why a body is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// Longer than [`BODY_BYTES`].
    TooLarge,
    /// Not complete within the deadline.
    TooSlow,
    /// The framing is broken, or the client went away.
    Broken,
}

/// A whole request body. A large one keeps its place until this is dropped.
pub(super) struct Whole {
    pub(super) bytes: Bytes,
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// Reads a body to its end.
pub(super) async fn read(
    body: Incoming,
    places: &Arc<Semaphore>,
    deadline: Duration,
) -> Result<Whole, Unread> {
    if body.is_end_stream() {
        return Ok(Whole { bytes: Bytes::new(), place: None });
    }
    let announced = body.size_hint().lower();
    if announced > BODY_BYTES as u64 {
        return Err(Unread::TooLarge);
    }
    // The first poll does not arm the timer, so a body that is already there costs none.
    tokio::time::timeout(deadline, collect(body, announced, places)).await.unwrap_or(Err(Unread::TooSlow))
}

async fn collect(mut body: Incoming, announced: u64, places: &Arc<Semaphore>) -> Result<Whole, Unread> {
    let mut place = None;
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        if whole.is_empty() && (data.len() as u64 == announced || body.is_end_stream()) {
            return if data.len() > BODY_BYTES {
                Err(Unread::TooLarge)
            } else {
                Ok(Whole { bytes: data, place })
            };
        }
        let length = whole.len() + data.len();
        if length > BODY_BYTES {
            return Err(Unread::TooLarge);
        }
        if length > SMALL_BODY_BYTES && place.is_none() {
            place = Some(Arc::clone(places).acquire_owned().await.map_err(|_| Unread::Broken)?);
        }
        whole.extend_from_slice(&data);
    }
    Ok(Whole { bytes: whole.freeze(), place })
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
