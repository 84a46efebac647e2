//! What the window may ask: every command by name, with its arguments read strictly. The window's
//! side is not trusted: an argument that is missing, unknown, of another type or too large is a
//! [`Problem`], never more.

mod audited;
mod permission;
#[cfg(test)]
mod typescript;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::audit::AuditEntry;
use crate::desk::statement::unsaved_statement;
use crate::desk::{Decision, Desk, HandedList};
use crate::limits;
use crate::packages::RulesEntry;
use crate::problem::Problem;
use crate::rows::Names;
use crate::views::{
    AskQuery, AskedView, BatchView, CaView, CameBackView, CandidateView, CauseFieldView,
    CertificateView, ChosenView, DeadlineView, DeadlinesView, DecidedView, DetailView, DraftView,
    EndpointInput, EndpointView, FixView, HandedItem, HandedView, IntakeView, LeftView,
    ListCountsView, ListQuery, LostListView, LyingView, MoveView, NamedCorrection, OpenedView,
    PageView, PreferencesView, ProbeView, RemovedView, RestorePlanView, RestoredView,
    RetentionPlanView, RulesPlanView, SafekeepingView, SavedView, StatementView, StatisticsView,
    StatusView, StoredCertificateView, SuggestedView, SupportFile, TakingView, UnfinishedFix,
    UpdatesView, WatchedFilesView,
};

/// What a file dialog is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(export)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Purpose {
    Reports,
    Certificate,
    Ca,
    Rules,
}

/// What a folder dialog is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "lowercase")]
#[ts(export)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FolderPurpose {
    Reports,
    Watched,
    Backups,
}

/// Which notice a person has read: the code of what it tells.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(transparent)]
#[ts(export)]
pub struct NoticeCode(#[ts(as = "crate::problem::ProblemCode")] String);

/// Declares the commands once: their names, their arguments and how these are read, where and when
/// they may be asked, who answers them, and what all of it is in TypeScript.
macro_rules! calls {
    ($desk:ident; $(
        $(#[doc = $words:literal])*
        $name:ident => $variant:ident { $($argument:ident: $type:ty),* } -> $answer:ty:
            $room:ident room $(if $when:expr)?,
            $(while $locked:ident,)? $(follows $followed:ident,)? $(changes [$($changed:ident),*],)?
            { $($sample:tt)* } $(= $how:expr)?;
    )*) => {
        /// A command of the window with its arguments, all of the right type and within bounds.
        #[derive(Clone)]
        #[allow(missing_docs, reason = "the arguments are those of the functions of `Desk`")]
        pub enum Call {
            $( $(#[doc = $words])* $variant { $($argument: $type),* }, )*
        }

        impl Call {
            /// Every command with the names of its arguments.
            pub const COMMANDS: &[(&str, &[&str])] =
                &[$( (stringify!($name), &[$(stringify!($argument)),*]) ),*];

            /// Reads a call. `None` for a name that no command has.
            ///
            /// # Errors
            /// `argument-invalid`: missing, unknown (then called `arguments`) or of another type;
            /// `argument-too-large`.
            pub fn read(command: &str, arguments: Value) -> Option<Result<Self, Problem>> {
                match command {
                    $( stringify!($name) => Some((|| {
                        let arguments = Arguments::of(arguments)?;
                        $( let (arguments, $argument) = arguments.take(stringify!($argument))?; )*
                        arguments.end()?;
                        Ok(Self::$variant { $($argument),* })
                    })()), )*
                    _ => None,
                }
            }

            /// Whether a locked window may ask it (decision 0005).
            pub(crate) fn is_for_the_locked(&self) -> bool {
                match self {
                    $( Self::$variant { .. } => locked!($($locked)?), )*
                }
            }

            /// Whether it is answered only in the room in which the page believes to be.
            #[allow(unused_variables, reason = "few rows look at an argument")]
            fn is_of_one_room(&self) -> bool {
                match self {
                    $( Self::$variant { $($argument),* } => room!($room $(, $when)?), )*
                }
            }

            #[allow(unused_variables, reason = "what the shell answers is not looked at here")]
            async fn answered_by(self, $desk: &Desk) -> Result<String, Problem> {
                match self {
                    $( Self::$variant { $($argument),* } => {
                        let answer: Result<$answer, Problem> =
                            answer!($desk.$name($($argument),*) $(, $how)?);
                        json_of(answer)
                    } )*
                }
            }
        }

        #[cfg(test)]
        typescript::tags!($($name)*);

        #[cfg(test)]
        impl typescript::Commands {
            fn all(config: &ts_rs::Config) -> Vec<typescript::Command> {
                vec![$( typescript::Command {
                    words: &[$($words),*],
                    name: stringify!($name),
                    follows_journal: typescript::follows!($($followed)?),
                    changes: vec![$($(Tag::$changed.name()),*)?],
                    takes: vec![$( (stringify!($argument), <$type as TS>::name(config)) ),*],
                    gives: <$answer as TS>::name(config),
                } ),*]
            }

            fn visit_types(visitor: &mut impl ts_rs::TypeVisitor) {
                $(
                    $( typescript::visit::<$type>(visitor); )*
                    typescript::visit::<$answer>(visitor);
                )*
            }
        }
    };
}

/// What answers a command: what was said of it, or else the function of its name.
macro_rules! answer {
    ($desk:ident.$name:ident($($argument:ident),*)) => { $desk.$name($($argument),*).await };
    ($desk:ident.$name:ident($($argument:ident),*), $how:expr) => { $how };
}

/// What a row says of its room. There is no word for none.
macro_rules! room {
    (any) => {
        false
    };
    (one) => {
        true
    };
    (one, $when:expr) => {
        $when
    };
}

/// What a row says of a locked window.
macro_rules! locked {
    (locked) => {
        true
    };
    () => {
        false
    };
}

include!("calls/table.rs");

impl Call {
    /// Takes out of the arguments which room's reports a call names by number (`StatusView::room`),
    /// if it says so.
    ///
    /// # Errors
    /// `argument-invalid` where it is no number of a room.
    pub fn take_room(arguments: &mut Value) -> Result<Option<u32>, Problem> {
        let said = arguments.as_object_mut().and_then(|arguments| arguments.remove("room"));
        let read = |room| serde_json::from_value(room).map_err(|_| limits::invalid("room"));
        said.map(read).transpose()
    }
}

/// The arguments of a call that are not read yet.
struct Arguments(Map<String, Value>);

impl Arguments {
    fn of(arguments: Value) -> Result<Self, Problem> {
        match arguments {
            Value::Object(arguments) => Ok(Self(arguments)),
            _ => Err(limits::invalid("arguments")),
        }
    }

    fn take<T: DeserializeOwned>(mut self, name: &str) -> Result<(Self, T), Problem> {
        let value = self.0.remove(name).ok_or_else(|| limits::invalid(name))?;
        limits::json(name, &value)?;
        let read = serde_json::from_value(value).map_err(|_| limits::invalid(name))?;
        Ok((self, read))
    }

    fn end(self) -> Result<(), Problem> {
        if self.0.is_empty() { Ok(()) } else { Err(limits::invalid("arguments")) }
    }
}

impl Desk {
    /// Answers a call, as JSON text. The dialogs are the shell's: here they choose nothing. What
    /// takes in or names reports is answered in the room that the page believes to be in, from its
    /// beginning to its end.
    ///
    /// # Errors
    /// What the function of the same name says; `room-changed`.
    pub async fn answer(&self, call: Call, room: Option<u32>) -> Result<String, Problem> {
        self.permits(&call)?;
        let desk = if call.is_of_one_room() { self.in_room(room)? } else { self.clone() };
        self.spend_yes_to(&call)?;
        let is_for_the_locked = call.is_for_the_locked();
        // In practice it is play what is changed of the room alone.
        let is_play = call.is_of_one_room() && desk.is_in_practice();
        let change = call.change().filter(|_| !is_play);
        let answer = call.answered_by(&desk).await?;
        if let Some(change) = change {
            desk.note_change(change.told_by(&answer)).await?;
        }
        // Locked meanwhile: what was read then is not for whoever sits there now, whatever it is.
        if !is_for_the_locked && self.is_locked() {
            return Err(Problem::new("window-locked", &[], "lock"));
        }
        Ok(answer)
    }
}

/// A view as JSON. Views are plain data with names as keys: writing them does not fail.
fn json_of<T: serde::Serialize>(view: Result<T, Problem>) -> Result<String, Problem> {
    serde_json::to_string(&view?).map_err(|_| Problem::new("process-ended", &[], "view"))
}
