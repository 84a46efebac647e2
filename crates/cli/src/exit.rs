//! Exit codes, the part of the contract that every script reads.

use std::process::ExitCode;

use bridge::{Problem, ProblemClass};

/// How the program ends. The greater one wins where several apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// 0: all well.
    Well,
    /// 5: a final status is not known when the command ends; only where that was asked for.
    Unverified,
    /// 1: something needs a person.
    Person,
    /// 2: wrong usage.
    Usage,
    /// 3: the authority cannot be reached or refuses the certificate, or another program has not
    /// delivered yet.
    Authority,
    /// 4: journal or keychain cannot be opened.
    Locked,
}

impl Exit {
    pub(crate) fn of(problem: &Problem) -> Self {
        match (problem.code.as_str(), problem.class()) {
            // A number that does not exist and a step that the state does not allow are asked for
            // wrongly.
            ("no-such-submission" | "action-not-possible", _) => Self::Usage,
            // The file that opens the vault.
            ("file-unreadable" | "passphrase-file-open", _) if problem.trace == "passphrase" => {
                Self::Locked
            }
            (_, ProblemClass::Person) => Self::Person,
            (_, ProblemClass::Usage) => Self::Usage,
            (_, ProblemClass::Authority) => Self::Authority,
            (_, ProblemClass::Locked) => Self::Locked,
        }
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Unverified => 5,
            Self::Person => 1,
            Self::Usage => 2,
            Self::Authority => 3,
            Self::Locked => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
