//! A block device whose writes and flushes are recorded, so that a power cut at any of them can be replayed.
//! Flushed writes are present. Of the later writes any subset is present, the last ones perhaps in part.
//!
//! The device is a loop device over an image that this process serves by FUSE.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, WriteFlags,
};
use quorate_tests::choices::Choices;
use quorate_tests::disk::{self, Disk};
use rustix::fs::SeekFrom;
use tempfile::TempDir;

const NAME: &str = "image";
const IMAGE: INodeNo = INodeNo(2);
/// Time for which the system may cache attributes of the image.
const CACHE_TIME: Duration = Duration::from_hours(1);
/// Unit that a disk writes atomically, in bytes.
const SECTOR: usize = 512;
/// Unit of the sparse image, in bytes.
const BLOCK: usize = 4096;

/// An operation of the device.
enum Event {
    Write(usize, Vec<u8>),
    Flush,
}

/// Content of a device. Blocks that were never written are zeroes and take no memory.
#[derive(Clone, Default)]
struct Image {
    length: usize,
    blocks: BTreeMap<usize, Box<[u8]>>,
}

impl Image {
    /// Reads an image file of this length.
    fn load(path: &Path, length: usize) -> io::Result<Self> {
        let mut image = Self { length, blocks: BTreeMap::new() };
        let file = File::open(path)?;
        let mut offset = 0;
        // Holes in the file are skipped.
        while let Ok(data) = rustix::fs::seek(&file, SeekFrom::Data(offset)) {
            let end = rustix::fs::seek(&file, SeekFrom::Hole(data))?;
            let mut bytes = vec![0; usize::try_from(end - data).map_err(io::Error::other)?];
            file.read_exact_at(&mut bytes, data)?;
            image.write(usize::try_from(data).map_err(io::Error::other)?, &bytes);
            offset = end;
        }
        Ok(image)
    }

    fn read(&self, offset: usize, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length.min(self.length.saturating_sub(offset))];
        let mut done = 0;
        while done < bytes.len() {
            let (block, start) = ((offset + done) / BLOCK, (offset + done) % BLOCK);
            let count = (BLOCK - start).min(bytes.len() - done);
            if let Some(block) = self.blocks.get(&block) {
                bytes[done..done + count].copy_from_slice(&block[start..start + count]);
            }
            done += count;
        }
        bytes
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let (block, start) = ((offset + done) / BLOCK, (offset + done) % BLOCK);
            let count = (BLOCK - start).min(bytes.len() - done);
            let block = self.blocks.entry(block).or_insert_with(|| vec![0; BLOCK].into());
            block[start..start + count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
    }

    fn store(&self, path: &Path) -> io::Result<()> {
        let file = File::create(path)?;
        file.set_len(u64::try_from(self.length).map_err(io::Error::other)?)?;
        for (number, block) in &self.blocks {
            file.write_all_at(block, u64::try_from(number * BLOCK).map_err(io::Error::other)?)?;
        }
        Ok(())
    }
}

/// The current image and its history.
#[derive(Default)]
struct Tape {
    now: Image,
    /// The image before the first event.
    base: Image,
    events: Vec<Event>,
}

/// An ext4 file system on a recorded device.
pub(crate) struct Recorder {
    disk: Option<Disk>,
    session: Option<BackgroundSession>,
    tape: Arc<Mutex<Tape>>,
    /// Number of events so far.
    clock: Arc<Mutex<Arc<AtomicU64>>>,
    _folder: TempDir,
}

impl Recorder {
    /// Mounts an empty file system of this size, or reports why that is not possible here.
    pub(crate) fn mount(bytes: u64) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let empty = folder.path().join("empty");
        disk::format(&empty, bytes)?;
        Self::mount_image(&empty)
    }

    /// Mounts the file system in a copy of an image. The recording begins with the repair of the file system.
    pub(crate) fn mount_image(image: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let bytes = std::fs::metadata(image).map_err(|error| error.to_string())?.len();
        let length = usize::try_from(bytes).map_err(|error| error.to_string())?;
        let now = Image::load(image, length).map_err(|error| error.to_string())?;
        let mounted = folder.path().join("served");
        std::fs::create_dir(&mounted).map_err(|error| error.to_string())?;
        let tape = Arc::new(Mutex::new(Tape { base: now.clone(), now, ..Tape::default() }));
        let clock = Arc::new(Mutex::new(Arc::default()));
        let server = ImageServer { tape: Arc::clone(&tape), clock: Arc::clone(&clock) };
        let mut options = Config::default();
        options.mount_options = vec![MountOption::FSName("quorate-recorder".to_owned())];
        let session = fuser::spawn_mount(server, &mounted, &options);
        let session = session.map_err(|error| format!("FUSE: {error}"))?;
        let disk = Disk::of_image(&mounted.join(NAME))?;
        Ok(Self { disk: Some(disk), session: Some(session), tape, clock, _folder: folder })
    }

    /// Returns the root folder of the file system.
    pub(crate) fn root(&self) -> std::path::PathBuf {
        self.disk.as_ref().expect("a mounted disk").root()
    }

    /// Syncs the file system and starts the recording. The clock then counts events.
    pub(crate) fn record(&self, clock: Arc<AtomicU64>) {
        self.disk.as_ref().expect("a mounted disk").sync();
        let mut tape = self.tape.lock().expect("no holder panicked");
        let Tape { now, base, .. } = &mut *tape;
        base.clone_from(now);
        tape.events.clear();
        clock.store(0, Ordering::SeqCst);
        *self.clock.lock().expect("no holder panicked") = clock;
    }

    /// Returns the number of recorded events.
    pub(crate) fn events(&self) -> usize {
        self.tape.lock().expect("no holder panicked").events.len()
    }

    /// Writes an image that a power cut after `cut` events may leave.
    pub(crate) fn write_image(&self, cut: usize, choices: &mut Choices, path: &Path) {
        let tape = self.tape.lock().expect("no holder panicked");
        let mut image = tape.base.clone();
        let flushed = tape.events[..cut].iter().rposition(|event| matches!(event, Event::Flush)).unwrap_or(0);
        for (number, event) in tape.events[..cut].iter().enumerate() {
            let Event::Write(offset, bytes) = event else { continue };
            let kept = if number < flushed {
                bytes.len()
            } else {
                match choices.below(4) {
                    0 | 1 => 0,
                    2 => choices.below(bytes.len() / SECTOR + 1) * SECTOR,
                    _ => bytes.len(),
                }
            };
            image.write(*offset, &bytes[..kept]);
        }
        drop(tape);
        image.store(path).expect("an image file");
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        drop(self.disk.take());
        if let Some(session) = self.session.take() {
            let _ = session.umount_and_join();
        }
    }
}

/// The FUSE file system that serves the image.
struct ImageServer {
    tape: Arc<Mutex<Tape>>,
    clock: Arc<Mutex<Arc<AtomicU64>>>,
}

impl ImageServer {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let size = self.tape.lock().expect("no holder panicked").now.length;
        let is_image = inode == IMAGE;
        FileAttr {
            ino: inode,
            size: if is_image { u64::try_from(size).expect("a length") } else { 0 },
            blocks: 0,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_image { FileType::RegularFile } else { FileType::Directory },
            perm: if is_image { 0o600 } else { 0o700 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            flags: 0,
            blksize: 4096,
        }
    }

    fn record(&self, event: Event) {
        let mut tape = self.tape.lock().expect("no holder panicked");
        tape.events.push(event);
        self.clock.lock().expect("no holder panicked").fetch_add(1, Ordering::SeqCst);
    }
}

impl Filesystem for ImageServer {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == NAME {
            reply.entry(&CACHE_TIME, &self.attributes(IMAGE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&CACHE_TIME, &self.attributes(inode));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::empty());
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (offset, size) =
            (usize::try_from(offset).expect("an offset"), usize::try_from(size).expect("a length"));
        let bytes = self.tape.lock().expect("no holder panicked").now.read(offset, size);
        reply.data(&bytes);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let offset = usize::try_from(offset).expect("an offset");
        {
            let mut tape = self.tape.lock().expect("no holder panicked");
            if offset + data.len() > tape.now.length {
                reply.error(Errno::ENOSPC);
                return;
            }
            tape.now.write(offset, data);
        }
        self.record(Event::Write(offset, data.to_vec()));
        reply.written(u32::try_from(data.len()).expect("a length"));
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.record(Event::Flush);
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}
