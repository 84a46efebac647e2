//! For tests only: a test of published material (reports, packages, suites that are not part of
//! this repository), or of a foreign program, is counted as ignored where that is missing, never as
//! passed.
//!
//! Whether it is there is looked up when the test is compiled. Whoever puts it there later compiles
//! the tests again (`touch` of the test file is enough).

use std::path::Path;

use proc_macro::{TokenStream, TokenTree};

/// `#[published::needs("corpus/documents")]` above `#[test]`: the test is ignored where this path
/// is missing in the folder `shared` beside the checkout.
#[proc_macro_attribute]
pub fn needs(path: TokenStream, test: TokenStream) -> TokenStream {
    let Some(path) = literal(path) else {
        return compile_error("published::needs takes one path as a text");
    };
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3);
    if checkout.is_some_and(|beside| beside.join("shared").join(&path).exists()) {
        return test;
    }
    let reason = format!("#[ignore = \"needs ../shared/{path} beside the checkout\"]");
    let mut marked: TokenStream = reason.parse().unwrap_or_default();
    marked.extend(test);
    marked
}

/// `#[published::needs_program("systemd-analyze")]` above `#[test]`: the test is ignored where no
/// folder of `PATH` has this program.
#[proc_macro_attribute]
pub fn needs_program(name: TokenStream, test: TokenStream) -> TokenStream {
    let Some(name) = literal(name) else {
        return compile_error("published::needs_program takes one name as a text");
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&folders).any(|folder| folder.join(&name).is_file()) {
        return test;
    }
    let reason = format!("#[ignore = \"needs the program {name}\"]");
    let mut marked: TokenStream = reason.parse().unwrap_or_default();
    marked.extend(test);
    marked
}

/// The text of a single text literal without escapes.
fn literal(tokens: TokenStream) -> Option<String> {
    let mut tokens = tokens.into_iter();
    let (Some(TokenTree::Literal(literal)), None) = (tokens.next(), tokens.next()) else {
        return None;
    };
    let text = literal.to_string();
    let text = text.strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains('\\')).then(|| text.to_owned())
}

fn compile_error(message: &str) -> TokenStream {
    format!("compile_error!({message:?});").parse().unwrap_or_default()
}
