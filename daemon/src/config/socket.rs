//! Section `[socket]`: the local socket of the console.

use std::path::PathBuf;

use super::section::Section;

/// Settings of the local socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Socket {
    /// Path of the socket file.
    pub path: PathBuf,
    /// Group whose members may connect as well, by name or number; see [`crate::socket::group::group_id`].
    pub group: Option<String>,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Socket> {
    let path = section.required_path("path");
    let group = section.text("group");
    Some(Socket { path: path?, group })
}
