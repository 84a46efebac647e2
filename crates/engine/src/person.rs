//! Who acts: the system user on this computer.

use report::Person;

/// The system user, `name@computer`.
pub fn system_user() -> Person {
    let user = whoami::username().unwrap_or_else(|_| "unknown".to_owned());
    let computer = whoami::hostname().unwrap_or_else(|_| "unknown".to_owned());
    Person(format!("{user}@{computer}"))
}

/// The background worker, as it stands in timelines.
pub(crate) fn worker() -> Person {
    Person("labcourier".to_owned())
}
