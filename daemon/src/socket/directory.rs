//! Checks and prepares the path of the socket. A process that could replace the file could impersonate the
//! daemon.

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

use super::SocketError;

/// Mode of a directory that only its owner may access.
const OWNER_DIRECTORY: u32 = 0o700;
/// Mode of a directory that a group may access as well.
const GROUP_DIRECTORY: u32 = 0o750;
/// Write permission of group and others.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Time for a process to accept a connection on an existing socket.
const ANSWER: Duration = Duration::from_secs(1);

/// Creates or checks the directory, and removes a socket that no process serves.
pub(super) async fn prepare(path: &Path, owner: u32, group: Option<u32>) -> Result<(), SocketError> {
    let directory = match (path.parent(), path.file_name()) {
        (Some(directory), Some(_)) if directory.as_os_str().is_empty() => Path::new("."),
        (Some(directory), Some(_)) => directory,
        _ => return Err(SocketError::Path(path.to_owned())),
    };
    let failed = |source| SocketError::Directory { path: directory.to_owned(), source };
    match fs::metadata(directory) {
        Ok(metadata) if is_safe(&metadata, owner) => {}
        Ok(_) => return Err(SocketError::Unsafe(directory.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(directory, group).map_err(failed)?;
        }
        Err(error) => return Err(failed(error)),
    }
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(error)),
        Ok(metadata) if metadata.file_type().is_socket() && metadata.uid() == owner => {
            remove_if_stale(path).await
        }
        Ok(_) => Err(SocketError::Occupied(path.to_owned())),
    }
}

fn is_safe(directory: &Metadata, owner: u32) -> bool {
    const ROOT: u32 = 0;
    let belongs = directory.uid() == owner || directory.uid() == ROOT;
    directory.is_dir() && belongs && directory.mode() & WRITABLE_BY_OTHERS == 0
}

fn create(directory: &Path, group: Option<u32>) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWNER_DIRECTORY).create(directory)?;
    if let Some(group) = group {
        std::os::unix::fs::chown(directory, None, Some(group))?;
        rustix::fs::chmod(directory, rustix::fs::Mode::from_raw_mode(GROUP_DIRECTORY))?;
    }
    Ok(())
}

async fn remove_if_stale(path: &Path) -> Result<(), SocketError> {
    match timeout(ANSWER, UnixStream::connect(path)).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|source| SocketError::Serve { path: path.to_owned(), source })
        }
        _ => Err(SocketError::InUse(path.to_owned())),
    }
}
