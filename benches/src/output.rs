//! The only door to the terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

/// A line of the result.
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// What is under way.
pub(crate) fn progress(text: &str) {
    eprintln!("… {text}");
}

/// What went wrong.
pub(crate) fn problem(text: &str) {
    eprintln!("{text}");
}
