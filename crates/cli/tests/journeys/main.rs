//! The real program against a real authority on loopback.

mod contract;
mod faults;
mod intake;
mod place;
mod practice;
