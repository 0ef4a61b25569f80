//! The change feed: server-sent events (HTML standard §9.2) over a response body. Comments only show that
//! the daemon lives.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use quorate_common::console::Event;

use super::LinkFlaw;

/// Longest line of the feed that is kept.
const LINE_LIMIT: usize = 64 * 1024;

/// What came over the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sign {
    /// Something changed.
    Event(Event),
    /// The daemon lives.
    Alive,
}

/// Reads a feed.
pub(super) struct Feed {
    body: Incoming,
    lines: Lines,
}

impl Feed {
    /// Of a body just opened.
    pub(super) fn new(body: Incoming) -> Self {
        Self { body, lines: Lines::default() }
    }

    /// What came next; waits for it.
    pub(super) async fn next(&mut self) -> Result<Vec<Sign>, LinkFlaw> {
        let frame = self.body.frame().await.ok_or_else(|| LinkFlaw::Lost("the feed ended".to_owned()))?;
        let frame = frame.map_err(|error| LinkFlaw::Lost(error.to_string()))?;
        self.lines.take(&frame.into_data().unwrap_or_else(|_| Bytes::new()))
    }
}

/// Cuts the stream into lines and gathers the data of an event.
#[derive(Default)]
struct Lines {
    rest: Vec<u8>,
    data: String,
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) -> Result<Vec<Sign>, LinkFlaw> {
        let mut signs = vec![Sign::Alive];
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            self.line(line.trim_end_matches(['\n', '\r']), &mut signs)?;
        }
        if self.rest.len() > LINE_LIMIT || self.data.len() > LINE_LIMIT {
            return Err(LinkFlaw::Unreadable("an event is too long".to_owned()));
        }
        Ok(signs)
    }

    fn line(&mut self, line: &str, signs: &mut Vec<Sign>) -> Result<(), LinkFlaw> {
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        } else if line.is_empty() && !self.data.is_empty() {
            let event = serde_json::from_str(&std::mem::take(&mut self.data));
            signs.push(Sign::Event(event.map_err(|error| LinkFlaw::Unreadable(error.to_string()))?));
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
    fn reads_events_in_any_pieces() {
        let text =
            ": hello\n\nid: 7\ndata: {\"token\":\"7\",\ndata: \"change\":{\"what\":\"RESET\"}}\r\n\r\n";
        let mut lines = Lines::default();
        let signs: Vec<Sign> = text
            .as_bytes()
            .chunks(3)
            .flat_map(|piece| lines.take(piece).unwrap())
            .filter(|sign| *sign != Sign::Alive)
            .collect();
        assert_eq!(signs, [Sign::Event(Event { token: "7".to_owned(), change: Change::Reset })]);
        assert!(Lines::default().take(b"data: {}\n\n").is_err());
        assert!(Lines::default().take(&vec![b'a'; LINE_LIMIT + 1]).is_err());
    }
}
