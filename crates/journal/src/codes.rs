//! Codes of our own messages by which the journal itself knows a report again.

/// Code of the warning on a report that waits for the comparison.
pub(crate) const NOT_COMPARED: &str = "journal-not-compared";
/// Code of the warning on a report that the authority may have already; parameter: `receipt`.
pub const MAY_BE_KNOWN: &str = "authority-may-have-it";
/// Code of the warning on a report of which people had decided otherwise before the journal was
/// restored.
pub(crate) const DECIDED: &str = "decided-before-restore";
