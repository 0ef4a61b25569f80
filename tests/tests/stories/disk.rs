//! A file system in a file, whose power can be cut. Needs root and loop devices.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const IMAGE_BYTES: u64 = 512 << 20;
/// `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`: the journal is not written either.
const SHUTDOWN: &str = "import fcntl,os,struct,sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))";

/// A file system in a file.
pub(crate) struct Disk {
    folder: TempDir,
    mounted: bool,
}

impl Disk {
    /// Makes and mounts one, or says why that can not be done here.
    pub(crate) fn or_skip() -> Option<Self> {
        let disk = Self::make();
        disk.inspect_err(|cause| {
            eprintln!("SKIPPED: simulated power cuts need root and loop devices ({cause})");
        })
        .ok()
    }

    fn make() -> Result<Self, String> {
        let folder =
            tempfile::Builder::new().prefix("quorate-disk-").tempdir().map_err(|error| error.to_string())?;
        let disk = Self { folder, mounted: false };
        let image = File::create(disk.image()).and_then(|image| image.set_len(IMAGE_BYTES));
        image.map_err(|error| error.to_string())?;
        run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(disk.image()))?;
        std::fs::create_dir(disk.root()).map_err(|error| error.to_string())?;
        let disk = disk.mount()?;
        run(Command::new("python3").args(["-c", "import fcntl"]))?;
        Ok(disk)
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn mount(mut self) -> Result<Self, String> {
        run(Command::new("mount").args(["-o", "loop"]).arg(self.image()).arg(self.root()))?;
        self.mounted = true;
        Ok(self)
    }

    /// Writes what nobody makes durable, so that a cut can show that it cuts. Always a new file: replacing
    /// the content of one is made durable by the file system itself.
    pub(crate) fn leave_unsynced(&self, name: &str) {
        std::fs::write(self.root().join(name), name).expect("the file system takes writes");
    }

    /// Asserts that what was not made durable is gone.
    pub(crate) fn has_lost(&self, name: &str) {
        let left = std::fs::read_to_string(self.root().join(name)).unwrap_or_default();
        assert_ne!(left, name, "the cut has lost nothing: it proves nothing");
    }

    /// Makes everything durable that was written so far.
    pub(crate) fn make_durable(&self) {
        run(Command::new("sync").arg("--file-system").arg(self.root()))
            .expect("the file system can be synced");
    }

    /// Loses everything that is not durable.
    pub(crate) fn cut(&self) {
        run(Command::new("python3").args(["-c", SHUTDOWN]).arg(self.root()))
            .expect("the file system can be cut");
    }

    /// Mounts it again, as after a cut.
    pub(crate) fn remount(mut self) -> Self {
        run(Command::new("umount").arg(self.root())).expect("nobody uses the file system");
        self.mounted = false;
        self.mount().expect("the file system can be mounted again")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            let _ = run(Command::new("umount").args(["--lazy"]).arg(self.root()));
        }
    }
}

fn run(command: &mut Command) -> Result<Output, String> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(output) } else { Err(format!("{name}: {complaint}")) }
}
