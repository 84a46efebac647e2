//! One program for all targets: `LABCOURIER_FUZZ` names the one to drive.
#![no_main]

use std::sync::LazyLock;

use hostile::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("LABCOURIER_FUZZ").unwrap_or_default();
    let target = TARGETS.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("LABCOURIER_FUZZ names no target: {name:?}"))
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
