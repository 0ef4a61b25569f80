//! Makes the embedded store durable on Linux.
//!
//! sled 0.34 flushes with `sync_file_range(2)`, which does not guarantee that data reaches the disk. If that
//! call returns ENOSYS, sled calls `fsync` instead. A seccomp filter makes it return ENOSYS.

use super::StoreError;

/// Installs the filter for all threads of the process. Must be called before the store is opened.
///
/// # Errors
/// Returns [`StoreError::NotDurable`] if the filter cannot be installed.
#[cfg(target_os = "linux")]
pub fn require_fsync() -> Result<(), StoreError> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};
    let not_durable = |cause: String| StoreError::NotDurable(cause);
    let architecture = TargetArch::try_from(std::env::consts::ARCH)
        .map_err(|_| not_durable("unknown processor".to_owned()))?;
    let call = libc::SYS_sync_file_range;
    let answer = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let rules = [(call, Vec::new())].into_iter().collect();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture);
    let program: BpfProgram =
        filter.and_then(TryInto::try_into).map_err(|error| not_durable(error.to_string()))?;
    apply_filter_all_threads(&program)
        .map_err(|error| not_durable(format!("cannot install the filter that requires fsync: {error}")))
}

/// Does nothing: on other systems, sled calls `fsync` itself.
///
/// # Errors
/// Never returns an error.
#[cfg(not(target_os = "linux"))]
pub fn require_fsync() -> Result<(), StoreError> {
    Ok(())
}
