//! Runs a fuzz target under libFuzzer. The environment variable `FUZZ_TARGET` selects the target.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use quorate_fuzz::Target;

/// Environment variable with the name of the target.
const VARIABLE: &str = "FUZZ_TARGET";

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var(VARIABLE).unwrap_or_default();
    quorate_fuzz::target(&name).unwrap_or_else(|| panic!("{VARIABLE}: unknown target {name:?}"))
});

fuzz_target!(|data: &[u8]| (TARGET.run)(data));
