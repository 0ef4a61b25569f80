//! Groups of the system: a name's id, and whether a process belongs to one.

use std::fs;
use std::io;

/// The id of a group given by name or number; `None` if the system's group file does not name it.
pub fn group_id(name: &str) -> io::Result<Option<u32>> {
    if let Ok(id) = name.parse() {
        return Ok(Some(id));
    }
    Ok(find(&fs::read_to_string("/etc/group")?, name))
}

/// `name:password:id:members`, one a line (group(5)).
fn find(file: &str, name: &str) -> Option<u32> {
    file.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok())?
    })
}

/// Whether the process runs as `user` and has `group` among its groups (proc(5)). Credentials of a socket
/// hold only the first group, so the others are looked up; the user id guards against a reused process id.
pub(super) fn process_has_group(process: i32, user: u32, group: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/status"))
        .is_ok_and(|status| status_has_group(&status, user, group))
}

fn status_has_group(status: &str, user: u32, group: u32) -> bool {
    let numbers = |label: &str| -> Vec<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(label));
        line.unwrap_or_default().split_whitespace().filter_map(|number| number.parse().ok()).collect()
    };
    // Real, effective, saved and file-system id, in this order.
    numbers("Uid:").get(1) == Some(&user) && numbers("Groups:").contains(&group)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn groups_are_found_by_name_and_number() {
        let file = "root:x:0:\nquorate:x:987:alice,bob\nbroken\nquorate-old:x:12:\n";
        for (name, expected) in [("quorate", Some(987)), ("root", Some(0)), ("broken", None), ("none", None)]
        {
            assert_eq!(find(file, name), expected, "{name}");
        }
        assert_eq!(group_id("1234").unwrap(), Some(1234));
    }

    #[test]
    fn a_process_has_its_further_groups() {
        let status = "Name:\tcat\nUid:\t1000\t1001\t1000\t1000\nGid:\t1\t1\t1\t1\nGroups:\t4 27 987 \n";
        assert!(status_has_group(status, 1001, 987));
        assert!(!status_has_group(status, 1000, 987));
        assert!(!status_has_group(status, 1001, 98));
        assert!(!status_has_group("", 1001, 987));
        let own = std::process::id().try_into().unwrap();
        assert!(!process_has_group(own, u32::MAX, 0));
    }
}
