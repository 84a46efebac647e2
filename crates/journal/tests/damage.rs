//! Every kind of damage, followed by what a laboratory does then: open, recover, compare with the
//! authority, work on, hand the files over again. Nothing is lost unseen, nothing is sent twice,
//! nothing is shown as completed that is not, and the damaged files are still there.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

mod damage {
    mod attempts;
    mod backups;
    mod beside;
    mod decided;
    mod files;
    mod forgotten;
    mod laboratory;
    mod pages;
    mod reasons;
    mod replaced;
    mod restored;
    mod shared;
}
