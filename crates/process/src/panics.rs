//! A panic is our mistake; its message may repeat what was being worked on. So only its place is
//! said.

use std::io::Write as _;
use std::panic::PanicHookInfo;

/// From now on a panic is one line on standard error:
/// `internal-error at FILE:LINE:COLUMN in THREAD`. Without message and backtrace, whatever
/// `RUST_BACKTRACE` says.
pub(crate) fn quiet() {
    std::panic::set_hook(Box::new(say));
}

fn say(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let line = line(panic.location(), thread.name());
    // Nobody is left to be told where standard error is closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn line(place: Option<&std::panic::Location<'_>>, thread: Option<&str>) -> String {
    let place = place.map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    format!("internal-error at {place} in {}", thread.unwrap_or("an unnamed thread"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_and_a_thread() {
        let here = std::panic::Location::caller();
        let said = line(Some(here), Some("writer"));
        assert!(said.starts_with("internal-error at ") && said.ends_with(" in writer"), "{said}");
        assert!(said.contains("panics.rs:"), "{said}");
        assert_eq!(line(None, None), "internal-error at an unknown place in an unnamed thread");
    }
}
