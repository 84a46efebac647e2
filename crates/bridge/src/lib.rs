//! What crosses to a person: views, problems, one function per command, and the practice profile.
//!
//! Everything here is plain data and codes; words for people are in the catalogues of the window
//! and of the headless program. The window's types are exported to TypeScript by the tests. It
//! knows no Tauri.

mod audit;
mod backups;
mod calls;
mod candidates;
mod causes;
mod certificate_files;
mod coded;
mod codes;
mod connection;
mod declaration;
mod desk;
mod difference;
mod draft;
mod edit;
mod emptied;
mod fields;
pub mod headless;
mod laboratory;
mod leading_codes;
mod limits;
mod mask;
mod messages;
mod missing;
mod opinion;
mod outcomes;
mod packages;
mod placement;
mod practice;
mod privacy;
mod problem;
#[cfg(test)]
mod reading_tests;
mod record;
mod removal;
mod results;
mod retention;
mod rows;
mod saved;
mod sections;
mod statement_pdf;
mod suggested;
mod support;
mod taken_back;
mod timeliness;
mod unfinished;
pub mod views;
mod words;
mod writing;
mod zone;

pub use calls::{Call, FolderPurpose, Purpose};
pub use candidates::{MESSAGE_CODES, REFUSALS};
pub use desk::{
    Decision, Desk, EndpointQuestion, NOTIFICATIONS, NotificationLine, Opened, Standing,
    StandingView,
};
pub use engine::KnownContent;
pub use exchange::Environment;
pub use fhir::Severity;
pub use fields::{keys, resource_types};
pub use identity::Password;
pub use mask::masked;
pub use opinion::OPINION_FAULTS;
pub use outcomes::outcomes;
pub use practice::{ENDPOINT as PRACTICE_ENDPOINT, Practice};
pub use problem::{Blame, PROBLEMS, Problem, ProblemClass, ProblemRow, REMEDIES};
pub use record::{IssueRecord, IssueSource, Opinion, Record, SuggestionRecord};
pub use report::{Action, Group, StateCode};
pub use rows::Names;
pub use saved::save_new;
pub use statement_pdf::{STATEMENT_TEXTS, Wording};
pub use support::{SUPPORT_FILES, SUPPORT_TEXTS};
pub use taken_back::TakenBack;
pub use zone::remember_zone;
