//! Protection of the memory of this process, which may have an unlocked key.

/// Prevents other processes of this user and core files from reading the memory of this process.
pub(crate) fn harden() {
    // A second line of defence, so the console also runs if the system rejects it.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    #[cfg(not(target_os = "linux"))]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
}
