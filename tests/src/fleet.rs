//! Several daemons of one organization, which share a store on PostgreSQL.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::caller::Caller;
use crate::cluster::Cluster;
use crate::installation::{Installation, RunningDaemon};
use crate::keys::Key;

/// Several daemons, each with a configuration and a data directory of its own, and the database of their store.
pub struct Fleet<D = Cluster> {
    /// Database of the store.
    pub cluster: D,
    url: String,
    installations: Vec<Installation>,
    served: Vec<Option<RunningDaemon>>,
    organization: String,
    keys: Vec<Key>,
}

impl Fleet {
    /// Starts daemons on a server of their own, see [`Self::on`].
    ///
    /// # Panics
    /// Panics if a daemon cannot be started.
    pub async fn start(daemons: usize, quorum: (usize, usize), more: &str) -> Self {
        Self::start_on(Cluster::start(), daemons, quorum, more).await
    }

    /// Starts the same on a server that runs already.
    ///
    /// # Panics
    /// Panics if a daemon cannot be started.
    pub async fn start_on(cluster: Cluster, daemons: usize, quorum: (usize, usize), more: &str) -> Self {
        let url = cluster.url();
        Self::on(cluster, url, daemons, quorum, more).await
    }

    /// Kills the server of the database and starts it again.
    pub fn crash_database(&mut self) {
        self.cluster.kill();
        self.cluster.run();
    }
}

impl<D> Fleet<D> {
    /// Starts daemons on a database. The organization has this number of root users, of whom `threshold` must approve. `more` is added to
    /// the configuration of each.
    ///
    /// # Panics
    /// Panics if a daemon cannot be started.
    pub async fn on(
        cluster: D,
        url: String,
        daemons: usize,
        (threshold, users): (usize, usize),
        more: &str,
    ) -> Self {
        let first = installation(&url, more);
        let keys: Vec<Key> = (0..users).map(|number| Key::named(&format!("root {number}"))).collect();
        let users: Vec<String> =
            keys.iter().enumerate().map(|(at, key)| format!("root{at}={}", key.public_key())).collect();
        let threshold = threshold.to_string();
        let mut arguments = vec!["--name", "shared", "--threshold", &threshold];
        for user in &users {
            arguments.extend(["--root-user", user]);
        }
        let run = first.run("init", &arguments).await;
        assert_eq!(run.code, 0, "{run:#?}");
        let answer: serde_json::Value = serde_json::from_str(&run.output).expect("init prints JSON");
        let organization = answer["organizationId"].as_str().expect("an organization id").to_owned();
        let (installations, served) = (vec![first], vec![None]);
        let mut fleet = Self { cluster, url, installations, served, organization, keys };
        fleet.restart(0).await;
        for _ in 1..daemons {
            fleet.add(more).await;
        }
        fleet
    }

    /// Lets another daemon join, and starts it. `more` is added to its configuration.
    ///
    /// # Panics
    /// Panics if it cannot join or be started.
    pub async fn add(&mut self, more: &str) {
        let daemon = self.count();
        self.installations.push(installation(&self.url, more));
        self.served.push(None);
        self.share_root_key(daemon);
        let run = self.installations[daemon].run("join", &[]).await;
        assert_eq!(run.code, 0, "{run:#?}");
        self.restart(daemon).await;
    }

    fn share_root_key(&self, daemon: usize) {
        let own = self.installations[daemon].path("root.key");
        fs::copy(self.installations[0].path("root.key"), &own).expect("copied");
        fs::set_permissions(&own, fs::Permissions::from_mode(0o600)).expect("permitted");
    }

    /// Returns the number of daemons.
    pub fn count(&self) -> usize {
        self.installations.len()
    }

    /// Returns the installation of a daemon.
    pub fn installation(&self, daemon: usize) -> &Installation {
        &self.installations[daemon]
    }

    /// Returns a daemon that runs.
    ///
    /// # Panics
    /// Panics if it was killed.
    pub fn daemon(&self, daemon: usize) -> &RunningDaemon {
        self.served[daemon].as_ref().expect("a running daemon")
    }

    /// Kills a daemon.
    pub fn kill(&mut self, daemon: usize) {
        self.served[daemon] = None;
    }

    /// Starts a daemon, after killing it if it runs.
    pub async fn restart(&mut self, daemon: usize) {
        self.restart_with(daemon, &[]).await;
    }

    /// Does the same with more environment variables.
    pub async fn restart_with(&mut self, daemon: usize, variables: &[(&str, &str)]) {
        self.kill(daemon);
        self.served[daemon] = Some(self.installations[daemon].serve_with(variables).await);
    }

    /// Returns a caller of a daemon, with the key of a root user.
    pub fn root(&self, daemon: usize, user: usize) -> Caller {
        self.daemon(daemon).caller(&self.organization, self.keys[user].clone())
    }

    /// Returns the log of a daemon since its last start.
    pub fn log(&self, daemon: usize) -> String {
        fs::read_to_string(self.installations[daemon].path("log")).unwrap_or_default()
    }

    /// Kills all daemons, and checks every record of the store.
    ///
    /// # Panics
    /// Panics if a record is not the one that was written.
    pub async fn verify(mut self) {
        (0..self.count()).for_each(|daemon| self.kill(daemon));
        let run = self.installations[0].verify().await;
        assert_eq!(run.code, 0, "{run:#?}");
    }
}

fn installation(url: &str, more: &str) -> Installation {
    let installation = Installation::new("");
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\nengine = \"postgres\"\nurl = \"{url}\"\n\n\
         [key]\nfile = \"root.key\"\n\n{more}\n"
    ));
    installation
}
