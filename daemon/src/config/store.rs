//! Section `[store]`: where data is kept.

use std::path::PathBuf;

use super::section::Section;

/// The store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Folder of the daemon's own.
    pub path: PathBuf,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Store> {
    Some(Store { path: section.required_path("path")? })
}
