//! Search through real HTTPS: each parameter, links, and a comparison with a naive model.

use std::cmp::Ordering;

use crate::common::{House, Lab, document, resource, urn};
use crate::setting::{has_full_search, last_updated, release};
use authority::{PRACTICE_RULES, Rules};
use exchange::{Answer, Page, Processing, Query, Release, SortKey, TimeFilter, TimePrefix};
use fhir::Instant;
use reqwest::StatusCode;

in_every_release![
    a_uuid_is_found_in_capital_letters_and_the_order_is_named_alike,
    a_search_says_nothing_of_other_laboratories,
    identifiers_match_in_four_forms,
    counting_and_capping,
    pages_do_not_shift_while_reports_arrive_and_change,
    searches_agree_with_a_naive_model,
    walks_to_the_end_and_back_agree_with_the_model_while_reports_arrive,
];

/// What a model knows of one document.
#[derive(Debug, Clone)]
struct Known {
    answer: Answer,
    identifier: String,
    document: String,
}

async fn filled(house: &House, count: usize) -> (Lab, Vec<Known>) {
    let lab = house.client("alpha");
    let mut known = Vec::new();
    for number in 0..count {
        let (identifier, own) = (urn(), urn());
        let family = if number % 3 == 0 { "Muster-Fehler" } else { "Muster" };
        let text = document(&own, family, &number.to_string());
        let receipt = lab.deliver(&text, &identifier).await.receipt.unwrap();
        let answer = lab.processed(&receipt).await;
        known.push(Known { answer, identifier, document: own });
    }
    (lab, known)
}

fn receipts(page: &Page) -> Vec<String> {
    page.answers.iter().filter_map(|answer| answer.receipt.clone()).collect()
}

async fn identifiers_match_in_four_forms() {
    let house = House::open(|_| {}).await;
    let (lab, known) = filled(&house, 3).await;
    let (one, two) = (&known[1], &known[2]);
    for (query, expected) in [
        (format!("identifier={}", one.identifier), 1),
        (format!("identifier={}", one.document), 1),
        (format!("identifier=urn:ietf:rfc:3986|{}", one.identifier), 1),
        (format!("identifier=urn%3Aietf%3Arfc%3A3986%7C{}", one.document), 1),
        (format!("identifier={}", one.identifier.to_uppercase()), 1),
        (format!("identifier=urn:ietf:rfc:3986|{}", one.document.to_uppercase()), 1),
        (format!("identifier={},{}", one.identifier.to_uppercase(), two.document), 2),
        (format!("identifier=urn:oid:1|{}", one.identifier), 0),
        (format!("identifier=|{}", one.identifier), 0),
        ("identifier=urn:ietf:rfc:3986|".to_owned(), 3),
        (format!("identifier={},{}", one.identifier, two.document), 2),
        (format!("identifier={}&identifier={}", one.identifier, one.document), 1),
        (format!("identifier={}&identifier={}", one.identifier, two.document), 0),
        (format!("_id={}", one.answer.receipt.as_deref().unwrap()), 1),
        ("_id=x".to_owned(), 0),
        ("_lastupdated=gt2999&unknown=1".to_owned(), 3),
        (format!("{}=gt2999", last_updated()), 0),
        ("date=ge2020&date=lt2999".to_owned(), 3),
    ] {
        // What a release does not know it ignores.
        let is_known = has_full_search() || query.starts_with("identifier");
        let expected = if is_known { expected } else { 3 };
        let page = lab.search(&query).await;
        assert_eq!(
            (page.total, page.answers.len()),
            (Some(expected), expected as usize),
            "{query}"
        );
    }
    let unknown = lab.search("_lastupdated=gt2999&elm-status=completed").await;
    let own = unknown.links.self_.unwrap();
    let taken = if has_full_search() { "?elm-status=completed" } else { "" };
    assert_eq!(own, format!("{}/DocumentReference{taken}", house.base));
    let strict = lab
        .client
        .get(format!("{}/DocumentReference?_lastupdated=gt2999", house.base))
        .header("prefer", "handling=strict")
        .send()
        .await
        .unwrap();
    assert_eq!(strict.status(), StatusCode::BAD_REQUEST);
    let form = lab
        .client
        .post(format!("{}/DocumentReference/_search", house.base))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("identifier={}", one.identifier))
        .send()
        .await
        .unwrap();
    assert_eq!(Page::read(resource(form).await.root()).unwrap().total, Some(1));
}

async fn a_search_says_nothing_of_other_laboratories() {
    let house = House::open(|_| {}).await;
    let (alpha, beta) = (house.client("alpha"), house.client("beta"));
    let told = async |query: &str| {
        let tree = resource(alpha.get(&format!("/DocumentReference?{query}")).await).await;
        let root = tree.root();
        let links: Vec<_> =
            root.all("link").filter_map(|link| link.text("url")).map(str::to_owned).collect();
        (root.text("meta.lastUpdated").map(str::to_owned), links)
    };
    for own in [false, true] {
        if own {
            let receipt = alpha.deliver(&document(&urn(), "A", "1"), &urn()).await.receipt.unwrap();
            alpha.processed(&receipt).await;
        }
        for query in ["identifier=urn:uuid:nothing", "", "_count=1", "elm-status=failed"] {
            let before = told(query).await;
            let other = beta.deliver(&document(&urn(), "B", "1"), &urn()).await.receipt.unwrap();
            beta.processed(&other).await;
            assert_eq!(told(query).await, before, "{own} {query}");
        }
    }
}

async fn a_uuid_is_found_in_capital_letters_and_the_order_is_named_alike() {
    let house = House::open(|_| {}).await;
    let lab = house.client("alpha");
    let mut sent = Vec::new();
    for number in 0..3 {
        let identifier =
            if number == 1 { urn().to_uppercase().replace("URN:UUID", "urn:uuid") } else { urn() };
        let answer = lab.deliver(&document(&urn(), "A", &number.to_string()), &identifier).await;
        lab.processed(answer.receipt.as_deref().unwrap()).await;
        sent.push((identifier, answer.receipt.unwrap()));
    }
    for (identifier, receipt) in &sent {
        for asked in [identifier.clone(), identifier.to_lowercase(), identifier.to_uppercase()] {
            let page = lab.search(&format!("identifier={asked}")).await;
            assert_eq!(receipts(&page), [receipt.as_str()], "{asked}");
        }
    }
    let rising: Vec<_> = sent.iter().map(|(_, receipt)| receipt.clone()).collect();
    let falling: Vec<_> = rising.iter().rev().cloned().collect();
    for name in ["_lastUpdated", last_updated()] {
        for (asked, wanted) in [(name.to_owned(), &rising), (format!("-{name}"), &falling)] {
            // Page by page: the links repeat what was asked.
            let mut page = lab.search(&format!("_sort={asked}&_count=1")).await;
            let mut found = receipts(&page);
            while let Some(next) = page.links.next.filter(|_| found.len() <= wanted.len()) {
                page = lab.follow(&next).await;
                found.extend(receipts(&page));
            }
            assert_eq!(&found, wanted, "{asked}");
        }
    }
}

async fn counting_and_capping() {
    let house = House::open(|_| {}).await;
    let (lab, _) = filled(&house, 3).await;
    for query in ["_count=0", "_summary=count"] {
        let page = lab.search(query).await;
        assert_eq!((page.total, page.answers.len()), (Some(3), 0));
        let links = page.links;
        assert!(links.self_.unwrap().ends_with("?_count=0"));
        assert_eq!((links.first, links.next, links.prev, links.last), (None, None, None, None));
    }
    let capped = lab.search("_count=4000000000").await;
    assert!(capped.links.self_.unwrap().ends_with("_count=1000"));
    let beyond = lab.search("_count=2&page=9").await;
    assert_eq!((beyond.total, beyond.answers.len()), (Some(3), 0));
    assert!(beyond.links.prev.unwrap().contains("page=2") && beyond.links.next.is_none());
}

async fn pages_do_not_shift_while_reports_arrive_and_change() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let (lab, known) = filled(&house, 7).await;
    let mut expected: Vec<_> = known.iter().filter_map(|k| k.answer.receipt.clone()).collect();
    for query in ["_count=2", "_count=2&_sort=-_lastUpdated", "_count=2&_sort=elm-status,-date"] {
        let mut page = lab.search(query).await;
        let last = page.links.last.clone().unwrap();
        let mut seen = receipts(&page);
        let mut pages = 1;
        while let Some(next) = page.links.next.clone() {
            let newcomer = lab.deliver(&document(&urn(), "Neu", &urn()), &urn()).await;
            lab.processed(&newcomer.receipt.unwrap()).await;
            page = lab.follow(&next).await;
            seen.extend(receipts(&page));
            pages += 1;
        }
        assert_eq!(receipts(&lab.follow(&last).await), receipts(&page));
        let back = lab.follow(&page.links.prev.unwrap()).await;
        assert_eq!(receipts(&back), seen[seen.len() - 4 + (seen.len() % 2)..][..2]);
        if query == "_count=2" {
            let newest_first: Vec<_> = expected.iter().rev().cloned().collect();
            assert_eq!(seen, newest_first);
            assert_eq!(pages, 4);
        }
        let mut sorted = seen.clone();
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), seen.len(), "none twice");
        expected.iter().for_each(|receipt| assert!(seen.contains(receipt), "none missed"));
        // Those who came meanwhile existed when the next walk starts.
        let all = lab.search("_count=1000&_sort=date").await;
        expected = receipts(&all);
    }
}

/// A small generator, so that a failing seed can be repeated (numbers of Steele and others,
/// splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % sides as u64) as usize
    }
}

/// A date parameter near a time that is there: any prefix, any precision, any zone, one or several
/// values.
fn any_filter(dice: &mut Dice, known: &[Known], time: impl Fn(&Answer) -> Instant) -> TimeFilter {
    let mut filter = TimeFilter { prefix: TimePrefix::ALL[dice.roll(6)], value: String::new() };
    for number in 0..=usize::from(dice.roll(4) == 0) {
        let digits = [4, 7, 10, 16, 19, 23, 26][dice.roll(7)];
        let (hours, zone) = [(0, "Z"), (2, "+02:00"), (-5, "-05:00")][dice.roll(3)];
        let at = time(&known[dice.roll(known.len())].answer);
        let local = if digits < 16 { at } else { at.plus_micros(hours * 3_600_000_000) };
        if number > 0 {
            filter.value.push(',');
            filter.value.push_str(TimePrefix::ALL[dice.roll(6)].code());
        }
        filter.value.push_str(&local.to_search()[..digits]);
        if digits >= 16 {
            filter.value.push_str(zone);
        }
    }
    filter
}

/// One to three tokens, each in one of the four forms.
fn any_identifiers(dice: &mut Dice, known: &[Known]) -> String {
    let mut tokens = Vec::new();
    for _ in 0..=dice.roll(3) {
        let one = &known[dice.roll(known.len())];
        let value = [&one.identifier, &one.document][dice.roll(2)];
        tokens.push(match dice.roll(6) {
            0 => format!("{SYSTEM}|{value}"),
            1 => format!("|{value}"),
            2 => format!("urn:oid:1|{value}"),
            3 if dice.roll(4) == 0 => format!("{SYSTEM}|"),
            _ => value.clone(),
        });
    }
    tokens.join(",")
}

/// Of every identifier of these documents.
const SYSTEM: &str = "urn:ietf:rfc:3986";

/// A query, and how it is asked in the release: of what the oldest does not offer it is asked
/// nothing.
fn any_query(dice: &mut Dice, known: &[Known]) -> Query {
    let mut query = any_query_of_all(dice, known);
    if !has_full_search() {
        let Query { identifier, sort, count, page, .. } = query;
        query = Query { identifier, sort, count, page, ..Query::default() };
    }
    query
}

/// As the client of the release writes it; order and pages are understood in the oldest too, which
/// ours never asks.
fn written(query: &Query) -> String {
    query.to_query_string(if has_full_search() { release() } else { Release::R1_13_1 })
}

fn any_query_of_all(dice: &mut Dice, known: &[Known]) -> Query {
    let mut query = Query::default();
    for _ in 0..dice.roll(5) / 2 {
        query.date.push(any_filter(dice, known, |answer| answer.date.unwrap()));
    }
    for _ in 0..dice.roll(5) / 2 {
        query.last_updated.push(any_filter(dice, known, |answer| answer.last_updated.unwrap()));
    }
    for _ in 0..dice.roll(5) / 3 {
        query.identifier.push(any_identifiers(dice, known));
    }
    if dice.roll(6) == 0 {
        let receipt =
            |dice: &mut Dice| known[dice.roll(known.len())].answer.receipt.clone().unwrap();
        query.id = Some(format!("{},{},none", receipt(dice), receipt(dice)));
    }
    query.status = [
        None,
        None,
        None,
        Some(Processing::Completed),
        Some(Processing::Failed),
        Some(Processing::InProgress),
    ][dice.roll(6)];
    for _ in 0..dice.roll(4) {
        query.sort.push((SortKey::ALL[dice.roll(4)], dice.roll(2) == 0));
    }
    query.count = [None, Some(1), Some(3), Some(7), Some(1000)][dice.roll(5)];
    query.page = [None, None, Some(1), Some(2), Some(4)][dice.roll(5)];
    query
}

/// The specification, naively.
fn model(query: &Query, known: &[Known]) -> Vec<String> {
    let token = |token: &str, k: &Known| {
        let (system, value) = match token.split_once('|') {
            Some((system, value)) => (Some(system), value),
            None => (None, token),
        };
        let fits = system.is_none_or(|system| system == SYSTEM);
        fits && (value.is_empty() || value == k.identifier || value == k.document)
    };
    let mut found: Vec<&Known> = known
        .iter()
        .rev()
        .filter(|k| {
            let all = |filters: &[TimeFilter], at: Instant| filters.iter().all(|f| f.matches(at));
            all(&query.date, k.answer.date.unwrap())
                && all(&query.last_updated, k.answer.last_updated.unwrap())
                && query.status.is_none_or(|status| k.answer.processing == Some(status))
                && query.identifier.iter().all(|tokens| tokens.split(',').any(|one| token(one, k)))
                && query.id.as_deref().is_none_or(|ids| {
                    ids.split(',').any(|id| k.answer.receipt.as_deref() == Some(id))
                })
        })
        .collect();
    found.sort_by(|a, b| {
        query.sort.iter().fold(Ordering::Equal, |order, (key, down)| {
            let next = match key {
                SortKey::Identifier => a.identifier.cmp(&b.identifier),
                SortKey::Date => a.answer.date.cmp(&b.answer.date),
                SortKey::ElmStatus => {
                    let code = |k: &Known| k.answer.processing.unwrap().code();
                    code(a).cmp(code(b))
                }
                SortKey::LastUpdated => a.answer.last_updated.cmp(&b.answer.last_updated),
            };
            order.then(if *down { next.reverse() } else { next })
        })
    });
    found.into_iter().filter_map(|k| k.answer.receipt.clone()).collect()
}

async fn searches_agree_with_a_naive_model() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let (lab, known) = filled(&house, 20).await;
    let (mut some, mut deep) = (0, 0);
    for seed in 0..400 {
        let query = any_query(&mut Dice(seed), &known);
        let asked = written(&query);
        let expected = model(&query, &known);
        let page = lab.search(&asked).await;
        assert_eq!(page.total, Some(expected.len() as u64), "seed {seed}: {asked}");
        let size = query.count.unwrap_or(50) as usize;
        let before = size * (query.page.unwrap_or(1) as usize - 1);
        let shown: Vec<_> = expected.into_iter().skip(before).take(size).collect();
        assert_eq!(receipts(&page), shown, "seed {seed}: {asked}");
        let own = page.links.self_.unwrap();
        assert_eq!(own.split_once('?').map_or("", |(_, own)| own), asked, "seed {seed}");
        some += usize::from(!shown.is_empty());
        deep += usize::from(before > 0 && !shown.is_empty());
    }
    println!("400 searches, {some} with results, {deep} of later pages");
    assert!(some > 100 && deep > 10, "the generator asks for what is there");
}

async fn walks_to_the_end_and_back_agree_with_the_model_while_reports_arrive() {
    let house = House::open(|options| options.rules = Rules::parse(PRACTICE_RULES).unwrap()).await;
    let (lab, mut known) = filled(&house, 12).await;
    let mut steps = 0;
    for seed in 1000..1040 {
        let mut query = any_query(&mut Dice(seed), &known);
        (query.count, query.page) = (Some(3), None);
        query.identifier.clear();
        let asked = written(&query);
        let expected = model(&query, &known);
        let mut page = lab.search(&asked).await;
        let mut walked = vec![receipts(&page)];
        let newcomer = (urn(), urn());
        let text = document(&newcomer.1, "Neu", &seed.to_string());
        let receipt = lab.deliver(&text, &newcomer.0).await.receipt.unwrap();
        while let Some(next) = page.links.next.clone() {
            page = lab.follow(&next).await;
            assert_eq!(page.links.self_, Some(next), "a page names itself as the link to it did");
            walked.push(receipts(&page));
            steps += 1;
        }
        assert_eq!(walked.concat(), expected, "seed {seed}: {asked}");
        let last = lab.follow(page.links.last.as_deref().unwrap()).await;
        assert_eq!(receipts(&last), *walked.last().unwrap(), "seed {seed}: last");
        for earlier in walked.iter().rev().skip(1) {
            page = lab.follow(&page.links.prev.unwrap()).await;
            assert_eq!(receipts(&page), *earlier, "seed {seed}: back");
        }
        let answer = lab.processed(&receipt).await;
        known.push(Known { answer, identifier: newcomer.0, document: newcomer.1 });
    }
    println!("{steps} steps of walks");
    assert!(steps > 20);
}
