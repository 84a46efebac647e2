//! The deliberate faults, as data.

/// One deliberate fault.
pub(super) struct Mistake {
    /// What is done wrong.
    pub(super) what: &'static str,
    /// Files with what stands there and what takes its place. What is not found is an error: the list must
    /// follow the code.
    pub(super) edits: &'static [(&'static str, &'static str, &'static str)],
    /// The tests that must notice: arguments of `cargo test`.
    pub(super) tests: &'static [&'static str],
}

const WORLD: &[&str] = &["-p", "engine", "--test", "world"];
const QUEUE: &[&str] = &["-p", "engine", "--test", "queue"];
const SEARCHES: &[&str] = &["-p", "engine", "--test", "searches"];
const WHOSE: &[&str] = &["-p", "engine", "--test", "whose"];
const RULES: &[&str] = &["-p", "engine", "--lib"];
const LIFE: &[&str] = &["-p", "report", "--test", "report"];
const JOURNAL: &[&str] = &["-p", "journal", "--test", "life", "--test", "sharing"];
const DAMAGE: &[&str] = &["-p", "journal", "--test", "damage"];
const JOURNAL_RULES: &[&str] = &["-p", "journal", "--lib"];
const DISK: &[&str] = &["-p", "engine", "--test", "refused_writes"];

const VERDICT: &str = "crates/engine/src/worker/verdict.rs";
const WORKER: &str = "crates/engine/src/worker/mod.rs";
const ROUND: &str = "crates/engine/src/worker/round.rs";
const DUTIES: &str = "crates/engine/src/worker/duties.rs";
const POLL: &str = "crates/engine/src/worker/poll.rs";
const REACHED: &str = "crates/engine/src/worker/reached.rs";
const HOLD: &str = "crates/engine/src/worker/hold.rs";
const GATE: &str = "crates/engine/src/gate.rs";
const PACE: &str = "crates/engine/src/pace.rs";
const STATE: &str = "crates/report/src/state.rs";
const LEASE: &str = "crates/journal/src/lease.rs";
const APPEND: &str = "crates/journal/src/append.rs";
const ASIDE: &str = "crates/journal/src/aside.rs";
const RECOVER: &str = "crates/journal/src/recover.rs";
const SALVAGE: &str = "crates/journal/src/salvage.rs";

pub(super) const MISTAKES: &[Mistake] = &[
    // --- before and after a request
    Mistake {
        what: "a report in doubt is sent again without asking",
        edits: &[(
            VERDICT,
            "Fault::Uncertain { why, evidence } => {\n            doubted(&why, evidence.map(|evidence| *evidence), context)\n        }",
            "Fault::Uncertain { why, evidence } => Verdict { event: Some(Event::Deferred { due: context.now, why: why.code().to_owned() }), issues: None, evidence: evidence.map(|evidence| *evidence), reach: Reach::Unclear },",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "a report is sent before \"sending\" is on disk",
        edits: &[
            (
                DUTIES,
                "let started = Event::SendingStarted",
                "let result = self.authority.submit(&sealed).await;\n        let started = Event::SendingStarted",
            ),
            (
                DUTIES,
                "        let result = self.authority.submit(&sealed).await;\n        let verdict = after_submit",
                "        let verdict = after_submit",
            ),
        ],
        tests: WORLD,
    },
    Mistake {
        what: "what a dead process left in \"sending\" is forgotten",
        edits: &[(
            WORKER,
            "        if !recovered {\n",
            "        if !recovered && self.pace.lease.is_zero() {\n",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "a report in doubt is queued again as if it had not left",
        edits: &[(
            STATE,
            ") => Self::Unknown {\n                attempt: *attempt,\n                since: *since,\n                asked: 0,\n                due: *due,\n                empty_since: None,\n            },",
            ") => { let _ = since; Self::Queued { attempt: *attempt, due: *due } }",
        )],
        tests: LIFE,
    },
    Mistake {
        what: "an answer without a status counts as accepted",
        edits: &[(
            VERDICT,
            "Some(match answer.processing? {",
            "Some(match answer.processing.unwrap_or(Processing::InProgress) {",
        )],
        tests: RULES,
    },
    Mistake {
        what: "a refusal is tried again",
        edits: &[(
            VERDICT,
            "event: Some(Event::Rejected),",
            "event: Some(Event::Deferred { due: context.now, why: String::new() }),",
        )],
        tests: RULES,
    },
    Mistake {
        what: "faults do not close the gate",
        edits: &[(
            "crates/engine/src/gate.rs",
            "        self.closed = Some((now, pause));",
            "        self.closed = None;",
        )],
        tests: RULES,
    },
    // --- asking
    Mistake {
        what: "the first empty search is believed",
        edits: &[
            (
                PACE,
                "asked >= self.asks_min && doubt >= doubt_min",
                "asked >= 1 && doubt >= doubt_min.min(Duration::ZERO)",
            ),
            (
                DUTIES,
                "let may_end = asked.saturating_add(1) >= self.pace.asks_min;",
                "let may_end = true;",
            ),
        ],
        tests: WORLD,
    },
    Mistake {
        what: "the age of a doubt is told by the laboratory's clock",
        edits: &[(
            DUTIES,
            "(Some(first), Some(now)) => elapsed(first, now),\n            (None, Some(_)) => Duration::ZERO,",
            "(_, Some(_)) => elapsed(since, self.clock.now()),",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "an empty answer is believed although no other report is shown",
        edits: &[(
            DUTIES,
            "Ok(if accepted { Sight::Blind } else { Sight::NothingYet })",
            "Ok(if accepted { Sight::Clear } else { Sight::NothingYet })",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "nothing shown and nothing accepted is believed as soon as all else",
        edits: &[(
            VERDICT,
            "Sight::NothingYet if pace.believes_empty(asked, doubt, false) => {",
            "Sight::NothingYet if pace.believes_empty(asked, doubt, true) => {",
        )],
        tests: RULES,
    },
    Mistake {
        what: "an empty answer is believed because reports are shown after it",
        edits: &[(DUTIES, "if before == after && together {", "if before != Sight::Unknown {")],
        tests: QUEUE,
    },
    Mistake {
        what: "reports that were shown long before an empty answer count",
        edits: &[(DUTIES, "if before == after && together {", "if before == after {")],
        tests: QUEUE,
    },
    // --- searching for changes
    Mistake {
        what: "two searches do not overlap",
        edits: &[(PACE, "poll_overlap: seconds(120)", "poll_overlap: seconds(0)")],
        tests: SEARCHES,
    },
    Mistake {
        what: "a search that shows nothing moves the watermark",
        edits: &[(
            REACHED,
            "let newest = shown().flatten().max();",
            "let newest = shown().flatten().max().or(changes.server_time);",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "a search that was cut off out of order moves the watermark",
        edits: &[(
            REACHED,
            "if newest > Some(since) && in_order =>",
            "if newest > Some(since) && (in_order || !in_order) =>",
        )],
        tests: SEARCHES,
    },
    Mistake {
        what: "a time that is still to come becomes the watermark",
        edits: &[(REACHED, ".map(|after| after.min(now.unwrap_or(after)));", ";")],
        tests: SEARCHES,
    },
    // --- whose an answer is
    Mistake {
        what: "another report's receipt is taken where both have one identifier",
        edits: &[(
            DUTIES,
            "Ok(owner.is_some_and(|owner| shares || is_sibling(owner)))",
            "Ok(owner.is_some_and(|owner| shares && (is_sibling(owner) || owner != id)))",
        )],
        tests: WHOSE,
    },
    Mistake {
        what: "of two reports in doubt with one identifier one takes what is shown",
        edits: &[
            (DUTIES, "_ if shared => Sight::Shared,", ""),
            (
                DUTIES,
                "let shared = siblings.iter().any(|sibling| sibling.may_be_delivered)",
                "let shared = siblings.is_empty() && !siblings.is_empty()",
            ),
        ],
        tests: WHOSE,
    },
    Mistake {
        what: "a number with another report's identifier is believed",
        edits: &[(
            DUTIES,
            "    answer.identifiers.is_empty()\n        || answer",
            "    !answer.identifiers.is_empty()\n        || answer.identifiers.is_empty()\n        || answer",
        )],
        tests: WHOSE,
    },
    Mistake {
        what: "what had a receipt is sent again after a restore",
        edits: &[(
            SALVAGE,
            "if !matches!(state.as_str(), \"queued\" | \"sending\" | \"unknown\") {",
            "if matches!(state.as_str(), \"held\" | \"rejected\" | \"withdrawn\" | \"superseded\") {",
        )],
        tests: DAMAGE,
    },
    Mistake {
        what: "numbers of one authority are taken for those of another",
        edits: &[(
            POLL,
            "            .filter(|report| report.endpoint == self.endpoint.name)\n            .filter_map",
            "            .filter_map",
        )],
        tests: WORLD,
    },
    // --- several processes, clocks
    Mistake {
        what: "a process that stood still sends all the same",
        edits: &[(
            DUTIES,
            "if !self.holds_surely() {",
            "if !self.holds_surely() && self.pace.lease.is_zero() {",
        )],
        tests: WORLD,
    },
    Mistake {
        what: "a stale lease may still record",
        edits: &[(
            LEASE,
            "_ => Err(JournalError::StaleLease),\n    }\n}\n\nfn write",
            "_ => Ok(()),\n    }\n}\n\nfn write",
        )],
        tests: JOURNAL,
    },
    Mistake {
        what: "a name is enough to have a lease",
        edits: &[(
            LEASE,
            "        Some(held) if held.until > now",
            "        Some(held) if held.holder == holder => held.token,\n        Some(held) if held.until > now",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "a dead holder's lease is believed for as long as the clock says",
        edits: &[(
            HOLD,
            "now.steady.saturating_sub(*since) >= self.pace.lease",
            "now.steady.saturating_sub(*since) >= Duration::MAX",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "a lease that was looked at twice is taken",
        edits: &[(
            HOLD,
            "now.steady.saturating_sub(*since) >= self.pace.lease",
            "now.steady.saturating_sub(*since) >= Duration::ZERO",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "time is told by the computer's clock alone",
        edits: &[(
            "crates/engine/src/clock.rs",
            "self.steady.saturating_sub(earlier.steady).max(Duration::from_micros(wall))",
            "Duration::from_micros(wall)",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "what a clock has put off stays put off",
        edits: &[(
            "crates/engine/src/worker/queue.rs",
            "if !set_back && last.is_some_and(|last| now.since(last) < LOOK_FAR_EVERY) {",
            "if !set_back || last.is_some() {",
        )],
        tests: QUEUE,
    },
    // --- a disk that refuses, a journal that was lost
    Mistake {
        what: "a recovery that the disk refused is not tried again",
        edits: &[(
            WORKER,
            "            self.broken_off.store(true, Ordering::Relaxed);\n            self.recover(token)?;",
            "            self.recover(token)?;",
        )],
        tests: DISK,
    },
    Mistake {
        what: "the first watermark that the disk refused is not set again",
        edits: &[(
            ROUND,
            "                self.begin_watermark(evidence.server_date)?;\n                self.knocked.store(true, Ordering::Relaxed);",
            "                self.knocked.store(true, Ordering::Relaxed);\n                self.begin_watermark(evidence.server_date)?;",
        )],
        tests: DISK,
    },
    Mistake {
        what: "a write that fails breaks off what is under way",
        edits: &[(
            ROUND,
            "Err(problem) => failure = failure.or(Some(problem)),",
            "Err(problem) => return Err(problem),",
        )],
        tests: DISK,
    },
    Mistake {
        what: "a restored journal believes that what it had not sent was not sent",
        edits: &[(
            RECOVER,
            "recovery.doubted = doubt::all(connection, now, &by)?;",
            "recovery.doubted = 0;",
        )],
        tests: DAMAGE,
    },
    Mistake {
        what: "a damaged journal is overwritten",
        edits: &[(
            ASIDE,
            "        open::rename_all(path, aside).map_err(OpenProblem::io(\"set aside\"))?;\n",
            "        let _ = path;\n",
        )],
        tests: DAMAGE,
    },
    Mistake {
        what: "what can still be read of a damaged journal is left behind",
        edits: &[(RECOVER, "if known(&report.lost.identifier)?.is_none() {", "if false {")],
        tests: DAMAGE,
    },
    // --- what is kept
    Mistake {
        what: "a status moves backwards",
        edits: &[(
            STATE,
            "(state, Event::Accepted { receipt, since, due }) if state.may_be_delivered() => {",
            "(_, Event::Accepted { receipt, since, due }) => {",
        )],
        tests: LIFE,
    },
    Mistake {
        what: "one receipt is exchanged for another",
        edits: &[(STATE, "if known == receipt)", "if !known.is_empty() || known == receipt)")],
        tests: LIFE,
    },
    Mistake {
        what: "a document is taken in under a wrong digest",
        edits: &[(
            APPEND,
            "return Err(RecordError::DigestMismatch);",
            "let _ = RecordError::DigestMismatch;",
        )],
        tests: JOURNAL,
    },
    Mistake {
        what: "completed without the authority's answer",
        edits: &[(
            APPEND,
            "return Err(RecordError::NoEvidence);",
            "let _ = RecordError::NoEvidence;",
        )],
        tests: JOURNAL,
    },
    Mistake {
        what: "what is on its way is sent once more because somebody asks for it",
        edits: &[(APPEND, "if !subject_of(connection, id)?.state.is_settled() {", "if id.0 < 0 {")],
        tests: JOURNAL,
    },
    Mistake {
        what: "an envelope is sent under another identifier than the journal has",
        edits: &[(
            DUTIES,
            ".filter(|sealed| sealed.identifier == due.identifier)",
            ".filter(|sealed| !sealed.identifier.is_empty())",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "what an ended recovery has set aside is forgotten",
        edits: &[(
            RECOVER,
            "if missing { aside::of_ended_recovery(place, &look)? } else { None }",
            "if missing { None } else { aside::of_ended_recovery(place, &look)? }",
        )],
        tests: DAMAGE,
    },
    Mistake {
        what: "a journal that cannot be replaced stays set aside",
        edits: &[(ASIDE, "let _ = open::rename_all(aside, path);", "let _ = aside;")],
        tests: JOURNAL_RULES,
    },
    Mistake {
        what: "a report that is refused for hours holds up the others",
        edits: &[(
            GATE,
            "self.suspect.filter(|_| now.since(since) >= pace.backoff_min)",
            "self.suspect.filter(|_| now.since(since) >= pace.backoff_max)",
        )],
        tests: QUEUE,
    },
    Mistake {
        what: "a refused certificate is taken for the fault of one report after the other",
        edits: &[(
            GATE,
            "before.is_none_or(|before| before == refused)",
            "before != Some(About::Question)",
        )],
        tests: QUEUE,
    },
];
