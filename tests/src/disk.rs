//! Small file systems that a test can fill or cut the power of. They need root and loop devices.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const IMAGE_BYTES: u64 = 512 << 20;
/// `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`: the journal is not written either.
const SHUTDOWN: &str = "import fcntl,os,struct,sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))";
/// Name of the file that fills a file system.
const FILLER: &str = "filler";

/// Backing store of a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Medium {
    /// An ext4 image in the disk's temporary folder.
    TemporaryImage,
    /// An ext4 image elsewhere.
    Image(PathBuf),
    /// A tmpfs of this many bytes.
    Memory(u64),
}

/// A mounted file system, backed by a file or by memory.
pub struct Disk {
    folder: TempDir,
    medium: Medium,
    mounted: bool,
}

impl Disk {
    /// Creates and mounts an ext4 file system, or reports why that is not possible here.
    #[expect(clippy::print_stderr, reason = "the closing lines of the tests show what was skipped")]
    pub fn or_skip() -> Option<Self> {
        let disk = Self::of_size(IMAGE_BYTES);
        disk.inspect_err(|cause| {
            eprintln!("SKIPPED: simulated power cuts need root and loop devices ({cause})");
        })
        .ok()
    }

    /// Creates and mounts an ext4 file system of this size.
    ///
    /// # Errors
    ///
    /// Returns the cause if the file system cannot be created or mounted.
    pub fn of_size(bytes: u64) -> Result<Self, String> {
        let disk = Self::unmounted(Medium::TemporaryImage)?;
        format(&disk.image(), bytes)?;
        run(Command::new("python3").args(["-c", "import fcntl"]))?;
        disk.mount()
    }

    /// Mounts the ext4 file system in an image.
    ///
    /// # Errors
    ///
    /// Returns the cause if the image cannot be mounted.
    pub fn of_image(image: &Path) -> Result<Self, String> {
        Self::unmounted(Medium::Image(image.to_owned()))?.mount()
    }

    /// Creates and mounts a file system of this size in memory.
    ///
    /// # Errors
    ///
    /// Returns the cause if the file system cannot be mounted.
    pub fn of_memory(bytes: u64) -> Result<Self, String> {
        Self::unmounted(Medium::Memory(bytes))?.mount()
    }

    fn unmounted(medium: Medium) -> Result<Self, String> {
        let folder =
            tempfile::Builder::new().prefix("quorate-disk-").tempdir().map_err(|error| error.to_string())?;
        let disk = Self { folder, medium, mounted: false };
        std::fs::create_dir(disk.root()).map_err(|error| error.to_string())?;
        Ok(disk)
    }

    fn image(&self) -> PathBuf {
        match &self.medium {
            Medium::Image(image) => image.clone(),
            Medium::TemporaryImage | Medium::Memory(_) => self.folder.path().join("image"),
        }
    }

    /// Returns the root folder of the file system.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn mount(mut self) -> Result<Self, String> {
        let mut command = Command::new("mount");
        match self.medium {
            Medium::Memory(bytes) => {
                command.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(self.root())
            }
            Medium::TemporaryImage | Medium::Image(_) => {
                command.args(["-o", "loop"]).arg(self.image()).arg(self.root())
            }
        };
        run(&mut command)?;
        self.mounted = true;
        Ok(self)
    }

    /// Writes a file that is never synced, to prove that a power cut loses data. The file must be new,
    /// because ext4 itself syncs a replaced file.
    pub fn write_unsynced(&self, name: &str) {
        std::fs::write(self.root().join(name), name).expect("the file system takes writes");
    }

    /// Asserts that a power cut lost the unsynced file.
    pub fn assert_lost(&self, name: &str) {
        let content = std::fs::read_to_string(self.root().join(name)).unwrap_or_default();
        assert_ne!(content, name, "the power cut lost nothing, so the test proves nothing");
    }

    /// Syncs the file system.
    pub fn sync(&self) {
        run(Command::new("sync").arg("--file-system").arg(self.root()))
            .expect("the file system can be synced");
    }

    /// Fills all free space.
    pub fn fill(&self) {
        let mut filler =
            File::options().create(true).append(true).open(self.root().join(FILLER)).expect("a file");
        for length in [1 << 20, 1 << 16, 1 << 12, 1] {
            let block = vec![b'x'; length];
            while filler.write_all(&block).is_ok() {}
        }
    }

    /// Frees the space that [`Disk::fill`] used.
    pub fn free(&self) {
        std::fs::remove_file(self.root().join(FILLER)).expect("the file that fills the file system");
    }

    /// Simulates a power cut: everything that is not durable is lost.
    pub fn cut(&self) {
        run(Command::new("python3").args(["-c", SHUTDOWN]).arg(self.root()))
            .expect("the file system can be cut");
    }

    /// Unmounts and mounts the file system, as after a power cut.
    #[must_use]
    pub fn remount(mut self) -> Self {
        run(Command::new("umount").arg(self.root())).expect("the file system is not in use");
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

/// Creates an image with an empty ext4 file system.
///
/// # Errors
///
/// Returns the cause if the image cannot be created or formatted.
pub fn format(image: &Path, bytes: u64) -> Result<(), String> {
    let file = File::create(image).and_then(|file| file.set_len(bytes));
    file.map_err(|error| error.to_string())?;
    run(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(image)).map(drop)
}

fn run(command: &mut Command) -> Result<Output, String> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(output) } else { Err(format!("{name}: {stderr}")) }
}
