//! Searches the memory of a running process for secrets.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::process::Pid;

/// Regions are read in pieces, so that a reserved gigabyte costs no memory.
const PIECE: usize = 1 << 20;

/// Returns how often the writable memory of a process contains these bytes, or `None` if this user may not read it.
pub fn count(process: Pid, wanted: &[u8]) -> Option<usize> {
    let id = process.as_raw_nonzero();
    let maps = std::fs::read_to_string(format!("/proc/{id}/maps")).ok()?;
    let memory = File::open(format!("/proc/{id}/mem")).ok()?;
    let mut found = 0;
    let mut buffer = vec![0; PIECE + wanted.len()];
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (from, to) = line.split_once(' ').and_then(|(range, _)| range.split_once('-')).expect("a range");
        let bound = |text: &str| u64::from_str_radix(text, 16).expect("an address");
        let (mut at, to) = (bound(from), bound(to));
        while at < to {
            let length = buffer.len().min(usize::try_from(to - at).expect("a length"));
            if let Ok(read) = memory.read_at(&mut buffer[..length], at) {
                let piece = &buffer[..read];
                let first = wanted[0];
                let starts =
                    piece.iter().enumerate().filter(|(start, byte)| **byte == first && *start < PIECE);
                found += starts.filter(|(start, _)| piece[*start..].starts_with(wanted)).count();
            }
            at += PIECE as u64;
        }
    }
    Some(found)
}
