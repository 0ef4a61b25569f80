//! Section `[journal]`: where changes of organizations are recorded in addition to the store.

use std::path::PathBuf;

use super::section::Section;

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<PathBuf> {
    section.path("path")
}
