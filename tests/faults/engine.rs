//! The store engines that scenarios run on. In these tests, a new engine is added here and nowhere else.

use std::path::Path;
use std::str::FromStr;
use std::time::Instant;

use quorate_tests::daemon::{Daemon, Options, data_file};
use quorate_tests::http::TIMEOUT;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

/// A store engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Engine {
    /// The store in a log of sled.
    #[default]
    Sled,
    /// The store in a file of redb.
    Redb,
    /// The store in a database, on a server of its own that no scenario harms.
    Postgres,
}

/// Access to the rows of a store that no daemon has open.
pub(crate) trait Rows {
    /// Returns all rows, ordered by key.
    fn all(&self) -> Vec<(Vec<u8>, Vec<u8>)>;

    /// Writes the value of a key, or removes it.
    fn put(&self, key: &[u8], value: Option<&[u8]>);
}

impl Engine {
    /// Returns the name of the engine in `ENGINE`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sled => "sled",
            Self::Redb => "redb",
            Self::Postgres => "postgres",
        }
    }

    /// Returns whether the engine syncs in the background, beside the commits of groups.
    pub(crate) const fn syncs_in_background(self) -> bool {
        matches!(self, Self::Sled)
    }

    /// Returns the options to start a daemon on this engine.
    pub(crate) fn options(self, threshold: u32, users: u32) -> Options {
        Options::quorum(threshold, users).on_engine(self.name())
    }

    /// Returns whether the store is in files of the data folder. If not, a scenario that harms or copies them is skipped,
    /// and this is printed.
    pub(crate) fn has_files(self) -> bool {
        let has_files = self != Self::Postgres;
        if !has_files {
            eprintln!("SKIPPED: the records are in no files of the daemon");
        }
        has_files
    }

    /// Returns whether the clock of the daemon may differ from that of its store. If not, a scenario that shifts it is
    /// skipped, and this is printed: the daemon stops until the clocks agree (`tests/e2e/several_daemons.rs`).
    pub(crate) fn has_own_clock(self) -> bool {
        let has_own_clock = self != Self::Postgres;
        if !has_own_clock {
            eprintln!("SKIPPED: the clocks of the daemon and of the database must agree");
        }
        has_own_clock
    }

    /// Opens the rows in a data folder. No daemon may have the store open.
    pub(crate) fn rows(self, data: &Path) -> Box<dyn Rows> {
        match self {
            Self::Sled => Box::new(SledRows::open(&data.join("store"))),
            Self::Redb => Box::new(RedbRows::open(&data.join("store"))),
            Self::Postgres => panic!("the records are in no files of the daemon"),
        }
    }

    /// Returns all records and entries of queues of a stopped daemon.
    pub(crate) fn rows_of(self, daemon: &Daemon) -> Vec<(Vec<u8>, Vec<u8>)> {
        const ROWS: &str = "SELECT encode(key, 'hex') || ' ' || encode(value, 'hex') \
            FROM (SELECT * FROM quorate.record UNION ALL SELECT * FROM quorate.queue) AS row";
        let Some(database) = daemon.database() else { return self.rows(daemon.data()).all() };
        let bytes = |hex: &str| const_hex::decode(hex).expect("hexadecimal digits");
        let row = |line: &str| line.split_once(' ').map(|(key, value)| (bytes(key), bytes(value)));
        database.sql(ROWS).lines().filter_map(row).collect()
    }
}

impl FromStr for Engine {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Sled, Self::Redb, Self::Postgres].into_iter().find(|engine| engine.name() == text).ok_or(())
    }
}

/// Rows of the store of sled. Changes are durable when this is dropped.
struct SledRows(sled::Db);

impl SledRows {
    /// Opens a store. A process that another test is just starting has a copy of the former lock for a moment.
    fn open(folder: &Path) -> Self {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match sled::Config::new().path(folder).flush_every_ms(None).open() {
                Ok(store) => return Self(store),
                Err(error) if Instant::now() < deadline && error.to_string().contains("acquire lock") => {
                    std::thread::yield_now();
                }
                Err(error) => panic!("a store that opens: {error}"),
            }
        }
    }
}

impl Rows for SledRows {
    fn all(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let rows = self.0.iter().map(|row| row.expect("a row that can be read"));
        rows.map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
    }

    fn put(&self, key: &[u8], value: Option<&[u8]>) {
        let previous = match value {
            Some(value) => self.0.insert(key, value),
            None => self.0.remove(key),
        };
        previous.expect("a store that accepts writes");
    }
}

impl Drop for SledRows {
    fn drop(&mut self) {
        self.0.flush().expect("a store that accepts writes");
    }
}

/// The table of all records in a file of redb.
const RECORDS: TableDefinition<'static, &'static [u8], &'static [u8]> = TableDefinition::new("records");

/// Rows of the store of redb. Each change is durable when it returns.
struct RedbRows(Database);

impl RedbRows {
    fn open(folder: &Path) -> Self {
        Self(Database::open(folder.join(data_file("redb"))).expect("a store that opens"))
    }
}

impl Rows for RedbRows {
    fn all(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let table = self.0.begin_read().expect("a read").open_table(RECORDS).expect("the table of records");
        let rows = table.iter().expect("rows").map(|row| row.expect("a row that can be read"));
        rows.map(|(key, value)| (key.value().to_vec(), value.value().to_vec())).collect()
    }

    fn put(&self, key: &[u8], value: Option<&[u8]>) {
        let change = self.0.begin_write().expect("a store that accepts writes");
        {
            let mut table = change.open_table(RECORDS).expect("the table of records");
            match value {
                Some(value) => table.insert(key, value).map(drop),
                None => table.remove(key).map(drop),
            }
            .expect("a store that accepts writes");
        }
        change.commit().expect("a store that accepts writes");
    }
}
