//! Lists that are handed over: what goes, in which order, and what is told where something comes in
//! between.

mod between;

use identity::SecretsKind;
use journal::{Filter, Step};
use report::{Event, Person, SubmissionId};
use testkit::DocumentBuilder;

use super::super::Desk;
use super::steps::Handing;
use super::{HandedList, List, UNSEEN};
use crate::KnownContent;
use crate::views::{HandedItem, HandedView, NamedCorrection, Verdict};

/// A desk of practice that sends nothing, and a folder for files.
struct Bench {
    folder: tempfile::TempDir,
    desk: Desk,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("desk");
        let desk = Desk::open_with(&root, SecretsKind::Practice).await.unwrap();
        Self { folder, desk }
    }

    fn file(&self, name: &str, content: &str) -> String {
        let file = self.folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        file.display().to_string()
    }

    /// All that lies there, for the endpoint in use, nothing of it again.
    async fn list(&self, items: Vec<HandedItem>) -> HandedList {
        let endpoint = self.desk.status().await.unwrap().endpoint_id;
        assert!(!endpoint.is_empty());
        let (again, corrections) = (Vec::new(), Vec::new());
        let (left_out, beside, shown, separate) = (Vec::new(), Vec::new(), None, false);
        HandedList { items, again, corrections, shown, left_out, beside, separate, endpoint }
    }

    /// Sends a content alone, and the authority rejects it.
    async fn rejected(&self, name: &str, content: &str) -> i64 {
        let path = self.file(name, content);
        let sent = self.desk.send_files(vec![path], KnownContent::Show).await.unwrap();
        let id = sent.submissions[0].unwrap();
        let since = self.desk.engine().now();
        self.record(id, Event::SendingStarted { since });
        self.record(id, Event::Rejected);
        id
    }

    fn record(&self, id: i64, event: Event) {
        let engine = self.desk.engine();
        let step = Step::new(SubmissionId(id), event, Person("test".to_owned()), engine.now());
        engine.journal().record(step).unwrap();
    }

    fn state(&self, id: i64) -> &'static str {
        self.desk.engine().journal().state(SubmissionId(id)).unwrap().code()
    }

    fn all(&self) -> u64 {
        self.desk.engine().journal().count(&Filter::default(), 100).unwrap()
    }

    fn notice(&self) -> Option<(String, String)> {
        let notices = self.desk.engine().journal().notices().unwrap();
        let found = notices.into_iter().find(|notice| notice.code == UNSEEN)?;
        Some((found.params["count"].clone(), found.params["attention"].clone()))
    }

    /// A second connection to the journal, to make it fail.
    fn raw(&self) -> rusqlite::Connection {
        let engine = self.desk.engine();
        let key = engine.secrets().journal_key().unwrap();
        let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        let raw = rusqlite::Connection::open(engine.profile().journal_file()).unwrap();
        raw.execute_batch(&format!("PRAGMA key = \"x'{hex}'\"")).unwrap();
        raw
    }
}

fn at(path: &str) -> HandedItem {
    HandedItem::File { path: path.to_owned() }
}

fn pasted(text: &str) -> HandedItem {
    HandedItem::Text { name: "pasted".to_owned(), text: text.to_owned() }
}

fn ids(view: &HandedView) -> Vec<Vec<Option<i64>>> {
    view.items.iter().map(|item| item.submissions.clone()).collect()
}

/// The report of a person, as it was and with a slip mended: one document identifier, one case.
fn twice(seed: u64) -> (String, String) {
    let before = DocumentBuilder::new(seed);
    (before.json(), before.family("Mended").json())
}

async fn digest(desk: &Desk, content: &str) -> String {
    let looked = desk.inspect_text(content.to_owned(), "looked".to_owned()).await.unwrap();
    looked[0].digest.clone()
}

/// Somebody has begun to correct a report, and a file corrects it as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_would_take_the_place_of_a_report_with_a_draft_says_so() {
    let bench = Bench::new().await;
    let (before, after) = twice(1);
    let id = bench.rejected("before.json", &before).await;
    let told = async || {
        let looked = bench.desk.inspect_text(after.clone(), "after".to_owned()).await.unwrap();
        let corrects = looked[0].corrects.as_ref().unwrap();
        (corrects.id, corrects.possible, corrects.draft)
    };
    assert_eq!(told().await, (id, true, false));
    bench.desk.keep_draft(id, before.replace("\"final\"", "\"amended\"")).await.unwrap();
    assert_eq!(told().await, (id, true, true));
    bench.desk.stop().await;
}

/// What is decided about a report leaves another version of it alone, which waits: a person is
/// told.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_tells_of_its_other_version_that_waits() {
    let bench = Bench::new().await;
    bench.desk.set_paused(true).await.unwrap();
    let (before, after) = twice(1);
    let id = bench.rejected("before.json", &before).await;
    let told = async || bench.desk.detail(id).await.unwrap().waiting_versions;
    assert!(told().await.is_empty());
    let list = bench.list(vec![at(&bench.file("after.json", &after))]).await;
    let view = bench.desk.hand_over(HandedList { separate: true, ..list }).await.unwrap();
    assert_eq!(ids(&view), [[Some(2)]]);
    assert_eq!((bench.state(id), bench.state(2)), ("rejected", "queued"));
    assert_eq!(told().await, [2]);
    bench.desk.withdraw(2, "not this one".to_owned()).await.unwrap();
    assert!(told().await.is_empty());
    bench.desk.stop().await;
}

/// A report that the authority rejected is to go again, and the same list brings the file that
/// corrects it, whatever comes first: the authority must not get both.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_does_not_go_again_beside_its_correction() {
    for is_again_first in [true, false] {
        for is_known_by_now in [true, false] {
            let bench = Bench::new().await;
            let (before, after) = twice(1);
            let id = bench.rejected("before.json", &before).await;
            let mut items = vec![pasted(&before), at(&bench.file("after.json", &after))];
            if !is_again_first {
                items.reverse();
            }
            let mut list = bench.list(items).await;
            list.again = vec![digest(&bench.desk, &before).await];
            if is_known_by_now {
                // As the page names it; else the core finds it by itself.
                let digest = digest(&bench.desk, &after).await;
                list.corrections = vec![NamedCorrection { id, digest }];
            }
            let mut handing = Handing::begin(&bench.desk, List::of(list).unwrap()).await.unwrap();
            assert!(handing.step().await);
            // The correction is held back until the other one would have gone.
            assert_eq!(bench.all(), if is_again_first { 1 } else { 2 });
            while handing.step().await {}
            let view = handing.end();
            assert_eq!(bench.all(), 2, "one new report, {is_again_first} {is_known_by_now}");
            let (again, correction) = if is_again_first { (0, 1) } else { (1, 0) };
            assert_eq!(view.items[again].files[0].verdict, Verdict::Known);
            assert_eq!(view.items[again].submissions, [None]);
            let new = view.items[correction].submissions[0].unwrap();
            assert_eq!((bench.state(id), bench.state(new)), ("superseded", "queued"));
            bench.desk.stop().await;
        }
    }
}

/// The same where the report was sent again before with another content: an earlier version of what
/// is corrected now.
#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_version_does_not_go_again_beside_a_correction() {
    let bench = Bench::new().await;
    let (first, second) = twice(1);
    let third = DocumentBuilder::new(1).family("Mended again").json();
    bench.rejected("first.json", &first).await;
    bench.rejected("second.json", &second).await;
    assert_eq!((bench.state(1), bench.state(2)), ("superseded", "rejected"));
    let mut list = bench.list(vec![pasted(&first), pasted(&third)]).await;
    list.again = vec![digest(&bench.desk, &first).await];
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[None], [Some(3)]]);
    assert_eq!(bench.state(2), "superseded");
    bench.desk.stop().await;
}

/// What can take the place of no report any more is not sent beside it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_as_a_correction_goes_as_nothing_else() {
    let bench = Bench::new().await;
    let (before, after) = twice(1);
    let id = bench.rejected("before.json", &before).await;
    let mut list = bench.list(vec![pasted(&after)]).await;
    let digest = digest(&bench.desk, &after).await;
    list.corrections = vec![NamedCorrection { id, digest }];
    // Somebody sends it again as it was.
    bench.desk.resubmit(id).await.unwrap();
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[None]]);
    assert_eq!(view.items[0].files[0].messages[0].code, "correction-not-taken");
    assert_eq!(bench.all(), 2);
    bench.desk.stop().await;
}

/// Files, a folder, pasted texts and a correction between them: the journal has them in the order
/// of the list, and what is told stands in that order too.
#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_the_list_is_kept() {
    let bench = Bench::new().await;
    let (before, after) = twice(1);
    bench.rejected("before.json", &before).await;
    let folder = bench.folder.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    bench.file("out/a.json", &DocumentBuilder::new(3).json());
    bench.file("out/b.json", &DocumentBuilder::new(4).json());
    // One document identifier: the one that stands later on the list is the newer one.
    let (old, new) = twice(5);
    let items = vec![
        at(&bench.file("old.json", &old)),
        at(&bench.file("after.json", &after)),
        at(&folder.display().to_string()),
        pasted(&new),
        at(&bench.file("last.json", &DocumentBuilder::new(6).json())),
    ];
    let list = bench.list(items).await;
    let view = bench.desk.hand_over(list).await.unwrap();
    let expected: [&[i64]; 5] = [&[2], &[3], &[4, 5], &[6], &[7]];
    let all: Vec<Vec<i64>> =
        ids(&view).into_iter().map(|item| item.into_iter().flatten().collect()).collect();
    assert_eq!(all, expected);
    let names: Vec<Vec<&str>> = view
        .items
        .iter()
        .map(|item| item.files.iter().map(|file| file.file.as_str()).collect())
        .collect();
    let expected: [&[&str]; 5] =
        [&["old.json"], &["after.json"], &["a.json", "b.json"], &["pasted"], &["last.json"]];
    assert_eq!(names, expected);
    bench.desk.stop().await;
}

/// Nobody was shown how two contents of one list differ, also where a correction stands between
/// them.
#[tokio::test(flavor = "multi_thread")]
async fn what_shares_an_identifier_with_an_earlier_one_of_the_list_is_compared_with_that() {
    let bench = Bench::new().await;
    let hold = |settings: &mut engine::Settings| {
        settings.same_identifier = engine::SameIdentifier::Hold;
        Ok(())
    };
    bench.desk.engine().change_settings(hold).unwrap();
    let (before, after) = twice(1);
    bench.rejected("before.json", &before).await;
    let (old, new) = twice(5);
    let items = vec![pasted(&old), pasted(&after), pasted(&new)];
    let list = bench.list(items).await;
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[Some(2)], [Some(3)], [Some(4)]]);
    assert_eq!([2, 3, 4].map(|id| bench.state(id)), ["queued", "queued", "held"]);
    bench.desk.stop().await;
}

/// What fails is told for its own thing of the list, and the others go.
#[tokio::test(flavor = "multi_thread")]
async fn what_fails_keeps_nothing_else_from_going() {
    let bench = Bench::new().await;
    let (before, after) = twice(1);
    bench.rejected("before.json", &before).await;
    let raw = bench.raw();
    let fails = "CREATE TRIGGER fails BEFORE INSERT ON submission \
                 WHEN NEW.file IN ('after.json', '2.json') \
                 BEGIN SELECT RAISE(ABORT, 'cannot be written'); END";
    raw.execute_batch(fails).unwrap();
    let file = |seed| bench.file(&format!("{seed}.json"), &DocumentBuilder::new(seed).json());
    let correction = bench.file("after.json", &after);
    let away = bench.folder.path().join("away.json").display().to_string();
    // What cannot be written stands last: who meets such a fault tries nothing behind it.
    let items = || vec![at(&correction), at(&file(3)), at(&away), at(&file(2))];
    let list = bench.list(items()).await;
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[None], [Some(2)], [None], [None]]);
    let failed: Vec<_> = view.items.iter().map(|item| item.failed.len()).collect();
    assert_eq!(failed, [1, 0, 0, 1]);
    let codes = view.items.iter().map(|item| item.problem.as_ref().map(|it| it.code.as_str()));
    assert_eq!(codes.collect::<Vec<_>>(), [Some("journal-io"), None, None, Some("journal-io")]);
    assert_eq!(view.items[2].files[0].verdict, Verdict::Refused);
    raw.execute_batch("DROP TRIGGER fails").unwrap();
    let list = bench.list(items()).await;
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[Some(3)], [None], [None], [Some(4)]]);
    assert_eq!(view.items[1].files[0].verdict, Verdict::Known);
    bench.desk.stop().await;
}

/// *Send again* means what was shown as known, and not what has become known since: a watch has
/// taken that in.
#[tokio::test(flavor = "multi_thread")]
async fn only_what_was_shown_as_known_goes_again() {
    let bench = Bench::new().await;
    let content = |seed| DocumentBuilder::new(seed).json();
    let folder = bench.folder.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    bench.rejected("out/a.json", &content(1)).await;
    bench.file("out/b.json", &content(2));
    let mut list = bench.list(vec![at(&folder.display().to_string())]).await;
    list.again = vec![digest(&bench.desk, &content(1)).await];
    list.shown = Some(vec![list.again[0].clone(), digest(&bench.desk, &content(2)).await]);
    bench.rejected("out/b.json", &content(2)).await;
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[Some(3), None]]);
    assert_eq!(view.items[0].files[1].verdict, Verdict::Known);
    bench.desk.stop().await;
}

/// One content in two encodings, and only one of them is to go again: it does, whichever comes
/// first.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_to_go_again_stands_for_no_other_that_is() {
    let bench = Bench::new().await;
    let report = DocumentBuilder::new(1);
    bench.rejected("a.json", &report.json()).await;
    let items = vec![pasted(&report.json()), pasted(&report.xml())];
    let mut list = bench.list(items).await;
    list.again = vec![digest(&bench.desk, &report.xml()).await];
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[None], [Some(2)]]);
    bench.desk.stop().await;
}

/// What lies there and was not shown stays there, what was shown and is gone is told, and what was
/// pasted goes.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_is_what_goes() {
    let bench = Bench::new().await;
    let content = |seed| DocumentBuilder::new(seed).json();
    let folder = bench.folder.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    let gone = digest(&bench.desk, &content(1)).await;
    bench.file("out/b.json", &content(2));
    let items = vec![at(&folder.display().to_string()), pasted(&content(3))];
    let mut list = bench.list(items).await;
    list.shown = Some(vec![gone.clone(), digest(&bench.desk, &content(3)).await]);
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[None], [Some(1)]]);
    assert_eq!(view.items[0].problem.as_ref().unwrap().code, "files-changed");
    assert_eq!((view.gone.files[0].digest.as_str(), &*view.gone.failed), (&*gone, &[0][..]));
    assert_eq!(view.gone.problem.unwrap().code, "files-gone");
    bench.desk.stop().await;
}

/// One content of a folder that a person has left out is not taken in, and nothing of it is told.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_left_out_stays_where_it_lies() {
    let bench = Bench::new().await;
    let folder = bench.folder.path().join("out");
    std::fs::create_dir(&folder).unwrap();
    for number in 1..=3 {
        let file = folder.join(format!("{number}.json"));
        std::fs::write(file, DocumentBuilder::new(number).json()).unwrap();
    }
    let path = folder.display().to_string();
    let found = bench.desk.inspect_files(vec![path.clone()]).await.unwrap();
    let digest = |at: usize| found[at].digest.clone();
    let list = HandedList {
        shown: Some(vec![digest(0), digest(2)]),
        left_out: vec![digest(1)],
        ..bench.list(vec![at(&path)]).await
    };
    let view = bench.desk.hand_over(list).await.unwrap();
    assert_eq!(ids(&view), [[Some(1), Some(2)]]);
    assert!(view.items[0].problem.is_none() && view.gone.files.is_empty());
    assert_eq!(bench.all(), 2);
    bench.desk.stop().await;
}

#[test]
fn a_list_is_bounded() {
    let list = |items| HandedList {
        items,
        again: Vec::new(),
        corrections: Vec::new(),
        shown: None,
        left_out: Vec::new(),
        beside: Vec::new(),
        separate: false,
        endpoint: String::new(),
    };
    let code = |list| List::of(list).err().map(|problem| problem.code);
    assert_eq!(code(list(vec![at("/a"), pasted("{}")])), None);
    assert_eq!(code(list(vec![at("a\0b")])).as_deref(), Some("argument-invalid"));
    let long = "x".repeat(20 << 20);
    assert_eq!(code(list(vec![pasted(&long); 5])), None);
    assert_eq!(code(list(vec![pasted(&long); 6])).as_deref(), Some("argument-too-large"));
    let nameless = HandedItem::Text { name: " ".to_owned(), text: String::new() };
    assert_eq!(code(list(vec![nameless])).as_deref(), Some("argument-invalid"));
    let endpoint = "x".repeat(2_000);
    let named = HandedList { endpoint, ..list(Vec::new()) };
    assert_eq!(code(named).as_deref(), Some("argument-too-large"));
}
