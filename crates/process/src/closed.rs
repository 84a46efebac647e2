//! No core dump, no debugger, no reading of memory by another program of the same user.

/// What is in force for this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// No core dump is written: the limit on its size is zero.
    pub no_core: bool,
    /// Other programs of the same user can neither attach to it nor read its memory. `None`: this
    /// system offers no way to ask for that without unsafe code (macOS, Windows).
    pub not_dumpable: Option<bool>,
}

/// Closes this process as far as its system permits.
pub(crate) fn close() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        // Refused only where a limit is already lower than it can be.
        let _ = setrlimit(Resource::Core, none);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Fails on no kernel that Lab Courier runs on; `state` says what holds.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// From now on, whatever this process makes is for its user only, folders and files alike: for
/// programs that keep what others sent them.
pub fn keep_files_private() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Lets this process have as many files and connections open as its user may: many shells allow
/// 1,024.
pub fn allow_many_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        // Where the system refuses, as many as before must do.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// What is in force now.
pub fn state() -> Closed {
    Closed { no_core: no_core(), not_dumpable: not_dumpable() }
}

#[cfg(unix)]
fn no_core() -> bool {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Core).current == Some(0)
}

/// Windows writes a dump only where an administrator has asked for one.
#[cfg(not(unix))]
fn no_core() -> bool {
    false
}

#[cfg(target_os = "linux")]
fn not_dumpable() -> Option<bool> {
    use rustix::process::{DumpableBehavior, dumpable_behavior};
    Some(dumpable_behavior().is_ok_and(|behavior| behavior != DumpableBehavior::Dumpable))
}

#[cfg(not(target_os = "linux"))]
fn not_dumpable() -> Option<bool> {
    None
}
