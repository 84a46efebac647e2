//! The only door to the terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::Write as _;

/// One line of progress or result.
pub fn line(text: &str) {
    println!("{}", text.trim_end());
    // A step's own program writes to the same terminal: keep the order.
    let _ = std::io::stdout().flush();
}

/// The heading of a step.
pub fn heading(text: &str) {
    line(&format!("\n── {text}"));
}

/// What went wrong.
pub fn problem(text: &str) {
    let _ = std::io::stdout().flush();
    eprintln!("{}", text.trim_end());
}
