//! The table of the commands as the page reads it: what each takes, what it gives, and what is
//! asked again after it.

use std::path::PathBuf;

use ts_rs::{Config, TS, TypeVisitor};

/// One command.
pub(super) struct Command {
    pub(super) words: &'static [&'static str],
    pub(super) name: &'static str,
    /// Names and types of its arguments.
    pub(super) takes: Vec<(&'static str, String)>,
    pub(super) gives: String,
    /// Whether its answer may change with the journal.
    pub(super) follows_journal: bool,
    /// What is to be asked again after it: names of commands, and `journal` for those that follow
    /// it.
    pub(super) changes: Vec<&'static str>,
}

/// Whether a row follows the journal.
macro_rules! follows {
    (journal) => {
        true
    };
    () => {
        false
    };
}
pub(super) use follows;

/// Declares what a row may name as changed: every command, and the journal. Another name does not
/// compile.
macro_rules! tags {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, dead_code, reason = "named like the commands, all of them")]
        #[derive(Clone, Copy)]
        enum Tag { journal, $($name),* }

        impl Tag {
            const fn name(self) -> &'static str {
                match self {
                    Self::journal => "journal",
                    $( Self::$name => stringify!($name), )*
                }
            }
        }
    };
}
pub(super) use tags;

impl Command {
    pub(super) fn in_typescript(&self) -> String {
        let Self { words, name, takes, gives, .. } = self;
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
        let commands: String = Self::all(&config).iter().map(Command::in_typescript).collect();
        format!("{{\n{commands}}}")
    }

    fn decl(config: &Config) -> String {
        // What of the cache a command makes stale stands in the same file: a new command changes
        // one file of those that are written.
        format!("type Commands = {};\n\n{}", Self::inline(config), stale(&Self::all(config)))
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

/// What of the window's cache is asked again, as text of TypeScript: for each command, the commands
/// whose answers it changes.
fn stale(commands: &[Command]) -> String {
    let list = |names: &[&str]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        format!("[{}]", quoted.join(", "))
    };
    let follow: Vec<&str> =
        commands.iter().filter(|it| it.follows_journal).map(|it| it.name).collect();
    let row = |command: &Command| {
        let changed = command.changes.iter();
        let changed: Vec<&str> = changed
            .flat_map(|name| if *name == "journal" { follow.clone() } else { vec![*name] })
            .collect();
        format!("  {}: {},\n", command.name, list(&changed))
    };
    let rows: String = commands.iter().map(row).collect();
    format!(
        "/**\n * What may be another answer after each change of the journal.\n */\n\
         export const FOLLOWS_JOURNAL = {} as const;\n\n\
         /**\n * What is asked again after a command.\n */\n\
         export const STALE = {{\n{rows}}} as const;",
        list(&follow)
    )
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
