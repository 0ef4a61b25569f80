//! A filter in the byte stream of a connection. It passes on the head of an HTTP/1 request when the head is
//! complete and was checked. It also records the times that the deadlines of [`super::connection_state`] need.
//!
//! A rejected head is replaced by one that [`super::exchange`] answers with an error. hyper therefore writes all
//! answers, including these. Bodies are passed on without a copy, and HTTP/2 unchanged.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection_state::ConnectionState;
use super::head::{self, Framing, Scan};
use super::limits::{HEAD_BYTES, PIPELINE_DEPTH};

/// Method of the head that replaces a rejected one. A client that sends it is rejected as well.
pub(super) const REJECTED_METHOD: &str = "REFUSED";
/// Target of a replacement: the request is malformed.
pub(super) const REJECTED_MALFORMED: &str = "/400";
/// Target of a replacement: the head is too large.
pub(super) const REJECTED_LARGE: &str = "/431";
/// Target of a replacement: too many requests were pipelined.
pub(super) const REJECTED_PIPELINED: &str = "/429";

/// Request line and empty line of the HTTP/2 preface (RFC 9113 §3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\n";
/// Initial size of the head buffer, in bytes; most heads fit.
const BUFFER_BYTES: usize = 4 * 1024;
/// Time for which a closed connection is still read, so that the client receives the answer and not a reset.
const LINGER: Duration = Duration::from_secs(1);
/// Maximum number of bytes that are read in that time.
const LINGER_BYTES: usize = 8 * 1024 * 1024;

/// A connection with its filter.
pub(super) struct HeadFilter<Io> {
    io: Io,
    state: Arc<ConnectionState>,
    buffer: Buffer,
    pass_through: PassThrough,
    scanned: usize,
    first: bool,
    pipelined: u32,
    linger: Option<(Pin<Box<Sleep>>, usize)>,
}

/// Data that is passed on without a check.
enum PassThrough {
    /// The given number of bytes, followed by a head.
    Bytes(u64),
    /// A chunked body; no head follows it.
    Chunks,
    /// All data: the connection uses HTTP/2.
    Http2,
    /// No data: a head was rejected.
    Nothing,
}

impl<Io> HeadFilter<Io> {
    pub(super) fn new(io: Io, state: Arc<ConnectionState>) -> Self {
        Self {
            io,
            state,
            buffer: Buffer::default(),
            pass_through: PassThrough::Bytes(0),
            scanned: 0,
            first: true,
            pipelined: 0,
            linger: None,
        }
    }
}

impl<Io: AsyncRead + Unpin> HeadFilter<Io> {
    /// Waits for a complete head and checks it; `pass_through` is then set. Returns `false` at the end of the stream.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if self.buffer.bytes().is_empty() {
            self.pipelined = 0;
        }
        loop {
            self.buffer.skip_empty_lines();
            match head::scan(self.buffer.bytes(), self.scanned) {
                Scan::End(end) => {
                    self.scanned = 0;
                    self.state.head_complete();
                    self.check(end);
                    return Poll::Ready(Ok(true));
                }
                Scan::Malformed => {
                    self.reject(REJECTED_MALFORMED);
                    return Poll::Ready(Ok(true));
                }
                Scan::Incomplete(_) if self.buffer.bytes().len() > HEAD_BYTES => {
                    self.reject(REJECTED_LARGE);
                    return Poll::Ready(Ok(true));
                }
                Scan::Incomplete(from) => self.scanned = from,
            }
            if !self.buffer.bytes().is_empty() {
                self.state.head_begun();
            }
            if ready!(self.buffer.poll_fill(&mut self.io, cx))? == 0 {
                return Poll::Ready(Ok(false));
            }
        }
    }

    fn check(&mut self, end: usize) {
        let head = self.buffer.bytes().get(..end).unwrap_or_default();
        let first = std::mem::take(&mut self.first);
        self.pipelined += 1;
        if first && head == HTTP2_PREFACE {
            self.pass_through = PassThrough::Http2;
        } else if end > HEAD_BYTES {
            self.reject(REJECTED_LARGE);
        } else if self.pipelined > PIPELINE_DEPTH {
            self.reject(REJECTED_PIPELINED);
        } else {
            match head::check(head) {
                Some(Framing::Length(length)) => {
                    self.pass_through = PassThrough::Bytes(length.saturating_add(end as u64));
                }
                Some(Framing::Chunked) => self.pass_through = PassThrough::Chunks,
                None => self.reject(REJECTED_MALFORMED),
            }
        }
    }

    /// Replaces all buffered data by a head that is answered with an error.
    fn reject(&mut self, target: &str) {
        let head =
            format!("{REJECTED_METHOD} {target} HTTP/1.1\r\nhost: refused\r\nconnection: close\r\n\r\n");
        self.state.head_complete();
        self.buffer.replace(head.as_bytes());
        self.pass_through = PassThrough::Nothing;
    }

    /// Returns whether the client may still be sending data that is not read.
    const fn is_cut_short(&self) -> bool {
        matches!(self.pass_through, PassThrough::Nothing | PassThrough::Chunks | PassThrough::Bytes(1..))
    }

    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (deadline, left) =
            self.linger.get_or_insert_with(|| (Box::pin(sleep_until(Instant::now() + LINGER)), LINGER_BYTES));
        let mut scratch = [0_u8; BUFFER_BYTES];
        while *left > 0 {
            let mut into = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.io).poll_read(cx, &mut into) {
                Poll::Ready(Ok(())) if !into.filled().is_empty() => {
                    *left = left.saturating_sub(into.filled().len());
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return deadline.as_mut().poll(cx),
            }
        }
        Poll::Ready(())
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for HeadFilter<Io> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let filter = self.get_mut();
        if let PassThrough::Bytes(0) = filter.pass_through
            && !ready!(filter.poll_head(cx))?
        {
            return Poll::Ready(Ok(()));
        }
        let allowed = match filter.pass_through {
            PassThrough::Bytes(left) => usize::try_from(left).unwrap_or(usize::MAX),
            // Nothing follows a rejected head, not even an end of the stream, which would cancel its answer.
            PassThrough::Nothing if filter.buffer.bytes().is_empty() => return Poll::Pending,
            PassThrough::Nothing | PassThrough::Chunks | PassThrough::Http2 => usize::MAX,
        };
        let passed = if !filter.buffer.bytes().is_empty() {
            filter.buffer.drain_into(out, allowed)
        } else if allowed >= out.remaining() {
            let before = out.filled().len();
            ready!(Pin::new(&mut filter.io).poll_read(cx, out))?;
            out.filled().len().saturating_sub(before)
        } else {
            let mut part = ReadBuf::new(out.initialize_unfilled_to(allowed));
            ready!(Pin::new(&mut filter.io).poll_read(cx, &mut part))?;
            let passed = part.filled().len();
            out.advance(passed);
            passed
        };
        if let PassThrough::Bytes(left) = &mut filter.pass_through {
            *left = left.saturating_sub(passed as u64);
        }
        Poll::Ready(Ok(()))
    }
}

impl<Io: AsyncRead + AsyncWrite + Unpin> AsyncWrite for HeadFilter<Io> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let filter = self.get_mut();
        let outcome = Pin::new(&mut filter.io).poll_write(cx, bytes);
        if outcome.is_pending() {
            filter.state.write_blocked();
        }
        outcome
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let filter = self.get_mut();
        let outcome = Pin::new(&mut filter.io).poll_write_vectored(cx, slices);
        if outcome.is_pending() {
            filter.state.write_blocked();
        }
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let filter = self.get_mut();
        let outcome = Pin::new(&mut filter.io).poll_flush(cx);
        if outcome.is_pending() {
            filter.state.write_blocked();
        } else {
            filter.state.write_done();
        }
        outcome
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let filter = self.get_mut();
        if filter.linger.is_none() {
            ready!(Pin::new(&mut filter.io).poll_shutdown(cx))?;
        }
        if filter.is_cut_short() { filter.poll_linger(cx).map(Ok) } else { Poll::Ready(Ok(())) }
    }
}

/// Bytes that were read and are not passed on yet.
#[derive(Default)]
struct Buffer {
    storage: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        self.storage.get(self.start..self.end).unwrap_or_default()
    }

    fn replace(&mut self, bytes: &[u8]) {
        self.storage = bytes.to_vec();
        (self.start, self.end) = (0, bytes.len());
    }

    fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Skips empty lines before a request, which are ignored (RFC 9112 §2.2).
    fn skip_empty_lines(&mut self) {
        while self.bytes().starts_with(b"\r\n") {
            self.consume(2);
        }
    }

    fn drain_into(&mut self, out: &mut ReadBuf<'_>, allowed: usize) -> usize {
        let count = self.bytes().len().min(out.remaining()).min(allowed);
        out.put_slice(self.bytes().get(..count).unwrap_or_default());
        self.consume(count);
        count
    }

    /// Reads at least one more byte, unless the stream has ended. The buffer never holds more than a head and
    /// [`BUFFER_BYTES`].
    fn poll_fill(
        &mut self,
        io: &mut (impl AsyncRead + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if self.end == self.storage.len() {
            self.storage.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let size = if self.end > BUFFER_BYTES / 2 { HEAD_BYTES + BUFFER_BYTES } else { BUFFER_BYTES };
            self.storage.resize(size.max(self.storage.len()), 0);
        }
        let mut into = ReadBuf::new(self.storage.get_mut(self.end..).unwrap_or_default());
        ready!(Pin::new(io).poll_read(cx, &mut into))?;
        let count = into.filled().len();
        self.end += count;
        Poll::Ready(Ok(count))
    }
}
