//! Requests of one process to lock the keys of all others of the same user. A request is a change of a file.

use std::path::PathBuf;

use crate::clock::now_millis;
use crate::files::{self, FileError, Folders};

const SIZE_LIMIT: u64 = 64;

/// Makes every [`LockRequests`] of this user lock its keys.
pub(crate) fn send(folders: &Folders) -> Result<(), FileError> {
    files::write_private(&path(folders), format!("{}\n", now_millis()).as_bytes())
}

/// Notices requests that are sent after its creation.
pub(crate) struct LockRequests {
    path: PathBuf,
    last: Option<Vec<u8>>,
}

impl LockRequests {
    pub(crate) fn new(folders: &Folders) -> Self {
        let path = path(folders);
        let last = files::read(&path, SIZE_LIMIT).unwrap_or_default();
        Self { path, last }
    }

    /// Returns whether there was a request since the last call. A file that cannot be read counts as one.
    pub(crate) fn received(&mut self) -> bool {
        match files::read(&self.path, SIZE_LIMIT) {
            Ok(now) if now == self.last => false,
            Ok(now) => {
                self.last = now;
                true
            }
            Err(_) => true,
        }
    }
}

fn path(folders: &Folders) -> PathBuf {
    folders.state.join("lock")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn each_request_is_received_once_by_all() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { config: home.path().to_owned(), state: home.path().to_owned() };
        let mut all = [LockRequests::new(&folders), LockRequests::new(&folders)];
        assert!(all.iter_mut().all(|one| !one.received()));
        send(&folders).unwrap();
        assert!(all.iter_mut().all(LockRequests::received));
        assert!(all.iter_mut().all(|one| !one.received()));
        assert!(!LockRequests::new(&folders).received(), "sent before");
    }
}
