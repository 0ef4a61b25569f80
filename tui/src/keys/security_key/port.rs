//! The connection to a security key: finds devices, and passes packets of 64 bytes on. A device is a HID device of the
//! kernel, or a Unix socket of a program that passes packets on, such as one that forwards a security key.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hidreport::{Field, Report, ReportDescriptor, UsagePage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::error::SecurityKeyError;

/// Length of a packet (CTAP 2.1 §11.2.4): the reports of full-speed USB devices.
pub(super) const PACKET: usize = 64;
/// Usage page of security keys (CTAP 2.1 §11.2.8.1).
const USAGE_PAGE: u16 = 0xf1d0;
/// Where the kernel lists HID devices, and where their files are.
const LIST: &str = "/sys/class/hidraw";
const DEVICES: &str = "/dev";
/// Maximum number of devices that are examined.
const COUNT_LIMIT: usize = 256;
/// Time for the rest of a packet, once a part of it arrived.
const REST: Duration = Duration::from_secs(1);

/// Returns the paths of the attached security keys: the configured one, or those that the kernel lists.
pub(super) fn find(configured: Option<&Path>) -> Vec<PathBuf> {
    configured.map_or_else(|| listed(Path::new(LIST), Path::new(DEVICES)), |path| vec![path.to_owned()])
}

fn listed(list: &Path, devices: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(list).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let is_security_key = |name: &std::ffi::OsString| {
        let descriptor = fs::read(list.join(name).join("device/report_descriptor"));
        descriptor.is_ok_and(|bytes| has_usage_page(&bytes))
    };
    let mut names: Vec<_> = names.take(COUNT_LIMIT).filter(is_security_key).collect();
    names.sort();
    names.iter().map(|name| devices.join(name)).collect()
}

/// Returns whether the input reports of a device are those of a security key.
fn has_usage_page(descriptor: &[u8]) -> bool {
    let Ok(descriptor) = ReportDescriptor::try_from(descriptor) else { return false };
    let mut fields = descriptor.input_reports().iter().flat_map(Report::fields);
    fields.any(|field| match field {
        Field::Variable(field) => field.usage.usage_page == UsagePage::from(USAGE_PAGE),
        Field::Array(_) | Field::Constant(_) => false,
    })
}

enum Stream {
    Hid(File),
    Socket(UnixStream),
}

/// An open connection.
pub(super) struct Port(Stream);

impl Port {
    /// Opens a device.
    ///
    /// # Errors
    /// [`SecurityKeyError`] if it is not attached, if this user may not use it, or if it cannot be opened.
    pub(super) fn open(path: &Path) -> Result<Self, SecurityKeyError> {
        let failed = |error| open_error(path, &error);
        let kind = fs::metadata(path).map_err(failed)?.file_type();
        if kind.is_socket() {
            let socket = UnixStream::connect(path).map_err(failed)?;
            socket.set_read_timeout(Some(REST)).map_err(failed)?;
            return Ok(Self(Stream::Socket(socket)));
        }
        if !kind.is_char_device() {
            return Err(failed(io::Error::other("not a device and not a socket")));
        }
        File::options().read(true).write(true).open(path).map(|file| Self(Stream::Hid(file))).map_err(failed)
    }

    /// Waits for a packet for this long. Returns `None` if there was none.
    pub(super) fn receive(&mut self, wait: Duration) -> io::Result<Option<[u8; PACKET]>> {
        let mut ready = [PollFd::from_borrowed_fd(self.descriptor(), PollFlags::IN)];
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        match poll(&mut ready, Some(&wait)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut packet = [0; PACKET];
        match &mut self.0 {
            Stream::Hid(file) => file.read_exact(&mut packet)?,
            Stream::Socket(socket) => socket.read_exact(&mut packet)?,
        }
        Ok(Some(packet))
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Stream::Hid(file) => file.as_fd(),
            Stream::Socket(socket) => socket.as_fd(),
        }
    }
}

fn open_error(path: &Path, error: &io::Error) -> SecurityKeyError {
    let path = path.display().to_string();
    let reason = match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => return SecurityKeyError::Detached(path),
        ErrorKind::PermissionDenied => {
            "permission denied; the udev rules of your system must give you access".to_owned()
        }
        _ => error.to_string(),
    };
    SecurityKeyError::Device { path, reason }
}

/// Each call of `write` passes one packet on.
impl Write for Port {
    fn write(&mut self, packet: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            // The kernel expects the number of the report first; security keys do not number theirs.
            Stream::Hid(file) => {
                let report = [&[0], packet].concat();
                if file.write(&report)? != report.len() {
                    return Err(ErrorKind::WriteZero.into());
                }
            }
            Stream::Socket(socket) => socket.write_all(packet)?,
        }
        Ok(packet.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Report descriptor of a security key (CTAP 2.1 §11.2.8.2).
    const SECURITY_KEY: &str = "06d0f10901a1010920150026ff007508954081020921150026ff00750895409102c0";
    /// Report descriptor of a boot keyboard (HID 1.11, appendix B.1).
    const KEYBOARD: &str = "05010906a101050719e029e71500250175019508810295017508810195057501050819012905910295017503910195067508150025650507190029658100c0";

    #[test]
    fn devices_are_recognized_by_their_report_descriptor() {
        let check = |hex: &str, expected: bool| {
            assert_eq!(has_usage_page(&const_hex::decode(hex).unwrap()), expected, "{hex}");
        };
        check(SECURITY_KEY, true);
        check(KEYBOARD, false);
        check("", false);
        check("06d0", false);
        check("06d0f1", false);
        check("ffffffffffffff", false);
    }

    #[test]
    fn the_devices_of_the_kernel_are_listed_in_order() {
        let list = tempfile::tempdir().unwrap();
        for (name, hex) in [("hidraw3", SECURITY_KEY), ("hidraw0", KEYBOARD), ("hidraw1", SECURITY_KEY)] {
            let folder = list.path().join(name).join("device");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("report_descriptor"), const_hex::decode(hex).unwrap()).unwrap();
        }
        fs::create_dir(list.path().join("hidraw4")).unwrap();
        let paths = listed(list.path(), Path::new("/dev"));
        assert_eq!(paths, [PathBuf::from("/dev/hidraw1"), PathBuf::from("/dev/hidraw3")]);
        assert!(listed(&list.path().join("none"), Path::new("/dev")).is_empty());
        assert_eq!(find(Some(Path::new("/x"))), [PathBuf::from("/x")]);
    }

    #[test]
    fn other_files_are_not_opened() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = |path: &Path| Port::open(path).err().unwrap().to_string();
        assert!(error(file.path()).ends_with("not a device and not a socket"));
        assert_eq!(error(Path::new("/none")), "security key /none is not attached");
    }
}
