//! What keeps a journal: automatic backups, notices, and what a restore left to be done.

use std::path::Path;

use fhir::Instant;
use report::{Person, SubmissionId};

use crate::copies::{backup, pages};
use crate::events::{compared, doubt, guard, known, lost, standing, succession, versions};
use crate::recovery::{found, home};
use crate::store::writer::Effect;
use crate::store::{notice, rows, sql};
use crate::{
    BackedUp, EventTimes, Find, FoundReport, Journal, JournalError, LostReport, Notice,
    OpenProblem, OtherVersions, Pending, Reconciled, RecordError, Unreconciled,
};

impl Journal {
    /// Writes what has changed since the newest backup of a folder of automatic ones (or all, where
    /// there is none to build on), verifies it, gives it a name that says when, and only then
    /// removes those that need not be kept: the newest three stay, and the last of each of the last
    /// 7 days and 4 weeks that have one, with what they build on. Others write and read meanwhile.
    /// [`JournalError::Busy`] where another process is making one, or others have been reading an
    /// older state all the while.
    pub fn back_up_into(&self, folder: &Path, now: Instant) -> Result<BackedUp, JournalError> {
        backup::private_folder(folder).map_err(JournalError::io("back up"))?;
        pages::take(&self.0.place, folder, now, |view| self.read_anew(view))
    }

    /// What stood beside the journal to show that nothing is missing was gone or unreadable when it
    /// was opened; it has been made anew.
    pub fn lacked_register(&self) -> bool {
        self.0.unregistered
    }

    /// What a person has to be told until they have read it.
    pub fn notices(&self) -> Result<Vec<Notice>, JournalError> {
        self.read(notice::all)
    }

    /// Tells a person; takes the place of an earlier notice of the same code.
    pub fn put_notice(&self, notice: Notice) -> Result<(), JournalError> {
        self.write(Effect::Seen, move |c| notice::put(c, &notice)).wait()
    }

    /// It is over for what it is about; the others of its code stay.
    pub fn remove_notice_about(&self, code: &str, about: &str) -> Result<(), JournalError> {
        let (code, about) = (code.to_owned(), about.to_owned());
        self.write(Effect::Seen, move |c| notice::remove_about(c, &code, &about)).wait()
    }

    /// A person has read all of this code, or they are over.
    pub fn remove_notice(&self, code: &str) -> Result<(), JournalError> {
        let code = code.to_owned();
        let remove = move |c: &_| {
            guard::notice_read(c, &code)?;
            notice::remove(c, &code)
        };
        self.write(Effect::Seen, remove).wait()
    }

    /// Reports that were taken in before a restore, and whose content is not here any more. When
    /// their content comes again, they are asked for before they are sent.
    pub fn lost_reports(&self) -> Result<Vec<LostReport>, JournalError> {
        self.read(lost::all)
    }

    /// Since when a report that is in doubt since then may have been sent, perhaps with a
    /// certificate that was replaced meanwhile: what a restore has put in doubt, at any time.
    pub fn may_be_sent_since(
        &self,
        id: SubmissionId,
        since: Instant,
        now: Instant,
    ) -> Result<Instant, JournalError> {
        self.read(|c| doubt::may_be_sent_since(c, id, since, now))
    }

    /// When the journal was restored, where a report may have had another life between the backup
    /// and then.
    pub fn restored_since(&self, id: SubmissionId) -> Result<Option<Instant>, JournalError> {
        self.read(|c| doubt::restored_since(c, id))
    }

    /// Corrections of a report that were withdrawn, also those of such corrections: a request of
    /// one may have arrived.
    pub fn withdrawn_in_place_of(
        &self,
        id: SubmissionId,
    ) -> Result<Vec<SubmissionId>, JournalError> {
        self.read(|c| succession::withdrawn_in_place_of(c, id))
    }

    /// Other submissions of the same content to the same authority that were withdrawn: a request
    /// of one may have arrived.
    pub fn withdrawn_of_the_content_of(
        &self,
        id: SubmissionId,
    ) -> Result<Vec<SubmissionId>, JournalError> {
        self.read(|c| known::withdrawn_of_content(c, id))
    }

    /// Other versions of its document at the same authority, about the same case, that count before
    /// a report is sent.
    pub fn other_versions_of(&self, id: SubmissionId) -> Result<OtherVersions, JournalError> {
        self.read(|c| versions::before_sending(c, id))
    }

    /// The restore after which not everything has been compared with the authority yet.
    pub fn unreconciled(&self) -> Result<Option<Unreconciled>, JournalError> {
        self.read(compared::unreconciled)
    }

    /// The same for one endpoint, by its id, also where everything was compared with all others
    /// before it was added; `None` where it has shown everything already.
    pub fn unreconciled_at(
        &self,
        endpoint: &str,
        now: Instant,
    ) -> Result<Option<Unreconciled>, JournalError> {
        self.read(|c| compared::unreconciled_at(c, endpoint, now))
    }

    /// What the journal may have forgotten: between the end of the restored state and the restore,
    /// also once that was compared. `None` where it was never restored, or by a program that did
    /// not note it.
    pub fn forgotten(&self) -> Result<Option<Unreconciled>, JournalError> {
        self.read(compared::forgotten)
    }

    /// The identifiers of what is on hold at an endpoint, by its id, since before a restore: it may
    /// have been released and sent since the backup. The newest first.
    pub fn on_hold_since_restore(&self, endpoint: &str) -> Result<Vec<String>, JournalError> {
        self.read(|c| doubt::on_hold(c, endpoint))
    }

    /// The time from which the comparison after a restore counts, where the clock was ahead at the
    /// restore.
    pub fn set_unreconciled_from(&self, now: Instant) -> Result<(), JournalError> {
        self.write(Effect::Unseen, move |c| compared::count_from(c, now)).wait()
    }

    /// Whether this journal was restored once.
    pub fn was_restored(&self) -> Result<bool, JournalError> {
        self.read(|c| Ok(doubt::mark(c)?.is_some()))
    }

    /// One endpoint, by its id, has shown everything: what goes there waits for no other.
    pub fn set_reconciled_at(&self, endpoint: &str) -> Result<(), JournalError> {
        let endpoint = endpoint.to_owned();
        self.write(Effect::Seen, move |c| compared::reconciled_at(c, &endpoint)).wait()
    }

    /// Everything has been compared.
    pub fn set_reconciled(&self) -> Result<(), JournalError> {
        self.write(Effect::Unseen, standing::reconciled).wait()
    }

    /// A report that the authority shows: taken in with its status where the journal does not know
    /// it, put in doubt where the journal believes that it was not sent.
    pub fn reconcile(&self, found: FoundReport) -> Result<Reconciled, RecordError> {
        self.reconcile_async(found).wait()
    }

    /// [`Self::reconcile`], to be awaited.
    pub fn reconcile_async(&self, found: FoundReport) -> Pending<Reconciled, RecordError> {
        match found::Prepared::new(found) {
            Ok(prepared) => self.write(Effect::Seen, move |c| found::reconcile(c, &prepared)),
            Err(error) => Pending::ready(Err(error)),
        }
    }

    /// Notes what a submission says (`fhir::Tree::canonical_digest_of`), where that was not known
    /// yet: it was taken in by an older program.
    pub fn set_canonical(&self, id: SubmissionId, canonical: &str) -> Result<(), JournalError> {
        let canonical = canonical.to_owned();
        self.write(Effect::Unseen, move |c| known::set_canonical(c, id, &canonical)).wait()
    }

    /// Whether what is taken in now waits until the authority has been asked for its document, or
    /// something still does that was taken in before: after a restore until everything was
    /// compared; for thirty days where no register accompanied it, and in the copy of a profile,
    /// there for longer if nobody has read that it is one.
    pub fn is_guarded(&self, now: Instant) -> Result<bool, JournalError> {
        self.read(|c| guard::is_needed(c, now))
    }

    /// Lets the thirty days count; to be called again and again. At most a day counts from one call
    /// to the next, so that a clock that is set forward lets nothing go.
    pub fn count_guarded_time(&self, now: Instant) -> Result<(), JournalError> {
        self.write(Effect::Unseen, move |c| standing::count_time(c, now)).wait()
    }

    /// Our clock was set ahead by so much, which has not passed: what was sent before a restore, or
    /// by another copy of the profile, is not shown sooner for that.
    pub fn clock_set_ahead(&self, by: std::time::Duration) -> Result<(), JournalError> {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.write(Effect::Unseen, move |c| guard::clock_set_ahead(c, by)).wait()
    }

    /// The authority of an endpoint shows nothing of what we know it to have, so that its answers
    /// say nothing: what waits may be released by a person.
    pub fn asked_in_vain(&self, endpoint: &str) -> Result<(), JournalError> {
        let endpoint = endpoint.to_owned();
        self.write(Effect::Seen, move |c| guard::asked_in_vain(c, &endpoint)).wait()
    }

    /// The same of one report: the authority does not take the question for it.
    pub fn one_asked_in_vain(&self, id: SubmissionId) -> Result<(), JournalError> {
        self.write(Effect::Seen, move |c| guard::in_vain(c, id)).wait()
    }

    /// Whether reports may have been sent of which nothing here knows, so that only the authority
    /// can tell.
    pub fn may_have_forgotten(&self) -> Result<bool, JournalError> {
        self.read(standing::may_have_forgotten)
    }

    /// The authority was asked for a report that waits, or that a restore or a copying has put in
    /// doubt, and does not show it: whether it may have it all the same, because it shows things as
    /// late as this, or because the other copy of the profile sends until a person has read of it.
    pub fn may_be_shown_late(
        &self,
        id: SubmissionId,
        now: Instant,
        lag: std::time::Duration,
    ) -> Result<bool, JournalError> {
        let lag = i64::try_from(lag.as_micros()).unwrap_or(i64::MAX);
        self.write(Effect::Unseen, move |c| guard::may_be_shown_late(c, id, now, lag)).wait()
    }

    /// Whether the journal knows what a submission says, so that the same report would be
    /// recognised in other bytes.
    pub fn knows_content(&self, id: SubmissionId) -> Result<bool, JournalError> {
        let known = self.read(|c| rows::one(c, sql::KNOWS_CONTENT, [id.0], |row| row.get(0)))?;
        Ok(known.unwrap_or(false))
    }

    /// Reports to an endpoint that wait for that, the newest first: to be decided in this order.
    pub fn guarded(&self, endpoint: &str) -> Result<Vec<SubmissionId>, JournalError> {
        self.read(|c| guard::waiting(c, endpoint))
    }

    /// Whether the same content is not to be sent beside this submission: its end is not known yet,
    /// or that of what has taken its place is not, or that has reached the authority.
    pub fn rules_out_another(&self, id: SubmissionId) -> Result<bool, JournalError> {
        self.read(|c| known::rules_out_another(c, id))
    }

    /// Whether another report can take the place of this one now.
    pub fn is_correctable(&self, id: SubmissionId) -> Result<bool, JournalError> {
        self.read(|c| succession::is_correctable(c, id))
    }

    /// Whether a report waits for that, and a person's release of it does too.
    pub fn release_waits(&self, id: SubmissionId) -> Result<bool, JournalError> {
        self.read(|c| guard::release_waits(c, id))
    }

    /// Whether a report is held for nothing but that: it is sent by itself once the authority turns
    /// out not to have it.
    pub fn goes_by_itself(&self, id: SubmissionId) -> Result<bool, JournalError> {
        self.read(|c| guard::goes_by_itself(c, id))
    }

    /// The authority was asked for the document of a report that waits: it may have it under this
    /// receipt, then the report stays held for a person; or it has not, then the report is sent,
    /// unless it is held for errors of its own. One whose place another is to take waits until that
    /// is withdrawn or has arrived; in the copy of a profile, one from a watched folder until a
    /// person has read that it is one.
    pub fn decide_guarded(
        &self,
        id: SubmissionId,
        receipt: Option<&str>,
        by: &Person,
        now: Instant,
    ) -> Result<(), RecordError> {
        let (receipt, by) = (receipt.map(str::to_owned), by.clone());
        let decide = move |c: &_| guard::decide(c, id, receipt.as_deref(), &by, now);
        self.write(Effect::Seen, decide).wait()
    }

    /// Notes on which computer, and in which file, the journal lives, and its register. Where that
    /// was another, the profile was copied, and the other copy may have gone on: whatever may be
    /// sent is in doubt then, what is taken in is guarded, and the number of what is in doubt is
    /// given.
    pub fn settle_on(
        &self,
        find: Find<'_>,
        by: &Person,
        now: Instant,
    ) -> Result<Option<u64>, OpenProblem> {
        let Some(home) = find(self.path()) else { return Ok(None) };
        let by = by.clone();
        let settled = self.write(Effect::Seen, move |c| home::settle(c, &home, &by, now));
        let doubted = settled.wait().map_err(|error| match error {
            RecordError::Journal(error) => backup::of_journal(error),
            _ => OpenProblem::WrongKeyOrDamaged,
        })?;
        home::settle_register(&self.0.place, find);
        Ok(doubted)
    }

    /// The times that the events after this number have (0: all of them); a clock that was wrong
    /// may have given them. Reads every one of them.
    pub fn event_times(&self, after: i64) -> Result<Option<EventTimes>, JournalError> {
        let times = self.read(|c| {
            rows::one(c, sql::EVENT_TIMES, [after], |row| {
                let earliest: Option<i64> = row.get(0)?;
                let Some(earliest) = earliest else { return Ok(None) };
                Ok(Some(EventTimes {
                    earliest: Instant(earliest),
                    latest: Instant(row.get(1)?),
                    last: row.get(2)?,
                }))
            })
        })?;
        Ok(times.flatten())
    }

    /// Number of the last event.
    pub fn events(&self) -> Result<u64, JournalError> {
        let last = self.read(|c| rows::one(c, sql::LAST_EVENT, [], |row| row.get::<_, i64>(0)))?;
        Ok(last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0))
    }
}
