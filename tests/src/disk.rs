//! Small file systems that a test can fill and whose power it can cut. They need root and loop devices.

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

/// What a disk is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Medium {
    /// An ext4 image in the disk's own folder.
    Own,
    /// An ext4 image elsewhere.
    Image(PathBuf),
    /// Memory.
    Memory(u64),
}

/// A file system in a file or in memory.
pub struct Disk {
    folder: TempDir,
    medium: Medium,
    mounted: bool,
}

impl Disk {
    /// Makes and mounts one, or reports why that cannot be done here.
    #[expect(clippy::print_stderr, reason = "the closing lines of the tests show what was skipped")]
    pub fn or_skip() -> Option<Self> {
        let disk = Self::of_size(IMAGE_BYTES);
        disk.inspect_err(|cause| {
            eprintln!("SKIPPED: simulated power cuts need root and loop devices ({cause})");
        })
        .ok()
    }

    /// An ext4 file system of this size.
    pub fn of_size(bytes: u64) -> Result<Self, String> {
        let disk = Self::unmounted(Medium::Own)?;
        format(&disk.image(), bytes)?;
        run(Command::new("python3").args(["-c", "import fcntl"]))?;
        disk.mount()
    }

    /// The ext4 file system in an image.
    pub fn of_image(image: &Path) -> Result<Self, String> {
        Self::unmounted(Medium::Image(image.to_owned()))?.mount()
    }

    /// A file system of this size in memory.
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
            Medium::Own | Medium::Memory(_) => self.folder.path().join("image"),
        }
    }

    /// The root folder of the file system.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    fn mount(mut self) -> Result<Self, String> {
        let mut command = Command::new("mount");
        match self.medium {
            Medium::Memory(bytes) => {
                command.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(self.root())
            }
            Medium::Own | Medium::Image(_) => command.args(["-o", "loop"]).arg(self.image()).arg(self.root()),
        };
        run(&mut command)?;
        self.mounted = true;
        Ok(self)
    }

    /// Writes what nobody makes durable, so that a cut can show that it cuts. Always a new file: replacing
    /// the content of one is made durable by the file system itself.
    pub fn leave_unsynced(&self, name: &str) {
        std::fs::write(self.root().join(name), name).expect("the file system takes writes");
    }

    /// Asserts that what was not made durable is gone.
    pub fn has_lost(&self, name: &str) {
        let left = std::fs::read_to_string(self.root().join(name)).unwrap_or_default();
        assert_ne!(left, name, "the cut has lost nothing: it proves nothing");
    }

    /// Makes everything durable that was written so far.
    pub fn make_durable(&self) {
        run(Command::new("sync").arg("--file-system").arg(self.root()))
            .expect("the file system can be synced");
    }

    /// Takes all free space.
    pub fn fill(&self) {
        let mut filler =
            File::options().create(true).append(true).open(self.root().join(FILLER)).expect("a file");
        for length in [1 << 20, 1 << 16, 1 << 12, 1] {
            let block = vec![b'x'; length];
            while filler.write_all(&block).is_ok() {}
        }
    }

    /// Gives back what [`Disk::fill`] took.
    pub fn free(&self) {
        std::fs::remove_file(self.root().join(FILLER)).expect("the file that fills the file system");
    }

    /// Loses everything that is not durable.
    pub fn cut(&self) {
        run(Command::new("python3").args(["-c", SHUTDOWN]).arg(self.root()))
            .expect("the file system can be cut");
    }

    /// Mounts it again, as after a cut.
    #[must_use]
    pub fn remount(mut self) -> Self {
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

/// Makes an image with an empty ext4 file system.
pub fn format(image: &Path, bytes: u64) -> Result<(), String> {
    let file = File::create(image).and_then(|file| file.set_len(bytes));
    file.map_err(|error| error.to_string())?;
    run(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(image)).map(drop)
}

fn run(command: &mut Command) -> Result<Output, String> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(output) } else { Err(format!("{name}: {complaint}")) }
}
