//! Files that come late: an older version after newer ones, in the order of their names, at another
//! endpoint of the same authority, or beside a correction under another identifier.

mod clocks;
mod corrected;
mod line;
mod slips;

use engine::{Candidate, Engine, EngineDeps, ImportOptions, KnownContent, Profile, Taken};
use identity::SecretsKind;
use journal::{Evidence, EvidenceKind, Step};
use report::{Event, SubmissionId};

use super::{HOUR, house};

/// Both of its endpoints lead to one authority.
struct Laboratory {
    engine: Engine,
    _home: tempfile::TempDir,
}

impl Laboratory {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let endpoints = vec![house::named("ours"), house::named("theirs")];
        let profile = Profile::create(home.path(), SecretsKind::Practice, endpoints).unwrap();
        let engine = Engine::create(profile, None, EngineDeps::default()).unwrap();
        engine.use_endpoint("ours").await.unwrap();
        Self { engine, _home: home }
    }

    /// The version of the one report that was made on this day of November.
    async fn hand_over(&self, day: u32) -> SubmissionId {
        self.hand_over_as(day, KnownContent::Show).await
    }

    async fn hand_over_as(&self, day: u32, known: KnownContent) -> SubmissionId {
        self.take_in(made(day), ImportOptions { known, ..ImportOptions::default() }).await
    }

    async fn take_in(&self, text: String, terms: ImportOptions) -> SubmissionId {
        let terms = ImportOptions { delay_micros: HOUR, ..terms };
        match self.engine.take(&[self.look(text).await], terms).await.unwrap().taken[0] {
            Taken::New(id) => id,
            other => panic!("{other:?}"),
        }
    }

    async fn look(&self, text: String) -> Candidate {
        let found = self.engine.inspect_text("x.json".to_owned(), text.into_bytes()).await;
        found.unwrap().pop().unwrap()
    }

    fn record(&self, id: SubmissionId, event: Event) {
        let (by, now) = (self.engine.person().clone(), self.engine.now());
        let evidence = Evidence {
            kind: EvidenceKind::Search,
            at: now,
            http_status: Some(200),
            content_type: None,
            body: b"{}".to_vec(),
            fault: None,
        };
        let step = Step { evidence: Some(evidence), ..Step::new(id, event, by, now) };
        self.engine.journal().record(step).unwrap();
    }

    fn end(&self, id: SubmissionId, end: fn(String) -> Event) {
        let (since, due, receipt) = (self.engine.now(), self.engine.now(), format!("r-{}", id.0));
        self.record(id, Event::SendingStarted { since });
        self.record(id, Event::Accepted { receipt: receipt.clone(), since, due });
        self.record(id, end(receipt));
    }

    fn complete(&self, id: SubmissionId) {
        self.end(id, |receipt| Event::Completed { receipt });
    }

    fn fail(&self, id: SubmissionId) {
        self.end(id, |receipt| Event::Failed { receipt });
    }

    /// It is corrected under another document identifier, and that is completed.
    async fn correct_elsewhere(&self, id: SubmissionId) {
        let text = testkit::DocumentBuilder::new(1)
            .identifier("urn:uuid:00000000-0000-4000-8000-0000000000aa")
            .timestamp("2026-11-21T10:00:00Z")
            .json();
        let correction = self.engine.correct_after(id, self.look(text).await, HOUR).await.unwrap();
        self.complete(correction);
    }

    fn code(&self, id: SubmissionId) -> &'static str {
        self.engine.journal().state(id).unwrap().code()
    }

    fn warnings(&self, id: SubmissionId) -> Vec<String> {
        let detail = self.engine.journal().detail(id).unwrap();
        detail.messages.into_iter().map(|it| it.code).collect()
    }

    fn corrects(&self, id: SubmissionId) -> Option<SubmissionId> {
        self.engine.journal().row(id).unwrap().corrects
    }
}

fn made(day: u32) -> String {
    dated(day, &format!("Muster{day}"))
}

/// The report as of this day of November, with this name.
fn dated(day: u32, family: &str) -> String {
    let made = format!("2026-11-{day}T10:00:00Z");
    testkit::DocumentBuilder::new(1).timestamp(&made).family(family).json()
}

#[tokio::test]
async fn the_middle_one_of_three_versions_does_not_go_after_the_newest() {
    let lab = Laboratory::new().await;
    let newest = lab.hand_over(21).await;
    lab.complete(newest);
    let oldest = lab.hand_over(19).await;
    let middle = lab.hand_over(20).await;
    assert_eq!([oldest, middle].map(|id| lab.code(id)), ["held", "held"]);
    assert_eq!(lab.corrects(middle), None);
}

/// Names sort as text: the newest version comes first.
#[tokio::test]
async fn of_three_versions_in_a_folder_the_newest_goes() {
    let (lab, folder) = (Laboratory::new().await, tempfile::tempdir().unwrap());
    for (name, day) in [("bericht-10", 21), ("bericht-8", 19), ("bericht-9", 20)] {
        std::fs::write(folder.path().join(format!("{name}.json")), made(day)).unwrap();
    }
    let found = lab.engine.inspect(vec![folder.path().to_owned()]).await.unwrap();
    let terms = ImportOptions { delay_micros: HOUR, ..ImportOptions::default() };
    let taken = lab.engine.take(&found, terms).await.unwrap().taken;
    let code = |taken: Taken| match taken {
        Taken::New(id) => lab.code(id),
        other => panic!("{other:?}"),
    };
    let codes: Vec<_> = taken.into_iter().map(code).collect();
    assert_eq!(codes, ["queued", "held", "held"]);
}

/// A gateway has refused the newest version, which may be stored: what corrects it takes the place
/// of that one, and not of an older file on hold.
#[tokio::test]
async fn a_correction_takes_the_place_of_the_version_with_the_latest_date() {
    for comes_late in [false, true] {
        let lab = Laboratory::new().await;
        let newest = lab.hand_over(21).await;
        lab.record(newest, Event::SendingStarted { since: lab.engine.now() });
        lab.record(newest, Event::HeldAfterRefusals { why: "forbidden".to_owned() });
        if comes_late {
            let oldest = lab.hand_over(19).await;
            assert_eq!(lab.code(oldest), "held");
        }
        let next = lab.hand_over(22).await;
        assert_eq!(lab.corrects(next), Some(newest), "comes late: {comes_late}");
    }
}

#[tokio::test]
async fn an_older_file_at_another_endpoint_of_the_authority_is_held() {
    for elsewhere in [false, true] {
        let lab = Laboratory::new().await;
        let newer = lab.hand_over(20).await;
        lab.complete(newer);
        if elsewhere {
            lab.engine.use_endpoint("theirs").await.unwrap();
        }
        let older = lab.hand_over(19).await;
        assert_eq!(lab.code(older), "held", "elsewhere: {elsewhere}");
    }
}

#[tokio::test]
async fn a_newer_file_at_another_endpoint_tells_of_the_version_that_is_there() {
    for elsewhere in [false, true] {
        let lab = Laboratory::new().await;
        let older = lab.hand_over(19).await;
        lab.complete(older);
        if elsewhere {
            lab.engine.use_endpoint("theirs").await.unwrap();
        }
        let newer = lab.hand_over(20).await;
        assert_eq!(lab.warnings(newer), ["same-identifier-other-content"]);
        assert_eq!(lab.corrects(newer), None);
    }
}

#[tokio::test]
async fn an_older_content_that_goes_again_by_another_endpoint_tells_of_the_newer_one() {
    for elsewhere in [false, true] {
        let lab = Laboratory::new().await;
        let older = lab.hand_over(19).await;
        lab.complete(older);
        let newer = lab.hand_over(20).await;
        lab.complete(newer);
        if elsewhere {
            lab.engine.use_endpoint("theirs").await.unwrap();
        }
        let again = lab.hand_over_as(19, KnownContent::SendAgain).await;
        assert_eq!(lab.code(again), "held", "elsewhere: {elsewhere}");
    }
}

#[tokio::test]
async fn an_older_file_beside_a_correction_under_another_identifier_is_held() {
    for is_corrected in [false, true] {
        let lab = Laboratory::new().await;
        let newer = lab.hand_over(20).await;
        lab.fail(newer);
        if is_corrected {
            lab.correct_elsewhere(newer).await;
        }
        let older = lab.hand_over(19).await;
        assert_eq!(lab.code(older), "held", "corrected: {is_corrected}");
    }
}

#[tokio::test]
async fn a_newer_file_beside_a_correction_under_another_identifier_is_told() {
    let lab = Laboratory::new().await;
    let first = lab.hand_over(20).await;
    lab.fail(first);
    lab.correct_elsewhere(first).await;
    let newer = lab.hand_over(22).await;
    assert_eq!(lab.warnings(newer), ["same-identifier-other-content"]);
}

/// A person says of one endpoint that its new address is the same authority: so it is for the
/// other.
#[tokio::test]
async fn all_endpoints_of_an_authority_that_moves_move_with_it() {
    let lab = Laboratory::new().await;
    lab.engine.use_endpoint("theirs").await.unwrap();
    let id = lab.hand_over(20).await;
    lab.complete(id);
    lab.engine.use_endpoint("ours").await.unwrap();
    let moved = "https://moved.example/v1/fhir".parse().unwrap();
    lab.engine.set_endpoint_address("ours", moved, engine::SameAuthority::Yes).await.unwrap();
    let looked = lab.look(made(20)).await;
    let taken = lab.engine.take(&[looked], ImportOptions::default()).await.unwrap().taken;
    assert_eq!(taken, [Taken::Known(id)]);
}

/// It was on hold beside the newer version, and a person has withdrawn it: who hands it over once
/// more is told as well.
#[tokio::test]
async fn an_older_content_that_was_withdrawn_and_goes_again_tells_of_the_newer_one() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(19).await;
    lab.complete(older);
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let again = lab.hand_over_as(19, KnownContent::SendAgain).await;
    assert_eq!(lab.code(again), "held");
    lab.engine.withdraw(again, "a slip".to_owned()).await.unwrap();
    let once_more = lab.hand_over_as(19, KnownContent::SendAgain).await;
    assert_eq!(lab.warnings(once_more), ["older-version"]);
    assert_eq!(lab.code(once_more), "held");
}

/// Who is shown that a content is known is not shown beside what it goes again.
#[tokio::test]
async fn a_person_who_sends_an_older_content_again_is_asked_beside_the_newer_one() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(19).await;
    lab.complete(older);
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let known = KnownContent::SendAgain;
    let differing = engine::Differing::ByPerson;
    let terms = ImportOptions { known, differing, delay_micros: HOUR };
    let taken = lab.engine.take(&[lab.look(made(19)).await], terms).await.unwrap().taken;
    let Taken::New(again) = taken[0] else { panic!("{taken:?}") };
    assert_eq!(lab.warnings(again), ["older-version"]);
    assert_eq!(lab.code(again), "held");
}

/// Somebody looks at a file while another program takes in a newer version of it.
#[tokio::test]
async fn a_newer_version_that_was_taken_in_since_a_file_was_looked_at_counts() {
    let lab = Laboratory::new().await;
    let looked = lab.look(made(19)).await;
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let terms = ImportOptions { delay_micros: HOUR, ..ImportOptions::default() };
    let taken = lab.engine.take(&[looked], terms).await.unwrap().taken;
    let Taken::New(older) = taken[0] else { panic!("{taken:?}") };
    assert_eq!(lab.code(older), "held");
}

/// One of the endpoints was removed before the authority moved.
#[tokio::test]
async fn an_endpoint_that_was_removed_moves_with_its_authority() {
    let lab = Laboratory::new().await;
    lab.engine.use_endpoint("theirs").await.unwrap();
    let id = lab.hand_over(20).await;
    lab.complete(id);
    lab.engine.use_endpoint("ours").await.unwrap();
    lab.engine.remove_endpoint("theirs").await.unwrap();
    let moved = "https://moved.example/v1/fhir".parse().unwrap();
    lab.engine.set_endpoint_address("ours", moved, engine::SameAuthority::Yes).await.unwrap();
    let looked = lab.look(made(20)).await;
    let taken = lab.engine.take(&[looked], ImportOptions::default()).await.unwrap().taken;
    assert_eq!(taken, [Taken::Known(id)]);
}

#[tokio::test]
async fn an_older_content_that_was_withdrawn_before_it_ever_left_is_on_hold_when_it_goes_again() {
    let lab = Laboratory::new().await;
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let older = lab.hand_over(19).await;
    assert_eq!(lab.code(older), "held");
    lab.engine.withdraw(older, "the newer one is there".to_owned()).await.unwrap();
    let again = lab.hand_over_as(19, KnownContent::SendAgain).await;
    assert_eq!(lab.code(again), "held");
    assert_eq!(lab.warnings(again), ["older-version"]);
}

#[tokio::test]
async fn on_a_list_of_separate_reports_an_older_content_that_goes_again_is_on_hold_too() {
    let lab = Laboratory::new().await;
    let older = lab.hand_over(19).await;
    lab.complete(older);
    let newer = lab.hand_over(20).await;
    lab.complete(newer);
    let terms = ImportOptions {
        known: KnownContent::SendAgain,
        differing: engine::Differing::Apart,
        delay_micros: HOUR,
    };
    let looked = lab.look(made(19)).await;
    let taken = lab.engine.take(&[looked], terms).await.unwrap().taken;
    let Taken::New(again) = taken[0] else { panic!("{taken:?}") };
    assert_eq!(lab.code(again), "held");
    assert_eq!(lab.warnings(again), ["older-version"]);
}
