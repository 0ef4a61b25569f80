//! The layer between a daemon and the C library: `layer.c`, compiled once and loaded with `LD_PRELOAD`. A running
//! daemon is switched through a file that both map.

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
    GoesOn,
    Kinds,
    SyncDelay,
    Clock,
    Loses,
    Syncing,
    Background,
}

const WORDS: usize = 11;

/// Kinds of calls, by their bit in `layer.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calls {
    /// All that change files.
    All,
    /// `fsync` and `fdatasync`.
    Syncs,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `EIO`.
    Broken,
    /// `ENOSPC`.
    Full,
    /// `EINTR`.
    Interrupted,
    /// A write takes half of its bytes.
    Short,
}

/// The layer of one data folder.
pub(crate) struct Layer {
    control: NamedTempFile,
}

impl Layer {
    /// A layer that lets all calls pass.
    pub(crate) fn new() -> Self {
        let control = NamedTempFile::new().expect("a temporary file");
        control.as_file().set_len(u64::try_from(8 * WORDS).expect("a small number")).expect("a control file");
        Self { control }
    }

    /// Variables of the environment that put it under a daemon with this data folder.
    pub(crate) fn variables(&self, data: &Path) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        vec![
            ("LD_PRELOAD".to_owned(), text(library())),
            ("FAULTS_CONTROL".to_owned(), text(self.control.path())),
            ("FAULTS_BELOW".to_owned(), text(data)),
        ]
    }

    /// Makes call number `call` from now on fail, and all after it if the fault goes on.
    pub(crate) fn fail(&self, calls: Calls, call: usize, fault: Fault, goes_on: bool) {
        self.heal();
        self.set(Word::Calls, 0);
        self.set(Word::Failures, 0);
        let kinds = match (calls, fault) {
            (Calls::Syncs, _) => 1 << 2,
            // Nothing but a write can be short.
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
            },
        );
        self.set(Word::GoesOn, u64::from(goes_on));
        self.set(Word::FailAt, u64::try_from(call).expect("a small number"));
    }

    /// Lets all calls pass again.
    pub(crate) fn heal(&self) {
        self.set(Word::FailAt, 0);
    }

    /// Calls of the chosen kinds since the fault was set.
    pub(crate) fn calls(&self) -> u64 {
        self.get(Word::Calls)
    }

    /// Calls that failed since the fault was set.
    pub(crate) fn failures(&self) -> u64 {
        self.get(Word::Failures)
    }

    /// Makes each sync take longer.
    pub(crate) fn delay_syncs(&self, delay: Duration) {
        self.set(Word::SyncDelay, u64::try_from(delay.as_millis()).expect("a short time"));
    }

    /// Syncs that are under way.
    pub(crate) fn syncing(&self) -> u64 {
        self.get(Word::Syncing)
    }

    /// Makes a failed sync undo what was written since the last one, as a system may that drops dirty pages.
    pub(crate) fn lose_on_failed_sync(&self, loses: bool) {
        self.set(Word::Loses, u64::from(loses));
    }

    /// Makes the next write of a group fail, and a sync that runs in the background after the file was shrunk report that,
    /// in place of the sync of the group, which succeeds.
    pub(crate) fn fail_in_background(&self) {
        self.set(Word::Background, 1);
    }

    /// Whether a sync in the background has reported the error of a group.
    pub(crate) fn failed_in_background(&self) -> bool {
        self.get(Word::Background) == 4
    }

    /// Moves the time of day by so many milliseconds from the real time.
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

/// The library, compiled when it is first needed.
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
        // Renamed when it is whole: other test processes may load it at the same time.
        let library = folder.join("layer.so");
        std::fs::rename(compiled, &library).expect("the library");
        library
    })
}
