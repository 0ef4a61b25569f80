//! The change feed: server-sent events (HTML Standard §9.2) in a response body. Comment lines only show that
//! the daemon is alive.

use std::collections::VecDeque;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use quorate_common::console::Event;

use super::client::Client;
use super::error::{LinkError, Result};
use super::escape::escaped;
use super::poll::{Item, Poll};

/// Maximum length of a line of the feed, in bytes.
const LINE_LIMIT: usize = 64 * 1024;

/// The change feed of a daemon.
pub(super) enum Feed {
    /// The feed of the local socket.
    Stream { body: Incoming, lines: Lines },
    /// A daemon at a URL, which is queried again and again.
    Poll(Box<Poll>),
}

impl Feed {
    /// Opens the feed after the event with this token, or from now on.
    pub(super) async fn open(client: &Client, after: Option<&str>) -> Result<Self> {
        if client.is_remote() {
            return Ok(Self::Poll(Box::new(Poll::start(client, after).await?)));
        }
        let path = after.map_or_else(
            || "/console/v1/events".to_owned(),
            |token| format!("/console/v1/events?after={}", escaped(token)),
        );
        Ok(Self::Stream { body: client.open(&path).await?, lines: Lines::default() })
    }

    /// Waits for the next items.
    pub(super) async fn next(&mut self) -> Result<Vec<Item>> {
        let (body, lines) = match self {
            Self::Stream { body, lines } => (body, lines),
            Self::Poll(poll) => return poll.next().await,
        };
        let frame = body.frame().await.ok_or_else(|| LinkError::Lost("the event feed ended".to_owned()))?;
        let frame = frame.map_err(|error| LinkError::Lost(error.to_string()))?;
        lines.push(&frame.into_data().unwrap_or_else(|_| Bytes::new()))
    }
}

impl Feed {
    /// Returns whether everything must be read again, because the feed does not report all changes.
    pub(super) fn is_due(&mut self) -> bool {
        match self {
            Self::Stream { .. } => false,
            Self::Poll(poll) => poll.is_due(),
        }
    }
}

/// The events of the feed, one by one.
pub(crate) struct Events {
    feed: Feed,
    waiting: VecDeque<Event>,
}

impl Events {
    /// Waits for the next event.
    pub(crate) async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(event);
            }
            let items = self.feed.next().await?.into_iter();
            self.waiting.extend(items.filter_map(|item| match item {
                Item::Event(event) => Some(event),
                Item::Alive => None,
            }));
        }
    }
}

impl Client {
    /// Opens the feed after the event with this token, or from now on.
    pub(crate) async fn events(&self, after: Option<&str>) -> Result<Events> {
        Ok(Events { feed: Feed::open(self, after).await?, waiting: VecDeque::new() })
    }
}

/// Splits the stream into lines and collects the data of an event.
#[derive(Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
    data: String,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<Item>> {
        let mut items = vec![Item::Alive];
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            self.line(line.trim_end_matches(['\n', '\r']), &mut items)?;
        }
        if self.rest.len() > LINE_LIMIT || self.data.len() > LINE_LIMIT {
            return Err(LinkError::Unreadable("an event is too long".to_owned()));
        }
        Ok(items)
    }

    fn line(&mut self, line: &str, items: &mut Vec<Item>) -> Result<()> {
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        } else if line.is_empty() && !self.data.is_empty() {
            let event = serde_json::from_str(&std::mem::take(&mut self.data));
            items.push(Item::Event(event.map_err(|error| LinkError::Unreadable(error.to_string()))?));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use quorate_common::console::Change;

    #[test]
    fn parses_events_in_arbitrary_chunks() {
        let text =
            ": hello\n\nid: 7\ndata: {\"token\":\"7\",\ndata: \"change\":{\"what\":\"RESET\"}}\r\n\r\n";
        let mut lines = Lines::default();
        let items: Vec<Item> = text
            .as_bytes()
            .chunks(3)
            .flat_map(|piece| lines.push(piece).unwrap())
            .filter(|item| *item != Item::Alive)
            .collect();
        assert_eq!(items, [Item::Event(Event { token: "7".to_owned(), change: Change::Reset })]);
        assert!(Lines::default().push(b"data: {}\n\n").is_err());
        assert!(Lines::default().push(&vec![b'a'; LINE_LIMIT + 1]).is_err());
    }
}
