//! The layer between a daemon and the C library: `layer.c`, compiled once and loaded with `LD_PRELOAD`. A
//! file that both map controls the running daemon.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::NamedTempFile;

/// Words of the control file, in the order of `layer.c`.
#[derive(Clone, Copy)]
enum Word {
    Calls,
    Failures,
    FailAt,
    Fault,
    Persists,
    Kinds,
    SyncDelay,
    Clock,
    Loses,
    Syncing,
    Background,
}

const WORDS: usize = 11;

/// Kinds of calls, as bits in `layer.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// All calls that change files.
    All,
    /// `fsync` and `fdatasync`.
    Syncs,
}

/// Failure of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `EIO`.
    Broken,
    /// `ENOSPC`.
    Full,
    /// `EINTR`.
    Interrupted,
    /// A write accepts half of its bytes.
    Short,
    /// The process is killed before the call.
    Killed,
}

/// The layer for one data folder.
pub(crate) struct Layer {
    control: NamedTempFile,
}

impl Layer {
    /// Creates a layer that lets all calls succeed.
    pub(crate) fn new() -> Self {
        let control = NamedTempFile::new().expect("a temporary file");
        control.as_file().set_len(u64::try_from(8 * WORDS).expect("a small number")).expect("a control file");
        Self { control }
    }

    /// Returns the environment variables that load the layer under a daemon with this data folder.
    pub(crate) fn variables(&self, data: &Path) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        vec![
            ("LD_PRELOAD".to_owned(), text(library())),
            ("FAULTS_CONTROL".to_owned(), text(self.control.path())),
            ("FAULTS_BELOW".to_owned(), text(data)),
        ]
    }

    /// Makes call number `call` from now on fail, and all later ones if the fault persists.
    pub(crate) fn fail(&self, calls: Calls, call: usize, fault: Fault, persists: bool) {
        self.heal();
        self.set(Word::Calls, 0);
        self.set(Word::Failures, 0);
        let kinds = match (calls, fault) {
            (Calls::Syncs, _) => 1 << 2,
            // Only a write can be short.
            (Calls::All, Fault::Short) => 1 << 1,
            (Calls::All, _) => 0x7f,
        };
        self.set(Word::Kinds, kinds);
        self.set(
            Word::Fault,
            match fault {
                Fault::Broken => 5,
                Fault::Full => 28,
                Fault::Interrupted => 4,
                Fault::Short => 1_000_000,
                Fault::Killed => 1_000_001,
            },
        );
        self.set(Word::Persists, u64::from(persists));
        self.set(Word::FailAt, u64::try_from(call).expect("a small number"));
    }

    /// Lets all calls succeed again.
    pub(crate) fn heal(&self) {
        self.set(Word::FailAt, 0);
    }

    /// Returns the number of calls of the chosen kinds since the fault was set.
    pub(crate) fn calls(&self) -> u64 {
        self.get(Word::Calls)
    }

    /// Returns the number of calls that failed since the fault was set.
    pub(crate) fn failures(&self) -> u64 {
        self.get(Word::Failures)
    }

    /// Delays each sync.
    pub(crate) fn delay_syncs(&self, delay: Duration) {
        self.set(Word::SyncDelay, u64::try_from(delay.as_millis()).expect("a short time"));
    }

    /// Returns the number of running syncs.
    pub(crate) fn syncing(&self) -> u64 {
        self.get(Word::Syncing)
    }

    /// Makes a failed sync revert what was written since the last one, as systems do that drop dirty pages.
    pub(crate) fn lose_on_failed_sync(&self, loses: bool) {
        self.set(Word::Loses, u64::from(loses));
    }

    /// Makes the next write of a commit group fail. A background sync after a truncation reports that error
    /// instead of the sync of the group, which succeeds.
    pub(crate) fn fail_in_background(&self) {
        self.set(Word::Background, 1);
    }

    /// Returns whether a background sync has reported the error of a commit group.
    pub(crate) fn failed_in_background(&self) -> bool {
        self.get(Word::Background) == 4
    }

    /// Shifts the time of day by this many milliseconds from the real time.
    pub(crate) fn shift_clock(&self, millis: i64) {
        self.set(Word::Clock, u64::from_ne_bytes(millis.to_ne_bytes()));
    }

    fn file(&self) -> &File {
        self.control.as_file()
    }

    fn set(&self, word: Word, value: u64) {
        self.file().write_all_at(&value.to_ne_bytes(), 8 * word as u64).expect("a control file");
    }

    fn get(&self, word: Word) -> u64 {
        let mut bytes = [0; 8];
        self.file().read_exact_at(&mut bytes, 8 * word as u64).expect("a control file");
        u64::from_ne_bytes(bytes)
    }
}

/// Returns the path of the library, which is compiled at the first use.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults/layer.c");
        let draft = tempfile::Builder::new().prefix("layer-").tempdir_in(folder).expect("a folder");
        let compiled = draft.path().join("layer.so");
        let output = Command::new("cc")
            .args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o"])
            .arg(&compiled)
            .arg(&source)
            .arg("-ldl")
            .output()
            .expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // Renamed when complete, because other test processes may load it at the same time.
        let library = folder.join("layer.so");
        std::fs::rename(compiled, &library).expect("the library");
        library
    })
}
