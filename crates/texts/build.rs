//! Writes the files of `texts` as a table. A text that one language lacks ends the build.

#[path = "src/message.rs"]
#[allow(dead_code, reason = "the library fills texts, the build only reads them")]
mod message;
#[path = "src/written.rs"]
#[allow(unreachable_pub, reason = "build scripts of other crates call it")]
mod written;

fn main() {
    println!("cargo::rerun-if-changed=src/message.rs");
    println!("cargo::rerun-if-changed=src/written.rs");
    written::write("../../texts");
}
