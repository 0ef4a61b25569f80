//! What prevents a database from serving as a store, and what an error of a statement means.

use std::time::Duration;

use tokio_postgres::error::SqlState;

use crate::store::StoreError;

/// A reason why a database cannot be used as a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// The configuration names no database.
    #[error("the store is in a database; set engine = \"postgres\" and url in [store]")]
    NotConfigured,
    /// No server answers at the configured place, or a connection was lost.
    #[error("the database server cannot be reached: {0}")]
    Unreachable(String),
    /// The server, the database or the user has as many connections as it may have.
    #[error(
        "the database server accepts no more connections: {0}; raise max_connections, or the connection limit of the \
         user or of the database: each daemon needs up to 8"
    )]
    Connections(String),
    /// TLS could not be negotiated, or the certificate of the server is not trusted.
    #[error(
        "no verified TLS connection to the database server: {0}; check [store] ca_file and the name in url"
    )]
    Tls(String),
    /// The server does not know the user, the password is wrong, or `pg_hba.conf` rejects the connection.
    #[error(
        "the database server rejected the login: {0}; check the user in [store] url, password_file and pg_hba.conf"
    )]
    Login(String),
    /// The server requires a password, and none is configured.
    #[error("the database server requires a password; set password_file in [store]")]
    Password,
    /// The server has no database with this name.
    #[error("the database does not exist; create it with CREATE DATABASE, and check the name in [store] url")]
    Absent,
    /// The user may not use or create the tables.
    #[error(
        "the database user lacks rights: {0}; make it the owner of the database, and of the schema quorate with its tables"
    )]
    Rights(String),
    /// The server has no space left.
    #[error("the database server has no space left: {0}; free space on its disk")]
    Full(String),
    /// The version of the server is too old.
    #[error("the database server has version {0}; PostgreSQL 15 or later is required")]
    TooOld(String),
    /// The server replays the log of another one.
    #[error("the database server is a standby; [store] url must name the primary, or all servers")]
    Standby,
    /// None of several servers is the primary. Each is named with the reason.
    #[error("no server of [store] url is the primary now: {0}")]
    NoPrimary(String),
    /// The server waits for a standby with each commit, and none follows it.
    #[error(
        "commits wait for a standby (synchronous_standby_names = {0}), and none is connected; start a standby"
    )]
    NoStandby(String),
    /// The server is a primary, and another one has become the primary since.
    #[error(
        "the database server was replaced by another one and does not know it; end it, and let it rejoin as a standby; if it is to \
         remain the primary, restart the daemon, which then states what is lost"
    )]
    Replaced,
    /// A server that was just the primary is another one now.
    #[error("the database server was replaced or stopped while connections to it were opened")]
    OtherServer,
    /// The server committed without waiting for a standby.
    #[error("the database server stopped waiting for a standby during a commit")]
    NotReplicated,
    /// Transactions may not write.
    #[error("the database is read-only; set default_transaction_read_only = off")]
    ReadOnly,
    /// A setting of the server does not allow durable commits.
    #[error(
        "the database server has {name} = {value}, with which commits may be lost; set {name} = {required}"
    )]
    Setting {
        /// Name of the setting.
        name: String,
        /// Its value.
        value: String,
        /// The value that is required.
        required: &'static str,
    },
    /// The database has another encoding than UTF-8.
    #[error("the database has encoding {0}; create it with ENCODING 'UTF8'")]
    Encoding(String),
    /// The schema of the store contains something else.
    #[error("the schema quorate of the database is not that of a store; use another database")]
    OtherSchema,
    /// This table of the store is missing, or differs from the one that was created.
    #[error("the table quorate.{0} is missing or was changed; restore the database from a backup")]
    Table(String),
    /// A newer version of the program has raised the level of the store.
    #[error(
        "the store in the database has level {0}, which this version of quorated cannot read; update quorated"
    )]
    Level(i64),
    /// The database contains no store.
    #[error("the database contains no store; check [store] url, or restore the database from a backup")]
    Missing,
    /// The store was used, and has no header.
    #[error("the store in the database has lost its header; restore the database from a backup")]
    NoHeader,
    /// Others hold the lock of the store.
    #[error(
        "the store in the database is in use: stop all daemons of the database, and other commands, first"
    )]
    InUse,
    /// Another process holds the lock of this daemon.
    #[error(
        "another process uses the guard file of this daemon: stop the daemon, or the other command, first; each daemon \
         needs a data directory of its own"
    )]
    DaemonInUse,
    /// The clock of this machine differs from that of the server by this many milliseconds at least.
    #[error(
        "the clock of this machine differs from that of the database server by {0} ms; synchronize both clocks"
    )]
    Clock(u64),
    /// The database contains another store than the data directory.
    #[error("the database contains another store than the data directory; check [store] path and url")]
    OtherStore,
    /// The connection does not lead to a session of its own, such as through a pooler.
    #[error(
        "the database is reached through a pooler, such as PgBouncer, which shares sessions between clients; [store] \
         url must name the server itself"
    )]
    Pooler,
}

/// Description of all causes of an error.
pub(super) fn described(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// Returns whether an error comes from TLS.
fn is_tls(error: &tokio_postgres::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.is::<rustls::Error>() || cause.to_string().contains("certificate") {
            return true;
        }
        source = cause.source();
    }
    error.to_string().contains("TLS")
}

/// Returns the reason why a database cannot be used, if the error code of the server states it.
fn reason(error: &tokio_postgres::Error) -> Option<DatabaseError> {
    let (code, cause) = (error.code()?, || described(error));
    Some(if *code == SqlState::INVALID_CATALOG_NAME {
        DatabaseError::Absent
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        DatabaseError::Rights(cause())
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        DatabaseError::ReadOnly
    } else if *code == SqlState::DISK_FULL {
        DatabaseError::Full(cause())
    } else if *code == SqlState::TOO_MANY_CONNECTIONS {
        DatabaseError::Connections(cause())
    } else if code.code().starts_with("28") {
        DatabaseError::Login(cause())
    } else {
        return None;
    })
}

/// Converts the error of an attempt to connect to `place`.
pub(super) fn of_connecting(error: &tokio_postgres::Error, place: &str) -> DatabaseError {
    let (code, cause) = (error.code(), described(error));
    if code.is_none() && is_tls(error) {
        return DatabaseError::Tls(cause);
    }
    // Poolers reject parameters that a new session of its own would have.
    if code.is_some_and(|code| [SqlState::PROTOCOL_VIOLATION, SqlState::FEATURE_NOT_SUPPORTED].contains(code))
    {
        return DatabaseError::Pooler;
    }
    // The library states this when the server requests a password.
    if code.is_none() && cause.ends_with("password missing") {
        return DatabaseError::Password;
    }
    let cause = cause.strip_prefix("error connecting to server: ").unwrap_or(&cause);
    reason(error).unwrap_or_else(|| DatabaseError::Unreachable(format!("{place}: {cause}")))
}

/// Converts the error of a statement during the start.
pub(super) fn unusable(error: StatementError) -> DatabaseError {
    match error {
        StatementError::Rejected(error) => of_start(&error),
        StatementError::Lost(cause) => DatabaseError::Unreachable(cause),
    }
}

/// Converts an answer of the server during the start that is not the expected one.
pub(super) fn of_start(error: &tokio_postgres::Error) -> DatabaseError {
    reason(error).unwrap_or_else(|| DatabaseError::Unreachable(described(error)))
}

/// What became of a statement or a transaction.
#[derive(Debug)]
pub(super) enum StatementError {
    /// The server rejected it. A transaction with it changes nothing.
    Rejected(tokio_postgres::Error),
    /// The connection ended, or the server did not answer in time. The outcome is unknown.
    Lost(String),
}

impl From<tokio_postgres::Error> for StatementError {
    fn from(error: tokio_postgres::Error) -> Self {
        // Classes of connections, of resources and of interventions by the operator, among them a statement that took
        // too long.
        let is_outage = |code: &SqlState| {
            let class = code.code().get(..2).unwrap_or_default();
            matches!(class, "08" | "53" | "57" | "58") && *code != SqlState::DISK_FULL
        };
        match error.code() {
            Some(code) if !is_outage(code) => Self::Rejected(error),
            _ => Self::Lost(described(&error)),
        }
    }
}

impl StatementError {
    /// Creates the error of a statement that took too long.
    pub(super) fn late(limit: Duration) -> Self {
        Self::Lost(format!("the database server did not answer within {} s", limit.as_secs()))
    }

    /// Returns whether the same transaction may succeed when it is repeated.
    pub(super) fn is_transient(&self) -> bool {
        let Self::Rejected(error) = self else { return false };
        let transient = [
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::UNIQUE_VIOLATION,
        ];
        error.code().is_some_and(|code| transient.contains(code))
    }

    /// Returns whether the database cannot be used, or is not the one that was opened: all connections must be opened again.
    pub(super) fn is_outage(&self) -> bool {
        match self {
            Self::Lost(_) => true,
            Self::Rejected(error) => {
                let is_changed = |code: &SqlState| code.code().starts_with("42");
                reason(error).is_some() || error.code().is_some_and(is_changed)
            }
        }
    }

    /// Returns whether the server has no space left.
    pub(super) fn is_full(&self) -> bool {
        matches!(self, Self::Rejected(error) if error.code() == Some(&SqlState::DISK_FULL))
    }

    /// Returns the error of the store. The store itself is not damaged if the server cannot be used.
    pub(super) fn failed(&self, doing: &'static str) -> StoreError {
        match self {
            Self::Rejected(error) => reason(error)
                .map_or_else(|| StoreError::Failed { doing, cause: described(error) }, StoreError::Database),
            Self::Lost(cause) => DatabaseError::Unreachable(format!("{doing}: {cause}")).into(),
        }
    }
}
