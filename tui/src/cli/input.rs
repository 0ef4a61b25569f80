//! Reads the files that commands are given.

use std::path::Path;

use crate::failure::{Exit, Failure, Result};
use crate::files;
use crate::text::clean;

/// Reads a file, or standard input for `-`.
pub(super) fn given(file: &Path, limit: u64) -> Result<Vec<u8>> {
    if file == Path::new("-") {
        return Ok(files::read_input(limit)?);
    }
    let missing =
        || Failure::new(Exit::NotFound, format!("file {} not found", clean(&file.display().to_string())));
    files::read(file, limit)?.ok_or_else(missing)
}
