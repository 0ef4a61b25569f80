//! Tests of modes, owners and existing files of the socket, and of admission.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::*;
use crate::http::limits::RequestLimits;
use crate::http::tests::Echo;
use crate::source::Proxies;
use crate::telemetry::{Metrics, SharedReadiness};

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    folder
}

async fn bind(path: &Path) -> Result<SocketListener, SocketError> {
    SocketListener::bind(path, None, Limits::socket()).await
}

fn serve(listener: SocketListener) -> CancellationToken {
    let stop = CancellationToken::new();
    let (proxies, limits) = (Proxies::default(), RequestLimits::default());
    let server =
        Server::new(Arc::new(Echo::default()), Metrics::new(), SharedReadiness::default(), proxies, &limits);
    tokio::spawn(listener.run(server, stop.clone()));
    stop
}

async fn request(path: &Path) -> String {
    let mut stream = UnixStream::connect(path).await.unwrap();
    stream
        .write_all(b"GET /console/v1/status HTTP/1.1\r\nHost: quorate\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

#[tokio::test]
async fn a_missing_directory_is_created_and_private() {
    let folder = folder();
    let path = folder.path().join("run").join("quorate").join("socket");
    let listener = bind(&path).await.unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&path), 0o600);
    let stop = serve(listener);
    let answer = request(&path).await;
    assert!(
        answer.contains(r#""path":"/console/v1/status""#) && answer.contains(r#""console":true"#),
        "{answer}"
    );
    assert!(!answer.contains("access-control"), "browsers do not use the socket: {answer}");
    stop.cancel();
}

#[tokio::test]
async fn a_group_gets_its_modes() {
    let folder = folder();
    let path = folder.path().join("run").join("socket");
    let group = rustix::process::getegid().as_raw();
    let _listener = SocketListener::bind(&path, Some(group), Limits::socket()).await.unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o750);
    assert_eq!(mode(&path), 0o660);
    assert_eq!(fs::metadata(&path).unwrap().gid(), group);
}

#[tokio::test]
async fn unsafe_directories_are_rejected() {
    for bits in [0o770, 0o707, 0o777, 0o1777] {
        let folder = folder();
        fs::set_permissions(folder.path(), Permissions::from_mode(bits)).unwrap();
        let outcome = bind(&folder.path().join("socket")).await;
        assert!(matches!(outcome, Err(SocketError::Unsafe(_))), "{bits:o}");
    }
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    let outcome = bind(&folder.path().join("file").join("socket")).await;
    assert!(matches!(outcome, Err(SocketError::Unsafe(_) | SocketError::Directory { .. })));
}

#[tokio::test]
async fn existing_files_that_are_not_sockets_are_kept() {
    let folder = folder();
    let (file, link, directory) =
        (folder.path().join("file"), folder.path().join("link"), folder.path().join("directory"));
    fs::write(&file, "kept").unwrap();
    symlink(folder.path().join("elsewhere"), &link).unwrap();
    fs::create_dir(&directory).unwrap();
    for path in [&file, &link, &directory] {
        assert!(matches!(bind(path).await, Err(SocketError::Occupied(_))), "{}", path.display());
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    assert!(matches!(bind(Path::new("/")).await, Err(SocketError::Path(_))));
}

#[tokio::test]
async fn a_served_socket_is_kept_and_a_stale_one_is_replaced() {
    let folder = folder();
    let path = folder.path().join("socket");
    let stop = serve(bind(&path).await.unwrap());
    assert!(matches!(bind(&path).await, Err(SocketError::InUse(_))));
    assert!(request(&path).await.contains("200 OK"), "the first listener still serves");
    stop.cancel();

    let stale = folder.path().join("stale");
    drop(std::os::unix::net::UnixListener::bind(&stale).unwrap());
    assert!(fs::metadata(&stale).unwrap().file_type().is_socket(), "the file outlives its listener");
    let listener = bind(&stale).await.unwrap();
    let stop = serve(listener);
    assert!(request(&stale).await.contains("200 OK"));
    stop.cancel();
}

#[test]
fn only_the_owner_and_the_group_are_admitted() {
    let peer = |user, group| Peer { user: Some(user), group: Some(group), process: None };
    for (group, peer, expected) in [
        (None, peer(1000, 100), Some(1000)),
        (None, peer(1001, 100), None),
        (None, peer(0, 0), None),
        (Some(987), peer(1001, 987), Some(1001)),
        (Some(987), peer(1001, 100), None),
        (Some(987), Peer { user: None, group: Some(987), process: None }, None),
    ] {
        let admission = Admission { owner: 1000, group };
        assert_eq!(admission.admits(&peer), expected, "{group:?} {peer:?}");
    }
}

#[tokio::test]
async fn other_users_are_disconnected_before_a_byte_is_read() {
    let folder = folder();
    let path = folder.path().join("socket");
    let mut listener = bind(&path).await.unwrap();
    // For this peer, the daemon now belongs to another user.
    listener.admission.owner = listener.admission.owner.wrapping_add(1);
    let stop = serve(listener);
    let mut stream = UnixStream::connect(&path).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.is_empty());
    stop.cancel();
}
