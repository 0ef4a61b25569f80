//! Section `[socket]`: the local socket for consoles.

use std::path::PathBuf;

use super::section::Section;

/// The local socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Socket {
    /// File.
    pub path: PathBuf,
    /// Group whose members may connect too, by name or number; see [`crate::socket::group::group_id`].
    pub group: Option<String>,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Socket> {
    let path = section.required_path("path");
    let group = section.text("group");
    Some(Socket { path: path?, group })
}
