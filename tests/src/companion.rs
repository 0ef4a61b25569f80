//! A daemon that shares the store of another one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::daemon::Daemon;
use crate::http::Listener;
use crate::installation::{Installation, RunningDaemon};

/// A daemon that joined another one on its database. It is killed when dropped.
pub struct Companion {
    _installation: Installation,
    running: RunningDaemon,
}

impl Companion {
    /// Joins the store of a daemon on PostgreSQL, and starts.
    ///
    /// # Panics
    /// Panics if the daemon is not on PostgreSQL, or its store cannot be joined.
    pub async fn join(daemon: &mut Daemon) -> Self {
        let installation = Installation::new("");
        let own = installation.path("root.key");
        fs::copy(daemon.data().join("root.key"), &own).expect("copied");
        fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).expect("permitted");
        installation.configure(&format!(
            "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\nengine = \"postgres\"\nurl = \"{}\"\n\n\
             [key]\nfile = \"root.key\"\n\n[webhook]\nallow_http = true\nallow_networks = [\"127.0.0.0/8\"]\n",
            daemon.cluster().url()
        ));
        let joined = installation.run("join", &[]).await;
        assert_eq!(joined.code, 0, "{joined:#?}");
        let running = installation.serve().await;
        Self { _installation: installation, running }
    }

    /// Returns its socket.
    pub fn listener(&self) -> Listener {
        self.running.listener().clone()
    }
}
