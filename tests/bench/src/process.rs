//! Cost of servers: processor time, memory and disk writes, from `proc(5)`.

use std::fs::read_to_string;
use std::time::Duration;

/// Total counters of some processes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Processor time, user and system.
    pub processor: Duration,
    /// Resident memory in KiB.
    pub resident_kib: u64,
    /// Bytes written to disk. Zero where the system does not report it.
    pub written: u64,
}

impl Reading {
    /// Returns the resident memory in MiB.
    pub fn resident_mib(&self) -> f64 {
        self.resident_kib as f64 / 1024.0
    }
}

fn ticks(count: u64) -> Duration {
    Duration::from_secs_f64(count as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// Returns the number after a name at the start of a line.
fn figure(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

fn one(process: &str) -> Option<Reading> {
    let stat = read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses and may contain any characters.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ').skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let status = read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let io = read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
    Some(Reading {
        processor: ticks(user + system),
        resident_kib: figure(&status, "VmRSS:").unwrap_or(0),
        written: figure(&io, "write_bytes:").unwrap_or(0),
    })
}

/// Returns the total counters of these processes.
pub fn of(processes: &[u32]) -> Reading {
    let readings = processes
        .iter()
        .map(|process| one(&process.to_string()).unwrap_or_else(|| panic!("there is no process {process}")));
    readings.fold(Reading::default(), |sum, one| Reading {
        processor: sum.processor + one.processor,
        resident_kib: sum.resident_kib + one.resident_kib,
        written: sum.written + one.written,
    })
}

/// Returns the counters of this process.
pub fn own() -> Reading {
    one("self").unwrap_or_default()
}

/// Returns the busy time of all processors since the start of the machine.
pub fn machine_busy() -> Duration {
    let stat = read_to_string("/proc/stat").unwrap_or_default();
    let line = stat.lines().next().unwrap_or_default();
    let fields: Vec<u64> = line.split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    // Columns: user, nice, system, idle, waiting for disk, interrupts, soft interrupts, stolen.
    let busy = fields.iter().take(8).enumerate().filter(|(column, _)| !matches!(column, 3 | 4));
    ticks(busy.map(|(_, field)| field).sum())
}
