//! The table of the commands as the page reads it: what each takes and what it gives.

use std::path::PathBuf;

use ts_rs::{Config, TS, TypeVisitor};

/// One command.
pub(super) struct Command {
    pub(super) words: &'static [&'static str],
    pub(super) name: &'static str,
    /// Names and types of its arguments.
    pub(super) takes: Vec<(&'static str, String)>,
    pub(super) gives: String,
}

impl Command {
    pub(super) fn in_typescript(&self) -> String {
        let Self { words, name, takes, gives } = self;
        let words = words.concat();
        let members: Vec<String> = takes.iter().map(|(name, of)| format!("{name}: {of}")).collect();
        let takes = match &*members {
            [] => "void".to_owned(),
            members => format!("{{ {} }}", members.join("; ")),
        };
        format!("  /**{words} */\n  {name}: {{ takes: {takes}; gives: {gives} }};\n")
    }
}

/// The type of all commands: a member for each.
pub(super) enum Commands {}

impl TS for Commands {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;

    fn docs() -> Option<String> {
        let words =
            "Each command: what it takes and what it gives. Every one rejects with a `Problem`.";
        Some(format!("/**\n * {words}\n */\n"))
    }

    fn name(_: &Config) -> String {
        "Commands".to_owned()
    }

    fn inline(_: &Config) -> String {
        // What stands in a call is JSON: its numbers are those of the page.
        let config = Config::default().with_large_int("number");
        format!("{{\n{}}}", Self::in_typescript(&config))
    }

    fn decl(config: &Config) -> String {
        format!("type Commands = {};", Self::inline(config))
    }

    fn decl_concrete(config: &Config) -> String {
        Self::decl(config)
    }

    fn visit_dependencies(visitor: &mut impl TypeVisitor) {
        Self::visit_types(visitor);
    }

    fn output_path() -> Option<PathBuf> {
        Some("Commands.ts".into())
    }
}

/// A type and what it is made of: an import for each that has a file.
pub(super) fn visit<T: TS + 'static>(visitor: &mut impl TypeVisitor) {
    visitor.visit::<T>();
    T::visit_generics(visitor);
}

#[test]
#[allow(clippy::unwrap_used, reason = "a test says what is wrong by ending")]
fn export_bindings_commands() {
    Commands::export_all(&Config::from_env()).unwrap();
}
