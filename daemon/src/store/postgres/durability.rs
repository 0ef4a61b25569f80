//! How durable a commit is on the server: its settings, and whether a failover would lose some.

use std::collections::BTreeMap;

use quorate_common::console::EngineStatus;

use super::session::Session;

/// The warning while [`Durability::is_at_risk`].
const WARNING: &str = "synchronous_standby_names is empty, so a failover loses what no standby has yet: set it, with Patroni by \
    synchronous_mode and synchronous_mode_strict";

/// How durable commits are on a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Durability {
    settings: BTreeMap<String, String>,
    /// Whether a failover can lose acknowledged changes.
    is_at_risk: bool,
}

impl Durability {
    /// Reads the settings of the server. There can be a failover if standbys follow the server, or if the URL names other hosts.
    pub(super) async fn read(session: &Session, hosts: usize) -> Result<Self, tokio_postgres::Error> {
        const NAMES: [&str; 3] = ["server_version", "synchronous_commit", "synchronous_standby_names"];
        // A user without privileges sees the rows of standbys, but no names.
        const SETTINGS: &str = "SELECT current_setting('server_version'), current_setting('synchronous_commit'), \
            current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_replication)";
        let row = session.client.query_one(&session.statement(SETTINGS).await?, &[]).await?;
        let mut settings = BTreeMap::new();
        for (column, name) in NAMES.into_iter().enumerate() {
            settings.insert(name.to_owned(), row.try_get(column)?);
        }
        let is_asynchronous = settings.get("synchronous_standby_names").is_some_and(String::is_empty);
        let standbys: i64 = row.try_get(NAMES.len())?;
        Ok(Self { settings, is_at_risk: is_asynchronous && (standbys > 0 || hosts > 1) })
    }

    /// Returns whether the server waits for a standby with each commit.
    pub(super) fn waits_for_standby(&self) -> bool {
        self.settings.get("synchronous_standby_names").is_some_and(|names| !names.is_empty())
    }

    /// Returns what the console shows of a store with this engine.
    pub(super) fn status(&self, name: &str) -> EngineStatus {
        EngineStatus {
            name: name.to_owned(),
            durability: self.settings.clone(),
            warning: self.is_at_risk.then(|| WARNING.to_owned()),
            ..EngineStatus::default()
        }
    }

    /// Logs a warning when a failover begins to be able to lose something, and its end.
    pub(super) fn log_change(&self, last: &Self) {
        match (last.is_at_risk, self.is_at_risk) {
            (false, true) => tracing::warn!("{WARNING}"),
            (true, false) => {
                tracing::info!("a failover of the database does not lose acknowledged changes anymore");
            }
            _ => {}
        }
    }
}
