//! Whether another server of the URL became the primary while this one still completes commits.
//!
//! The configuration of the standbys must rule that out (see the page on high availability). Where it does not, a daemon that stays
//! on the old primary would never learn what the others decide.

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;

use super::primary::Primary;
use super::session::Session;
use super::settings::DatabaseSettings;
use super::shared::Shared;

/// Time between two looks at the other servers.
const INTERVAL: Duration = Duration::from_secs(10);

/// Looks at the other servers of the URL.
pub(super) struct Rivals {
    settings: DatabaseSettings,
    /// Index of the server that the store uses.
    own: usize,
    primary: Primary,
}

impl Rivals {
    /// Prepares looks at all servers but this primary, which has this index.
    pub(super) fn of(settings: &DatabaseSettings, own: usize, primary: Primary) -> Self {
        Self { settings: settings.clone(), own, primary }
    }

    /// Looks until the store ends, or all connections are replaced. A newer primary is a failure of the store, which then opens its
    /// connections to that one.
    pub(super) async fn run(self, runtime: Handle, shared: Weak<Shared>, generation: u64) {
        let mut rivals = self;
        loop {
            // The thread waits for each server, and a server that does not answer takes seconds.
            let own = runtime.clone();
            let look = runtime.spawn_blocking(move || (rivals.newer(&own), rivals)).await;
            let Ok((newer, same)) = look else { return };
            rivals = same;
            let Some(shared) = shared.upgrade() else { return };
            if shared.generation.load(Ordering::Acquire) != generation
                || shared.is_closed.load(Ordering::Acquire)
            {
                return;
            }
            if let Some((host, newer)) = newer {
                shared.accepts(newer);
                return shared.fail(format!("{} has replaced the primary", rivals.settings.url.server(host)));
            }
            drop(shared);
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Returns the server that has replaced the one of the store, and its index.
    fn newer(&self, runtime: &Handle) -> Option<(usize, Primary)> {
        (0..self.settings.hosts()).filter(|host| *host != self.own).find_map(|host| {
            let session = Session::connect(runtime, &self.settings, host, drop).ok()?;
            let found = Primary::read(runtime, &session).ok()??;
            found.has_replaced(&self.primary).then_some((host, found))
        })
    }
}
