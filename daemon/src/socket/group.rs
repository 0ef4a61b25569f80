//! System groups: the id of a group, and the groups of a process.

use std::fs;
use std::io;

/// Returns the id of a group given by name or number; `None` if `/etc/group` has no such name.
///
/// # Errors
/// Returns an I/O error if `/etc/group` cannot be read.
pub fn group_id(name: &str) -> io::Result<Option<u32>> {
    if let Ok(id) = name.parse() {
        return Ok(Some(id));
    }
    Ok(find(&fs::read_to_string("/etc/group")?, name))
}

/// Finds a group in a file with lines of the form `name:password:id:members` (group(5)).
fn find(file: &str, name: &str) -> Option<u32> {
    file.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok())?
    })
}

/// Returns whether the process runs as `user` and has `group` among its groups (proc(5)). The credentials of
/// a socket contain only the first group. The user id protects against a reused process id.
pub(super) fn process_has_group(process: i32, user: u32, group: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/status"))
        .is_ok_and(|status| status_has_group(&status, user, group))
}

fn status_has_group(status: &str, user: u32, group: u32) -> bool {
    let numbers = |label: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(label));
        line.unwrap_or_default().split_whitespace().filter_map(|number| number.parse().ok()).collect()
    };
    // The line has the real, effective, saved and file-system id, in this order.
    numbers("Uid:").get(1) == Some(&user) && numbers("Groups:").contains(&group)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn finds_groups_by_name_and_number() {
        let file = "root:x:0:\nquorate:x:987:alice,bob\nbroken\nquorate-old:x:12:\n";
        for (name, expected) in [("quorate", Some(987)), ("root", Some(0)), ("broken", None), ("none", None)]
        {
            assert_eq!(find(file, name), expected, "{name}");
        }
        assert_eq!(group_id("1234").unwrap(), Some(1234));
    }

    #[test]
    fn a_process_has_supplementary_groups() {
        let status = "Name:\tcat\nUid:\t1000\t1001\t1000\t1000\nGid:\t1\t1\t1\t1\nGroups:\t4 27 987 \n";
        assert!(status_has_group(status, 1001, 987));
        assert!(!status_has_group(status, 1000, 987));
        assert!(!status_has_group(status, 1001, 98));
        assert!(!status_has_group("", 1001, 987));
        let own = std::process::id().try_into().unwrap();
        assert!(!process_has_group(own, u32::MAX, 0));
    }
}
