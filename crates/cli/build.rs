//! Writes the texts that only this program has as a table. One that a language lacks ends the
//! build.

fn main() {
    texts::written::write("src/catalogue");
}
