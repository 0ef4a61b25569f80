//! The change feed of the console API, event by event.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use quorate_common::console::Event;
use tokio::time::timeout;

use crate::http::{Listener, NoAnswer, TIMEOUT};

/// Terminator of an event (HTML standard, section 9.2.5).
const END: &str = "\n\n";

/// An open connection to the feed.
pub struct Feed {
    body: Incoming,
    text: String,
}

impl Feed {
    /// Opens the feed after a token, or at the present.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] if no answer arrives.
    pub async fn open(listener: &Listener, after: Option<&str>) -> Result<Self, NoAnswer> {
        let path = match after {
            Some(token) => format!("/console/v1/events?after={token}"),
            None => "/console/v1/events".to_owned(),
        };
        let body = listener.connect().await?.stream(&path).await?;
        Ok(Self { body, text: String::new() })
    }

    /// Returns the next event, or `None` when the daemon is gone.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.find(END) {
                let block: String = self.text.drain(..end + END.len()).collect();
                let data = block.lines().find_map(|line| line.strip_prefix("data:"));
                if let Some(data) = data {
                    return Some(serde_json::from_str(data.trim()).expect("an event of the protocol"));
                }
                continue;
            }
            let frame = timeout(TIMEOUT, self.body.frame()).await.expect("the feed continues")?.ok()?;
            let bytes = frame.into_data().unwrap_or_default();
            self.text.push_str(&String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
        }
    }
}
