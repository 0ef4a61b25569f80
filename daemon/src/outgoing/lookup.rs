//! Looks up the addresses of names with the resolver of the system, on threads of its own. The resolver cannot be
//! cancelled: a lookup that was given up keeps its thread until it ends. On the threads that answer queries, lookups at
//! name servers that never answer would delay those queries.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};

/// Maximum number of lookups at the same time, with those that were given up and have not ended. More of them wait.
const LOOKUPS: usize = 64;

/// Returns the addresses of a name.
type Resolve = dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync;

/// Looks up names. Clones share the threads.
#[derive(Clone)]
pub(super) struct Lookups {
    free: Arc<Semaphore>,
    resolve: Arc<Resolve>,
}

impl Lookups {
    /// Creates lookups with the resolver of the system.
    pub(super) fn of_system() -> Self {
        Self::with(|name| Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect()))
    }

    fn with(resolve: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Self {
        Self { free: Arc::new(Semaphore::new(LOOKUPS)), resolve: Arc::new(resolve) }
    }

    /// Returns the addresses of a name, at least one.
    ///
    /// # Errors
    /// If the name has none, or no thread can be started.
    pub(super) async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let free = Arc::clone(&self.free).acquire_owned().await.map_err(io::Error::other)?;
        let (sender, found) = oneshot::channel();
        let (resolve, name) = (Arc::clone(&self.resolve), name.to_owned());
        std::thread::Builder::new().name("lookup".to_owned()).spawn(move || {
            let found = resolve(&name);
            drop(free);
            // The caller may have given up.
            let _ = sender.send(found);
        })?;
        let addresses = found.await.map_err(io::Error::other)??;
        if addresses.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(addresses) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::net::Ipv4Addr;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn names_of_this_machine_are_found() {
        let lookups = Lookups::of_system();
        assert!(lookups.addresses("localhost").await.unwrap().iter().all(IpAddr::is_loopback));
        lookups.addresses("name.invalid").await.unwrap_err();
    }

    #[tokio::test]
    async fn lookups_without_an_answer_occupy_their_own_threads_only() {
        let (release, released) = channel::<()>();
        let released = Mutex::new(released);
        let lookups = Lookups::with(move |name| {
            if name == "silent" {
                // Ends with an error once the test drops the other end.
                let _ = released.lock().unwrap().recv();
            }
            Ok(vec![Ipv4Addr::LOCALHOST.into()])
        });
        let silent: Vec<_> = (0..LOOKUPS)
            .map(|_| {
                let lookups = lookups.clone();
                tokio::spawn(async move { lookups.addresses("silent").await })
            })
            .collect();
        while lookups.free.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        // The callers give up, and the lookups go on.
        silent.iter().for_each(tokio::task::JoinHandle::abort);
        assert_eq!(tokio::task::spawn_blocking(|| 7).await.unwrap(), 7);
        let mut next = std::pin::pin!(lookups.addresses("prompt"));
        tokio::select! {
            biased;
            _ = &mut next => unreachable!("no thread is free"),
            () = tokio::task::yield_now() => {}
        }
        drop(release);
        assert_eq!(next.await.unwrap(), [IpAddr::from(Ipv4Addr::LOCALHOST)]);
    }
}
