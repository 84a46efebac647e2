//! A scripted server for each release that answers as the specification's pages print it: with
//! answers of our own in the same form, and, where the published ones lie beside the checkout, with
//! those byte for byte.

use client::{Authority, Fault, Received, Why};
use exchange::{Envelope, Processing, Query, Release, TimeFilter, envelope_of, wrap};
use fhir::{Format, Tree};
use testkit::{Reaction, ScriptedServer, Seen};

use crate::{World, fhir as answer, outcome, told, wrapped};

/// What a server prints: the identifier that all of it is about, and the answers with their ids.
#[derive(Clone)]
struct Printed {
    identifier: String,
    in_progress: (String, Vec<u8>),
    completed: (String, Vec<u8>),
    failed: (String, Vec<u8>),
    /// The answer to the page's example: what failed since a date.
    found: Vec<u8>,
    capability: Vec<u8>,
    /// What the messages of `failed` begin with.
    reason: &'static str,
}

/// The example of the pages.
const SINCE: &str = "gt2023-10-02T08:00:00+02:00";

impl Printed {
    /// Made up, in the form of the pages: indented, an extension whose `url` comes last, zones, two
    /// digits of fraction, no narrative.
    fn own() -> Self {
        let identifier = "urn:uuid:6d0f1b1e-94c8-4c6b-a1d5-30f2b2f6c101";
        let reference = |id: &str, version: u32, status: &str, outcome: bool| {
            let contained = r##"
  "contained": [
    {
      "resourceType": "OperationOutcome",
      "id": "why",
      "issue": [
        { "severity": "error", "code": "not-supported", "details": { "text": "unknown kind of test" } }
      ]
    }
  ],"##;
            let link = r##", { "url": "outcome", "valueReference": { "reference": "#why" } }"##;
            let (contained, link) = if outcome { (contained, link) } else { ("", "") };
            format!(
                r##"{{
  "resourceType": "DocumentReference",
  "id": "{id}",
  "meta": {{ "versionId": "{version}", "lastUpdated": "2023-10-10T13:30:25.00+02:00" }},{contained}
  "extension": [
    {{
      "extension": [ {{ "url": "status", "valueCode": "{status}" }}{link} ],
      "url": "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status"
    }}
  ],
  "identifier": [ {{ "system": "urn:ietf:rfc:3986", "value": "{identifier}" }} ],
  "status": "current",
  "date": "2023-10-10T13:30:18.668+02:00",
  "content": [ {{ "attachment": {{ "url": "{identifier}" }} }} ]
}}"##
            )
        };
        let failed = reference("r-failed", 2, "failed", true);
        let found = format!(
            r#"{{
  "resourceType": "Bundle", "id": "found", "type": "searchset",
  "timestamp": "2023-10-10T14:30:18.668+02:00", "total": 1,
  "link": [ {{ "relation": "self",
    "url": "http://elsewhere.example/R4/fhir/DocumentReference?_lastUpdate={SINCE}&elm-status=failed" }} ],
  "entry": [ {{ "fullUrl": "http://elsewhere.example/R4/fhir/DocumentReference/r-failed", "resource": {failed} }} ]
}}"#
        );
        let capability = r#"{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1","format":["application/fhir+xml",
            "application/fhir+json"],"rest":[{"mode":"server","resource":[{"type":"DocumentReference","interaction":[
            {"code":"create"},{"code":"read"},{"code":"search-type"}],"searchParam":[{"name":"identifier","type":"token"},
            {"name":"elm-status","type":"token"}]}]}]}"#;
        let one = |id: &str, version, status| {
            (id.to_owned(), reference(id, version, status, false).into_bytes())
        };
        Self {
            identifier: identifier.to_owned(),
            in_progress: one("r-in-progress", 1, "in-progress"),
            completed: one("r-completed", 2, "completed"),
            failed: ("r-failed".to_owned(), failed.into_bytes()),
            found: found.into_bytes(),
            capability: capability.as_bytes().to_vec(),
            reason: "unknown kind of test",
        }
    }

    /// The published ones, byte for byte.
    fn published() -> Self {
        let one = |state: &str| {
            let id = format!("1-DocumentReferenceResponse{state}");
            (id.clone(), published(&format!("DocumentReference-{id}.json")))
        };
        Self {
            identifier: "urn:uuid:1901332d-6012-443f-9690-9291adb2e19d".to_owned(),
            in_progress: one("InProgress"),
            completed: one("Completed"),
            failed: one("Failed"),
            found: published("Bundle-ex-findDocumentReferencesResponse.json"),
            capability: published("CapabilityStatement-ch-elm-documentrecipient.json"),
            reason: "unknown type of laboratory report",
        }
    }

    /// A server that prints this. A create is accepted, or answered with `instead`.
    async fn serve(&self, world: &World, instead: Option<Reaction>) -> ScriptedServer {
        let printed = self.clone();
        world
            .server(move |seen: &Seen| {
                let path = seen.target.split('?').next().unwrap_or_default();
                let within = path.strip_prefix("/v1/fhir/").unwrap_or_default();
                let ids = [&printed.in_progress, &printed.completed, &printed.failed];
                match (seen.method.as_str(), within.strip_prefix("DocumentReference")) {
                    ("POST", Some("")) => instead.clone().unwrap_or_else(|| {
                        let place = format!("DocumentReference/{}", printed.in_progress.0);
                        answer(201, printed.in_progress.1.clone()).header("Location", &place)
                    }),
                    ("GET", Some("")) => answer(200, printed.found.clone()),
                    ("GET", None) if within == "metadata" => {
                        answer(200, printed.capability.clone())
                    }
                    ("GET", Some(id)) => {
                        let known = ids.iter().find(|(known, _)| id[1..] == **known);
                        known.map_or(answer(404, ""), |(_, body)| answer(200, body.clone()))
                    }
                    _ => answer(405, ""),
                }
            })
            .await
    }
}

fn published(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/exchange/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

/// Everything that the product asks of an authority, in each release.
async fn works_with(printed: Printed) {
    let world = World::new();
    for release in Release::ALL {
        let server = printed.serve(&world, None).await;
        let mut endpoint = world.endpoint(&server);
        endpoint.release = release;
        let authority = world.authority_of(&endpoint);
        let (capability, _) = authority.capability().await.unwrap();
        assert_eq!(capability.fhir_version.as_deref(), Some("4.0.1"));
        for interaction in ["create", "read", "search-type"] {
            assert!(capability.interactions.iter().any(|one| one == interaction), "{interaction}");
        }

        let report = Envelope { identifier: printed.identifier.clone(), ..wrapped() };
        let accepted = authority.submit(&report).await.unwrap();
        is(&accepted, &printed.in_progress, Processing::InProgress);
        let (receipt, _) = &printed.in_progress;
        let read = authority.status(receipt).await.unwrap();
        is(&read, &printed.in_progress, Processing::InProgress);
        let read = authority.status(&printed.completed.0).await.unwrap();
        is(&read, &printed.completed, Processing::Completed);
        let read = authority.status(&printed.failed.0).await.unwrap();
        is(&read, &printed.failed, Processing::Failed);
        assert!(read.answer.issues[0].text.starts_with(printed.reason), "{:?}", read.answer);

        let found = authority.find(&printed.identifier).await.unwrap();
        assert_eq!(found.answers.len(), 1, "by identifier, in every release");
        assert_eq!(found.answers[0].processing, Some(Processing::Failed));
        let query = Query {
            last_updated: vec![TimeFilter::parse(SINCE).unwrap()],
            status: Some(Processing::Failed),
            ..Query::default()
        };
        let since = fhir::Instant::parse("2023-10-02T06:00:00Z");
        let name = match release {
            Release::R1_0_0Trialuse => {
                let fault = authority.search(&query).await.unwrap_err();
                assert_eq!(told(&fault), ("transient", "search-unsupported"));
                let fault = authority.changed_since(since).await.unwrap_err();
                assert_eq!(told(&fault), ("transient", "search-unsupported"));
                continue;
            }
            Release::R1_8_0 => "_lastUpdate",
            Release::R1_13_1 => "_lastUpdated",
        };
        let (page, _) = authority.search(&query).await.unwrap();
        assert_eq!((page.total, page.answers.len(), page.unreadable), (Some(1), 1, 0));
        assert_eq!(page.timestamp, fhir::Instant::parse("2023-10-10T12:30:18.668Z"));
        let asked = server.seen().pop().unwrap().target;
        let question = format!("{name}=gt2023-10-02T08%3A00%3A00%2B02%3A00&elm-status=failed");
        assert_eq!(asked, format!("/v1/fhir/DocumentReference?{question}"));
        // Its link repeats another question than ours: what it shows counts, that it is all does
        // not.
        let changes = authority.changed_since(since).await.unwrap();
        assert_eq!(changes.answers.len(), 1);
        assert_eq!(changes.incomplete, Some(Why::ParameterIgnored { name: name.to_owned() }));
    }
}

fn is(received: &Received, printed: &(String, Vec<u8>), processing: Processing) {
    assert_eq!(received.answer.receipt.as_deref(), Some(printed.0.as_str()));
    assert_eq!(received.answer.processing, Some(processing));
    assert!(received.answer.date.is_some() && received.answer.last_updated.is_some());
    assert_eq!(received.evidence.body, printed.1, "the proof is what came");
}

#[tokio::test]
async fn each_release_works_with_a_server_that_answers_in_the_form_of_the_pages() {
    works_with(Printed::own()).await;
}

#[published::needs("corpus/exchange")]
#[tokio::test]
async fn each_release_works_with_a_server_that_answers_as_published() {
    works_with(Printed::published()).await;
}

/// 1.13.1 answers with an OperationOutcome alone; the earlier ones with id, status and the outcome
/// contained.
async fn refuses_as_each_release_does(printed: Printed) {
    let world = World::new();
    for status in [400, 422] {
        for release in Release::ALL {
            let instead = match release {
                Release::R1_13_1 => answer(status, outcome("error")),
                _ => answer(status, printed.failed.1.clone()),
            };
            let server = printed.serve(&world, Some(instead)).await;
            let mut endpoint = world.endpoint(&server);
            endpoint.release = release;
            let report = Envelope { identifier: printed.identifier.clone(), ..wrapped() };
            let result = world.authority_of(&endpoint).submit(&report).await;
            match (release, result) {
                (Release::R1_13_1, Err(Fault::Refused { answer, .. })) => {
                    assert_eq!((answer.receipt, answer.processing), (None, None));
                    assert_eq!(answer.issues[0].text, "Constraint failed: x-1: 'no'");
                }
                (Release::R1_8_0 | Release::R1_0_0Trialuse, Ok(received)) => {
                    is(&received, &printed.failed, Processing::Failed);
                    assert!(received.answer.issues[0].text.starts_with(printed.reason));
                }
                (release, other) => panic!("{release:?}: {other:?}"),
            }
            assert_eq!(server.bodies(), 1, "sent once");
        }
    }
}

#[tokio::test]
async fn each_release_refuses_an_invalid_document_in_its_way() {
    refuses_as_each_release_does(Printed::own()).await;
}

#[published::needs("corpus/exchange")]
#[tokio::test]
async fn each_release_refuses_an_invalid_document_as_published() {
    refuses_as_each_release_does(Printed::published()).await;
}

/// What was seen on the deployed service, beside what the pages print: no `meta` on the answer to a
/// create, seven digits of fraction, a narrative with any HTML, a status of 200, another date later
/// on, and an outcome in every state.
fn as_seen(id: &str, status: &str, identifier: &str, is_create: bool) -> Vec<u8> {
    let meta = match is_create {
        true => "",
        false => r#""meta":{"versionId":"2","lastUpdated":"2025-07-10T08:31:27.6543210Z"},"#,
    };
    let seconds = if is_create { "00.1234567" } else { "00.2345678" };
    format!(
        r##"{{"resourceType":"DocumentReference","id":"{id}",{meta}"text":{{"status":"generated",
        "div":"<div xmlns=\"http://www.w3.org/1999/xhtml\"><table onclick=\"x()\"><tr><td>completed</td></tr></table></div>"}},
        "contained":[{{"resourceType":"OperationOutcome","id":"oo","issue":[{{"severity":"warning","code":"duplicate",
        "details":{{"text":"FOPH-021: identical test data are stored already"}}}}]}}],
        "extension":[{{"url":"http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status","extension":[
        {{"url":"status","valueCode":"{status}"}},{{"url":"outcome","valueReference":{{"reference":"#oo"}}}}]}}],
        "identifier":[{{"system":"urn:ietf:rfc:3986","value":"{identifier}"}}],"status":"current",
        "date":"2025-07-10T08:30:{seconds}+02:00","content":[{{"attachment":{{"url":"{identifier}"}}}}]}}"##
    )
    .into_bytes()
}

#[tokio::test]
async fn each_release_understands_what_was_seen_on_the_deployed_service() {
    let world = World::new();
    for release in Release::ALL {
        for format in [Format::Json, Format::Xml] {
            let written = move |status: &str, is_create| {
                let body = as_seen("r-1", status, crate::IDENTIFIER, is_create);
                let tree = Tree::read(&body, Format::Json, &fhir::Limits::default()).unwrap();
                assert_eq!(tree.check(), []);
                let body = if format == Format::Xml { tree.to_xml().into_bytes() } else { body };
                Reaction::answer(200, format.media_type(), body)
            };
            let server = world
                .server(move |seen: &Seen| match seen.method.as_str() {
                    "POST" => written("in-progress", true),
                    _ => written("completed", false),
                })
                .await;
            let mut endpoint = world.endpoint(&server);
            endpoint.release = release;
            let authority = world.authority_of(&endpoint);
            let report = Envelope { format, ..wrapped() };
            let created = authority.submit(&report).await.unwrap().answer;
            let read = authority.status("r-1").await.unwrap().answer;
            let both = (created.processing, read.processing);
            assert_eq!(both, (Some(Processing::InProgress), Some(Processing::Completed)));
            assert_eq!((created.last_updated, created.receipt), (None, read.receipt));
            assert!(read.last_updated > read.date && read.date > created.date, "{release:?}");
            for issue in created.issues.iter().chain(&read.issues) {
                assert_eq!(issue.rule.as_deref(), Some("FOPH-021"), "{release:?} {format:?}");
            }
        }
    }
}

/// The published requests travel as they are, with the profiles that the specification requires
/// inserted.
#[published::needs("corpus/exchange")]
#[tokio::test]
async fn the_published_requests_arrive_as_they_are() {
    let world = World::new();
    let printed = Printed::own();
    for name in ["Publish-1Doc-NeisseriaGonorrhoeae", "Publish-7Doc-SARSCoV2"] {
        let text = published(&format!("DocumentReference-{name}.json"));
        let tree = Tree::read(&text, Format::Json, &fhir::Limits::default()).unwrap();
        let own = envelope_of(&tree).unwrap().identifier.unwrap();
        let wrapped = wrap(&tree, own, "de-CH").unwrap();
        let mut expected = text.clone();
        for (offset, new) in exchange::permitted_insertions(&tree).into_iter().rev() {
            expected.splice(offset..offset, new.into_bytes());
        }
        let stored = String::from_utf8(printed.in_progress.1.clone()).unwrap();
        let stored = stored.replace(&printed.identifier, own);
        let server = printed.serve(&world, Some(answer(201, stored))).await;
        for release in Release::ALL {
            let mut endpoint = world.endpoint(&server);
            endpoint.release = release;
            let received = world.authority_of(&endpoint).submit(&wrapped).await.unwrap();
            assert_eq!(received.answer.processing, Some(Processing::InProgress));
            let seen = server.seen().pop().unwrap();
            assert!(seen.body == expected, "{name}: another body arrived");
            assert_eq!(seen.header("content-type"), Some("application/fhir+json"));
            assert_eq!(seen.header("accept"), Some("application/fhir+json"));
        }
    }
}

/// Both encodings in every release, and no credentials beside the certificate.
#[tokio::test]
async fn each_release_sends_both_encodings_and_no_credentials() {
    let world = World::new();
    let printed = Printed::own();
    let server = printed.serve(&world, None).await;
    for release in Release::ALL {
        for format in [Format::Json, Format::Xml] {
            let mut endpoint = world.endpoint(&server);
            endpoint.release = release;
            let document = testkit::DocumentBuilder::new(7);
            let body = match format {
                Format::Json => document.json(),
                Format::Xml => document.xml(),
            };
            let identifier = printed.identifier.clone();
            let report = Envelope { body: body.into_bytes(), format, identifier };
            world.authority_of(&endpoint).submit(&report).await.unwrap();
            let seen = server.seen().pop().unwrap();
            assert_eq!(seen.body, report.body);
            let mut names: Vec<_> = seen.headers.iter().map(|(name, _)| name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, ["accept", "content-length", "content-type", "host", "user-agent"]);
            for name in ["accept", "content-type"] {
                assert_eq!(seen.header(name), Some(format.media_type()), "{release:?}");
            }
        }
    }
}

/// Creates were seen to take 52 s.
#[test]
fn a_create_gets_at_least_three_minutes() {
    assert!(client::Limits::default().exchange >= std::time::Duration::from_secs(180));
}
