//! Formats numbers with their units.

/// Formats a size: `61 MiB`, `4.1 GiB`.
pub(crate) fn bytes(size: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let (mut tenths, mut unit) = (size.saturating_mul(10) / 1024, 0);
    while tenths >= 10 * 1024 && unit + 1 < UNITS.len() {
        (tenths, unit) = (tenths / 1024, unit + 1);
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    if tenths >= 100 {
        format!("{} {name}", tenths / 10)
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

/// Formats a short time: `250 us`, `4 ms`, `2.5 ms`, `20 s`.
pub(crate) fn micros(time: u64) -> String {
    match time {
        0..1000 => format!("{time} us"),
        1000..1_000_000 if time.is_multiple_of(1000) || time >= 10_000 => format!("{} ms", time / 1000),
        1000..1_000_000 => format!("{}.{} ms", time / 1000, time % 1000 / 100),
        _ => format!("{} s", time / 1_000_000),
    }
}

/// Formats a rate per second, given in tenths: `0.3/s`, `41/s`.
pub(crate) fn rate(tenths: u64) -> String {
    if tenths >= 100 { format!("{}/s", tenths / 10) } else { format!("{}.{}/s", tenths / 10, tenths % 10) }
}

/// Formats a number with its noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns a number of entries with its noun.
pub(crate) fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_numbers() {
        let sizes = [0, 1023, 1024, 10_240, 64 << 20, 4_402_341_479, u64::MAX].map(bytes);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "10 KiB", "64 MiB", "4.1 GiB", "1638 PiB"]);
        assert_eq!(
            [250, 1000, 2500, 25_000, 20_000_000].map(micros),
            ["250 us", "1 ms", "2.5 ms", "25 ms", "20 s"]
        );
        assert_eq!([0, 3, 99, 410].map(rate), ["0.0/s", "0.3/s", "9.9/s", "41/s"]);
        assert_eq!([counted(1, "vote"), counted(2, "vote")], ["1 vote", "2 votes"]);
    }
}
