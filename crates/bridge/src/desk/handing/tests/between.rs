//! What comes in between while a list is handed over: another endpoint, another page, a lock.

use std::task::Poll;

use report::SubmissionId;
use testkit::DocumentBuilder;

use super::super::List;
use super::super::steps::{Handing, refuse_elsewhere};
use super::{Bench, at, digest, ids, pasted, twice};
use crate::views::{EndpointInput, HandedView, IntakeView, TakingView};

/// What was shown for one authority goes to no other, wherever in the list another one comes into
/// use.
#[tokio::test(flavor = "multi_thread")]
async fn what_follows_a_change_of_the_endpoint_stays_on_the_list() {
    let bench = Bench::new().await;
    for name in ["first", "second"] {
        let endpoint = EndpointInput {
            name: name.to_owned(),
            base_url: format!("https://127.0.0.1:1/{name}/fhir"),
            environment: "integration".to_owned(),
            release: None,
            language: None,
            ca_pem: None,
            proxy: None,
        };
        bench.desk.add_endpoint(endpoint).await.unwrap();
    }
    let uses = async |name: &str| bench.desk.use_endpoint(name.to_owned()).await.unwrap();
    uses("first").await;
    let (before, after) = twice(1);
    let id = bench.rejected("before.json", &before).await;
    let file = |seed| bench.file(&format!("{seed}.json"), &DocumentBuilder::new(seed).json());
    let list = async || {
        let items = vec![at(&file(2)), at(&bench.file("after.json", &after)), at(&file(3))];
        bench.list(items).await
    };
    let told = |view: &HandedView| {
        let code = |item: &IntakeView| item.problem.as_ref().map(|it| it.code.clone());
        view.items.iter().map(code).collect::<Vec<_>>()
    };
    let changed = || Some("endpoint-changed".to_owned());

    // Before anything is looked at.
    let named = list().await;
    uses("second").await;
    assert_eq!(bench.desk.hand_over(named).await.err().unwrap().code, "endpoint-changed");
    // While it is looked at.
    uses("first").await;
    let named = List::of(list().await).unwrap();
    let mut handing = Handing::begin(&bench.desk, named).await.unwrap();
    uses("second").await;
    while handing.step().await {}
    let view = handing.end();
    assert_eq!(told(&view), [changed(), changed(), changed()]);
    assert!(view.items.iter().all(|item| item.failed == [0]));
    assert_eq!(bench.all(), 1);
    // In the middle: what has gone has gone to the first one.
    uses("first").await;
    let named = List::of(list().await).unwrap();
    let mut handing = Handing::begin(&bench.desk, named).await.unwrap();
    assert!(handing.step().await);
    uses("second").await;
    while handing.step().await {}
    let view = handing.end();
    assert_eq!(told(&view), [None, changed(), changed()]);
    assert_eq!(ids(&view), [[Some(2)], [None], [None]]);
    let row = bench.desk.engine().journal().row(SubmissionId(2)).unwrap();
    let profile = bench.desk.engine().profile();
    assert_eq!(profile.name_of(&row.endpoint), "first");
    assert_eq!((bench.all(), bench.state(id)), (2, "rejected"));
    bench.desk.stop().await;
}

/// The page is loaded anew while the list is read: all of it is taken in, counted as under way from
/// the first moment, and told where somebody looks next.
#[tokio::test]
async fn a_list_is_taken_in_to_its_end_though_the_page_is_gone() {
    let bench = Bench::new().await;
    let (before, after) = twice(1);
    bench.rejected("before.json", &before).await;
    let wrong = DocumentBuilder::new(2).json().replace("\"final\"", "\"finished\"");
    let items = vec![
        at(&bench.file("new.json", &DocumentBuilder::new(3).json())),
        at(&bench.file("after.json", &after)),
        at(&bench.file("wrong.json", &wrong)),
        at(&bench.file("scan.pdf", "%PDF-1.7")),
        pasted(&before),
    ];
    let under_way = bench.desk.under_way();
    let list = bench.list(items).await;
    let mut handing = Box::pin(bench.desk.hand_over(list));
    let begun = std::future::poll_fn(|cx| Poll::Ready(handing.as_mut().poll(cx))).await;
    assert!(begun.is_pending());
    assert_eq!(bench.desk.under_way(), under_way + 5, "all of it, before anything is read");
    drop(handing);
    bench.desk.page_begins();
    bench.desk.finish_taking().await;
    assert_eq!(bench.all(), 4);
    let told = |count: &str, attention: &str| Some((count.to_owned(), attention.to_owned()));
    assert_eq!(bench.notice(), told("2", "2"), "one is on hold, one is no report");

    // What nobody has read yet is in the next one.
    let item = pasted(&DocumentBuilder::new(4).json());
    let list = bench.list(vec![item]).await;
    let mut handing = Box::pin(bench.desk.hand_over(list));
    let begun = std::future::poll_fn(|cx| Poll::Ready(handing.as_mut().poll(cx))).await;
    assert!(begun.is_pending());
    drop(handing);
    // The end of the program waits for it.
    bench.desk.stop().await;
    assert_eq!(bench.notice(), told("3", "2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sees_the_end_is_left_no_notice_and_a_locked_window_sees_none() {
    let bench = Bench::new().await;
    let item = |seed| pasted(&DocumentBuilder::new(seed).json());
    let list = bench.list(vec![item(1)]).await;
    bench.desk.hand_over(list).await.unwrap();
    assert_eq!(bench.notice(), None);
    let list = bench.list(vec![item(2)]).await;
    bench.desk.lock().await.unwrap();
    bench.desk.hand_over(list).await.unwrap();
    assert_eq!(bench.notice(), Some(("1".to_owned(), "0".to_owned())));
    bench.desk.stop().await;
}

/// What was looked at for one endpoint stays on the list where another was in use meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_for_one_endpoint_goes_to_no_other() {
    let bench = Bench::new().await;
    let file = bench.file("a.json", &DocumentBuilder::new(1).json());
    let engine = bench.desk.engine();
    let seen = engine.inspect(vec![file.into()]).await.unwrap();
    let here = engine.endpoint().unwrap();
    let goes = |to: &str| refuse_elsewhere(seen.iter(), to);
    assert_eq!(goes(here.id()), Ok(()));
    assert_eq!(goes("another").unwrap_err().code, "endpoint-changed");
    bench.desk.stop().await;
}

/// A newer version of a file on the list is taken in before that is sent, as by the watched folder.
/// Who was not shown it has not said that the older one goes beside it.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_shown_without_the_newer_version_is_on_hold_beside_it() {
    for (is_shown, expected) in [(false, "held"), (true, "queued")] {
        let bench = Bench::new().await;
        let version = |day: u32, family: &str| {
            let made = format!("2026-11-{day}T10:00:00Z");
            DocumentBuilder::new(1).timestamp(&made).family(family).json()
        };
        let (older, engine) = (version(19, "Alt"), bench.desk.engine());
        let mut list = bench.list(vec![at(&bench.file("older.json", &older))]).await;
        let newer = version(20, "Neu").into_bytes();
        let newer = engine.inspect_text("newer.json".to_owned(), newer).await.unwrap();
        engine.take(&newer, engine::ImportOptions::default()).await.unwrap();
        list.beside.extend(is_shown.then_some(digest(&bench.desk, &older).await));
        let view = bench.desk.hand_over(list).await.unwrap();
        assert_eq!(ids(&view), [[Some(2)]]);
        let state = engine.journal().state(SubmissionId(2)).unwrap();
        assert_eq!(state.code(), expected, "shown: {is_shown}");
        bench.desk.stop().await;
    }
}

/// What is taken back while it is taken in goes nowhere: what was taken in is on hold, the rest
/// stays on the list.
#[tokio::test]
async fn a_list_is_taken_back_while_it_is_taken_in() {
    let bench = Bench::new().await;
    let (before, after) = twice(1);
    bench.rejected("before.json", &before).await;
    let items = vec![
        at(&bench.file("new.json", &DocumentBuilder::new(3).json())),
        at(&bench.file("after.json", &after)),
        pasted(&DocumentBuilder::new(4).json()),
    ];
    assert!(!bench.desk.stop_taking().await.unwrap(), "nothing is being taken in");
    let list = List::of(bench.list(items).await).unwrap();
    let progress = bench.desk.progress_begins();
    let taking = bench.desk.hand(list, &progress);
    tokio::pin!(taking);
    // Stopped once the first report is taken in: the second one is on its way by then.
    let view = loop {
        tokio::select! {
            biased;
            view = &mut taking => break view.unwrap(),
            () = tokio::task::yield_now() => {
                let view = bench.desk.taking().await.unwrap();
                if view.done == 1 {
                    assert!(view.under_way);
                    assert!(bench.desk.stop_taking().await.unwrap());
                }
            }
        }
    };
    assert_eq!(ids(&view), [[Some(2)], [Some(3)], [None]]);
    let left: Vec<_> =
        view.items.iter().map(|part| (part.failed.len(), part.problem.is_none())).collect();
    assert_eq!(left, [(0, true), (0, true), (1, true)]);
    assert_eq!(view.taken_back, Some(vec![2, 3]));
    assert_eq!((bench.state(2), bench.state(3), bench.all()), ("held", "held", 3));
    assert_eq!(
        bench.desk.taking().await.unwrap(),
        TakingView { done: 2, total: 3, under_way: false }
    );
    assert!(!bench.desk.stop_taking().await.unwrap(), "it has ended");
    bench.desk.stop().await;
}
