//! What may become of a report on its way to the authority.

/// What becomes of one POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Answered,
    Unreachable,
    Busy,
    Locked,
    CutBefore,
    CutAfter,
    TimeOut,
    LateDelivery,
    LateAnswer,
    Garbled,
    Bare,
    /// Stored, and answered as if the service were out of order.
    Stored503,
    /// Stored, and called a duplicate: something on the way delivered it twice.
    Conflict,
    /// A gateway before the authority answers 400 or 422 and gives no reasons.
    Gateway,
    /// Stored, and refused by a gateway on the way back.
    StoredRefused,
    /// A gateway repeats the request: stored twice, and one called the duplicate of the other
    /// later.
    Repeated,
}

/// Faults of a POST; those that leave a doubt are likelier.
pub(crate) const FATES: [Fate; 14] = [
    Fate::Unreachable,
    Fate::Busy,
    Fate::Locked,
    Fate::CutBefore,
    Fate::CutBefore,
    Fate::CutAfter,
    Fate::CutAfter,
    Fate::CutAfter,
    Fate::TimeOut,
    Fate::LateDelivery,
    Fate::LateDelivery,
    Fate::LateAnswer,
    Fate::Garbled,
    Fate::Bare,
];
