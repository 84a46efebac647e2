//! In whose name the program writes by itself.

use report::Person;

/// The program, where no person and no worker acts: a recovery, or what follows from another step.
pub(crate) fn program() -> Person {
    Person("labcourier".to_owned())
}
