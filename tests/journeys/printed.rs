//! The real program against a scripted server for each release, which answers in the form that the
//! pages print: from the file to *completed* and to *failed* with the authority's words, in both
//! encodings.

use std::sync::{Arc, Mutex};

use engine::{Clock as _, SystemClock};
use exchange::{Processing, envelope_of};
use fhir::{Format, Limits, Tree};
use journeys::{Laboratory, column, objects};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{DocumentBuilder, Reaction, ScriptedServer, ScriptedTls, Seen, TestCa};
use tokio::runtime::Runtime;

const REASON: &str = "Constraint failed: FOPH-012: 'no code of a notifiable test'";

/// What a server has taken in: the identifier of each report, in order.
#[derive(Default)]
struct Taken(Mutex<Vec<String>>);

impl Taken {
    /// The answer to a request.
    fn answer(&self, seen: &Seen) -> Reaction {
        let mut all = self.0.lock().unwrap();
        let wants_xml = seen.header("accept").is_some_and(|accept| accept.ends_with("xml"));
        let format = if wants_xml { Format::Xml } else { Format::Json };
        let path = seen.target.split('?').next().unwrap_or_default();
        let place = path.strip_prefix("/v1/fhir/DocumentReference");
        let (status, text) = match (seen.method.as_str(), place) {
            // Asked once by the head alone.
            ("POST", Some("")) if seen.body.is_empty() => return Reaction::answer(500, "", ""),
            ("POST", Some("")) => {
                let sent = Tree::read(&seen.body, format, &Limits::default()).unwrap();
                all.push(envelope_of(&sent).unwrap().identifier.unwrap().to_owned());
                (201, reference(&all, all.len() - 1, Processing::InProgress))
            }
            ("GET", Some("")) => (200, found(&all, &seen.target)),
            ("GET", Some(id)) => {
                let index = id.trim_start_matches("/printed-").parse::<usize>().unwrap();
                (200, reference(&all, index, end_of(index)))
            }
            _ => (200, CAPABILITY.to_owned()),
        };
        let tree = Tree::read(text.as_bytes(), Format::Json, &Limits::default()).unwrap();
        assert_eq!(tree.check(), []);
        let body = if format == Format::Xml { tree.to_xml() } else { text };
        Reaction::answer(status, format.media_type(), body)
    }
}

const CAPABILITY: &str = r#"{ "resourceType": "CapabilityStatement", "status": "active", "date": "2023-10-10",
  "kind": "requirements", "fhirVersion": "4.0.1", "format": [ "application/fhir+xml", "application/fhir+json" ],
  "rest": [ { "mode": "server", "resource": [ { "type": "DocumentReference",
    "interaction": [ { "code": "create" }, { "code": "read" }, { "code": "search-type" } ] } ] } ] }"#;

/// Every second report fails.
fn end_of(index: usize) -> Processing {
    if index.is_multiple_of(2) { Processing::Completed } else { Processing::Failed }
}

fn reference(all: &[String], index: usize, processing: Processing) -> String {
    let (identifier, status) = (&all[index], processing.code());
    let now = SystemClock.now().to_search();
    let (contained, link) = match processing {
        Processing::Failed => (
            format!(
                r##""contained": [ {{ "resourceType": "OperationOutcome", "id": "messages", "issue": [
    {{ "severity": "error", "code": "not-supported", "diagnostics": "{REASON}" }} ] }} ],"##
            ),
            r##", { "url": "outcome", "valueReference": { "reference": "#messages" } }"##,
        ),
        _ => (String::new(), ""),
    };
    format!(
        r##"{{
  "resourceType": "DocumentReference",
  "id": "printed-{index}",
  "meta": {{ "versionId": "1", "lastUpdated": "{now}Z" }},
  {contained}
  "extension": [ {{
    "extension": [ {{ "url": "status", "valueCode": "{status}" }}{link} ],
    "url": "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status" }} ],
  "identifier": [ {{ "system": "urn:ietf:rfc:3986", "value": "{identifier}" }} ],
  "status": "current",
  "date": "{now}Z",
  "content": [ {{ "attachment": {{ "url": "{identifier}" }} }} ]
}}"##
    )
}

fn found(all: &[String], target: &str) -> String {
    let asked = exchange::pairs(target.split_once('?').map_or("", |(_, query)| query));
    let asked: Vec<_> = asked.filter(|(name, _)| name == "identifier").collect();
    let is_meant = |identifier: &String| asked.iter().all(|(_, value)| value.contains(identifier));
    let entries: Vec<_> = (0..all.len())
        .filter(|index| is_meant(&all[*index]))
        .map(|index| format!(r#"{{ "resource": {} }}"#, reference(all, index, end_of(index))))
        .collect();
    let now = SystemClock.now().to_search();
    let list = match entries.is_empty() {
        true => String::new(),
        false => format!(r#", "entry": [ {} ]"#, entries.join(", ")),
    };
    format!(
        r#"{{ "resourceType": "Bundle", "type": "searchset", "timestamp": "{now}Z", "total": {},
  "link": [ {{ "relation": "self", "url": "https://localhost{}" }} ]{list} }}"#,
        entries.len(),
        target
    )
}

/// The releases, and the parameter by which each searches for changes.
const RELEASES: [(&str, Option<&str>); 3] = [
    ("1.13.1", Some("_lastUpdated=ge")),
    ("1.8.0", Some("_lastUpdate=ge")),
    ("1.0.0-trialuse", None),
];

/// Where servers run, and what they and their clients are known by.
struct Ground {
    runtime: Runtime,
    ca: TestCa,
    files: TempDir,
}

impl Ground {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (ca, files) = (TestCa::new("Behörde"), tempfile::tempdir().unwrap());
        std::fs::write(files.path().join("ca.pem"), ca.pem()).unwrap();
        let certificate = ca.client("labor-beispiel").pem();
        testkit::write_private(&files.path().join("laboratory.pem"), certificate);
        Self { runtime, ca, files }
    }

    fn serve(&self, plan: impl Fn(&Seen) -> Reaction + Send + Sync + 'static) -> ScriptedServer {
        let tls = ScriptedTls::mutual(self.ca.loopback_server(), self.ca.der());
        self.runtime.block_on(ScriptedServer::start(tls, plan))
    }

    fn laboratory(&self, server: &ScriptedServer, release: &str) -> Laboratory {
        let trusted = self.files.path().join("ca.pem");
        let laboratory = Laboratory::trusting(&server.base(), &trusted, release);
        let certificate = self.files.path().join("laboratory.pem");
        laboratory.must(&["identity", "import", certificate.to_str().unwrap()]);
        laboratory
    }

    /// Sends files, and waits for their ends.
    fn sent(laboratory: &Laboratory, files: &[(&str, Vec<u8>)]) -> Vec<Value> {
        let paths: Vec<_> = files.iter().map(|(name, _)| laboratory.folder().join(name)).collect();
        for (path, (_, bytes)) in paths.iter().zip(files) {
            std::fs::write(path, bytes).unwrap();
        }
        let mut command = laboratory.command(&["send", "--wait", "--timeout", "60s"]);
        objects(&command.args(paths).output().unwrap())
    }
}

/// The published request, sent by the program to a server that prints the published answer to it.
#[published::needs("corpus/exchange")]
#[test]
fn the_published_request_ends_as_the_published_answers_say() {
    let ground = Ground::new();
    let published = |name: &str| {
        let file = journeys::corpus().join(format!("exchange/{name}.json"));
        std::fs::read(file).unwrap()
    };
    for (release, _) in RELEASES {
        // The identifier of the request belongs to one delivery: each answer gets a laboratory of
        // its own.
        for state in ["Completed", "Failed"] {
            let id = format!("1-DocumentReferenceResponse{state}");
            let answer = published(&format!("DocumentReference-{id}"));
            let found = published("Bundle-ex-findDocumentReferencesResponse");
            let capability = published("CapabilityStatement-ch-elm-documentrecipient");
            let server = ground.serve(move |seen: &Seen| {
                let (status, body) = match seen.method.as_str() {
                    "POST" => (201, &answer),
                    _ if seen.target.contains("metadata") => (200, &capability),
                    _ => (200, &found),
                };
                Reaction::answer(status, "application/fhir+json", body.clone())
            });
            let laboratory = ground.laboratory(&server, release);
            let request = published("DocumentReference-Publish-1Doc-NeisseriaGonorrhoeae");
            let reports = Ground::sent(&laboratory, &[("request.json", request)]);
            let state = state.to_lowercase();
            assert_eq!(column(&reports, "state"), [state.as_str()], "{release}: {reports:?}");
            assert_eq!(column(&reports, "receipt"), [id]);
            let issues = reports[0]["issues"].as_array().unwrap();
            let told = issues.iter().any(|issue| issue["source"] == "authority");
            assert_eq!(told, state == "failed", "its words come with it: {issues:?}");
            assert_eq!(server.bodies(), 1, "sent once");
        }
    }
}

#[test]
fn each_release_is_spoken_with_a_server_that_answers_as_printed() {
    let ground = Ground::new();
    for (release, parameter) in RELEASES {
        let taken = Arc::new(Taken::default());
        let answers = Arc::clone(&taken);
        let server = ground.serve(move |seen| answers.answer(seen));
        let laboratory = ground.laboratory(&server, release);
        let json = DocumentBuilder::new(1).json().into_bytes();
        let xml = DocumentBuilder::new(2).xml().into_bytes();
        let reports = Ground::sent(&laboratory, &[("a.json", json), ("b.xml", xml)]);
        assert_eq!(column(&reports, "state"), ["completed", "failed"], "{release}: {reports:?}");
        assert_eq!(column(&reports, "receipt"), ["printed-0", "printed-1"]);
        let told = &reports[1]["issues"][0];
        assert_eq!((&told["source"], &told["rule"]), (&"authority".into(), &"FOPH-012".into()));
        assert_eq!(taken.0.lock().unwrap().len(), 2, "each was sent once");

        let asked: Vec<_> = server.seen().into_iter().map(|seen| seen.target).collect();
        match parameter {
            Some(name) => assert!(asked.iter().any(|target| target.contains(name)), "{asked:?}"),
            None => assert!(!asked.iter().any(|target| target.contains("_last")), "{asked:?}"),
        }
    }
}
