//! One program for all targets: the environment says which one libFuzzer drives. Asserts nothing itself.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use quorate_fuzz::Target;

/// Names the target.
const CHOICE: &str = "FUZZ_TARGET";

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var(CHOICE).unwrap_or_default();
    quorate_fuzz::target(&name).unwrap_or_else(|| panic!("{CHOICE} is {name:?}, which is no target"))
});

fuzz_target!(|data: &[u8]| (TARGET.run)(data));
