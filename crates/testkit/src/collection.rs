//! A collection of reports of our own making, as varied as laboratories write them: organisms,
//! specimens, every form of a result, contained and referenced resources, several reports in one
//! document, four languages. All people, laboratories and numbers are invented.

mod cases;

use cases::{CASES, Case, Found, Twist};

use crate::document::{
    coded, laboratory, loinc, practitioner, practitioner_role, random_bytes, reference, spread,
};
use crate::node::{Node, fields, list, text};

/// One report of the collection, in both encodings. Both say the same.
#[derive(Debug, Clone)]
pub struct Report {
    /// A name that no other report of the collection has; fit for a file.
    pub name: &'static str,
    /// As `application/fhir+json`.
    pub json: String,
    /// As `application/fhir+xml`.
    pub xml: String,
}

/// All reports. Each call gives the same bytes.
pub fn collection() -> Vec<Report> {
    let made = |(number, case): (usize, &Case)| {
        let bundle = Document { number: number as u64, case }.bundle();
        Report { name: case.name, json: bundle.to_json(), xml: bundle.to_xml() }
    };
    CASES.iter().enumerate().map(made).collect()
}

struct Document<'a> {
    number: u64,
    case: &'a Case,
}

impl Document<'_> {
    fn is(&self, twist: Twist) -> bool {
        self.case.twist == twist
    }

    /// How many observations with reports of their own there are.
    fn reports(&self) -> u8 {
        if self.is(Twist::TwoReports) { 2 } else { 1 }
    }

    fn at(&self) -> String {
        let (day, hour) = (1 + spread(self.number) % 9, spread(self.number ^ 0xa7) % 24);
        format!("2025-07-0{day}T{hour:02}:15:30+02:00")
    }

    fn identifier(&self) -> Node {
        let id =
            uuid::Builder::from_random_bytes(random_bytes(self.number ^ 0xc011ec7)).into_uuid();
        let id = match self.is(Twist::LargeLetters) {
            true => id.to_string().to_uppercase(),
            false => id.to_string(),
        };
        let value = text(format!("urn:uuid:{id}"));
        fields([("system", text("urn:ietf:rfc:3986")), ("value", value)])
    }

    /// The reference to an entry, as this document names its entries.
    fn to(&self, entry: &str) -> Node {
        if self.is(Twist::UuidEntries) { text_reference(self.url(entry)) } else { reference(entry) }
    }

    fn url(&self, entry: &str) -> String {
        if !self.is(Twist::UuidEntries) {
            return format!("https://labor.example/fhir/{entry}");
        }
        let seed = entry.bytes().fold(self.number, |sum, byte| spread(sum ^ u64::from(byte)));
        let id = uuid::Builder::from_random_bytes(random_bytes(seed)).into_uuid();
        format!("urn:uuid:{id}")
    }

    fn bundle(&self) -> Node {
        let mut entries: Vec<(String, Node)> = vec![
            ("Composition/report".to_owned(), self.composition()),
            ("Patient/person".to_owned(), self.patient()),
        ];
        for part in 1..=self.reports() {
            entries.push((format!("DiagnosticReport/result-{part}"), self.diagnostic_report(part)));
            entries.push((format!("Observation/test-{part}"), self.observation(part)));
            if !self.is(Twist::ContainedSpecimen) {
                entries.push((format!("Specimen/sample-{part}"), self.specimen(part)));
            }
        }
        if self.is(Twist::Members) {
            entries.push(("Observation/member".to_owned(), self.member()));
        }
        entries.push(("ServiceRequest/order".to_owned(), self.service_request()));
        let role = match self.is(Twist::UuidEntries) {
            true => {
                let person = ("practitioner", self.to("Practitioner/physician"));
                Node::Resource("PractitionerRole", vec![("id", text("requester")), person])
            }
            false => practitioner_role(),
        };
        entries.push(("PractitionerRole/requester".to_owned(), role));
        entries.push(("Practitioner/physician".to_owned(), practitioner()));
        entries.push(("Organization/laboratory".to_owned(), laboratory()));
        let entries = entries.into_iter().map(|(path, resource)| {
            fields([("fullUrl", text(self.url(&path))), ("resource", resource)])
        });
        Node::Resource(
            "Bundle",
            vec![
                ("id", text(format!("own-{}", self.number))),
                ("language", text(self.case.language)),
                ("identifier", self.identifier()),
                ("type", text("document")),
                ("timestamp", text(self.at())),
                ("entry", Node::List(entries.collect())),
            ],
        )
    }

    fn composition(&self) -> Node {
        let section = |part: u8| {
            fields([
                ("title", text(format!("Teil {part}"))),
                ("code", loinc("18725-2", "Microbiology studies (set)")),
                ("entry", list([self.to(&format!("Observation/test-{part}"))])),
            ])
        };
        let sections = (1..=self.reports()).map(section).collect();
        let div = "<div xmlns=\"http://www.w3.org/1999/xhtml\"><p>Bericht &amp; <i>Befund</i>\n  \
                   zu <b>Probe</b></p></div>";
        Node::Resource(
            "Composition",
            vec![
                ("id", text("report")),
                ("language", text(self.case.language)),
                (
                    "text",
                    fields([("status", text("generated")), ("div", Node::Xhtml(div.to_owned()))]),
                ),
                ("identifier", self.identifier()),
                ("status", text("final")),
                ("type", loinc("11502-2", "Laboratory report")),
                ("subject", self.to("Patient/person")),
                ("date", text(self.at())),
                ("author", list([self.to("Organization/laboratory")])),
                ("title", text("Laborbericht · rapport · rapporto · report")),
                ("section", Node::List(sections)),
            ],
        )
    }

    fn patient(&self) -> Node {
        let mut all = vec![("id", text("person"))];
        let address = fields([
            ("line", list([text("Beispielgasse 1"), text("Postfach 7")])),
            ("city", text("Musterlingen")),
            ("postalCode", text("9999")),
            ("country", text("CH")),
        ]);
        if self.is(Twist::Initials) {
            let name = fields([("family", text("M")), ("given", list([text("E")]))]);
            all.push(("name", list([name])));
            all.push(("gender", text("unknown")));
            all.push(("birthDate", Node::Absent("masked")));
        } else {
            let names = ["Ausgedacht", "Inventé", "Inventato", "Made-Up", "Çelik-Øst", "李"];
            let family = names[(self.number % 6) as usize];
            let name = fields([
                ("use", text("official")),
                ("family", text(family)),
                ("given", list([text("Ana"), text("Žofie")])),
            ]);
            all.push(("name", list([name])));
            let phone = fields([("system", text("phone")), ("value", text("+41 00 000 00 00"))]);
            all.push(("telecom", list([phone])));
            all.push((
                "gender",
                text(if self.number.is_multiple_of(2) { "female" } else { "male" }),
            ));
            // A birth date may be a year, a month or a day.
            let birth = ["1961", "1988-11", "2003-02-28"][(self.number % 3) as usize];
            all.push(("birthDate", text(birth)));
        }
        all.push(("address", list([address])));
        Node::Resource("Patient", all)
    }

    fn diagnostic_report(&self, part: u8) -> Node {
        Node::Resource(
            "DiagnosticReport",
            vec![
                ("id", text(format!("result-{part}"))),
                ("basedOn", list([self.to("ServiceRequest/order")])),
                ("status", text("final")),
                ("code", loinc("11502-2", "Laboratory report")),
                ("subject", self.to("Patient/person")),
                ("issued", text(self.at())),
                ("performer", list([self.to("Organization/laboratory")])),
                ("result", list([self.to(&format!("Observation/test-{part}"))])),
            ],
        )
    }

    fn observation(&self, part: u8) -> Node {
        let mut all = vec![("id", text(format!("test-{part}")))];
        match self.case.twist {
            Twist::ContainedLaboratory => {
                let inside = vec![("id", text("inside")), ("name", text("Labor im Befund"))];
                all.push(("contained", list([Node::Resource("Organization", inside)])));
            }
            Twist::ContainedSpecimen => {
                all.push(("contained", list([self.specimen_named("inside")])));
            }
            _ => {}
        }
        let performer = match self.is(Twist::ContainedLaboratory) {
            true => reference("#inside"),
            false => self.to("Organization/laboratory"),
        };
        let category = coded(
            "http://terminology.hl7.org/CodeSystem/observation-category",
            "laboratory",
            "Laboratory",
        );
        all.extend([
            ("status", text("final")),
            ("category", list([category])),
            ("code", loinc(self.case.test.0, self.case.test.1)),
            ("subject", self.to("Patient/person")),
            ("effectiveDateTime", text(self.at())),
            ("performer", list([performer])),
        ]);
        all.extend(self.value());
        if !self.case.interpretation.is_empty() {
            all.push(("interpretation", list([interpretation(self.case.interpretation)])));
        }
        if self.is(Twist::Notes) {
            let note = "Zweite Probe folgt.\n\t«Dringend» <sofort> & \"telefonisch\" 🦠 \u{a0}Ende";
            all.push(("note", list([fields([("text", text(note))])])));
        }
        if self.is(Twist::Method) {
            all.push((
                "method",
                coded("http://snomed.info/sct", "703725008", "Probe with amplification"),
            ));
        }
        all.push((
            "specimen",
            match self.is(Twist::ContainedSpecimen) {
                true => reference("#inside"),
                false => self.to(&format!("Specimen/sample-{part}")),
            },
        ));
        if self.is(Twist::Method) {
            let low = fields([("value", Node::Bare("0.0".to_owned())), ("unit", text("1"))]);
            all.push(("referenceRange", list([fields([("low", low), ("text", text("< 1"))])])));
        }
        if self.is(Twist::Members) {
            all.push(("hasMember", list([self.to("Observation/member")])));
        }
        if let Found::Parts(parts) = self.case.found {
            all.push(("component", Node::List(parts.iter().map(component).collect())));
        }
        Node::Resource("Observation", all)
    }

    fn member(&self) -> Node {
        Node::Resource(
            "Observation",
            vec![
                ("id", text("member")),
                ("status", text("final")),
                ("code", loinc("41852-5", "Microorganism or agent identified in Specimen")),
                ("subject", self.to("Patient/person")),
                ("effectiveDateTime", text(self.at())),
                ("valueString", text("Kultur angelegt")),
            ],
        )
    }

    /// The result, in its form.
    fn value(&self) -> Option<(&'static str, Node)> {
        let bare = |value: &str| Node::Bare(value.to_owned());
        Some(match self.case.found {
            Found::Code(code, display) => {
                ("valueCodeableConcept", coded("http://snomed.info/sct", code, display))
            }
            Found::Quantity(value, comparator, unit) => {
                ("valueQuantity", quantity(value, comparator, unit))
            }
            Found::Ratio(above, below) => {
                let part = |value| fields([("value", bare(value))]);
                ("valueRatio", fields([("numerator", part(above)), ("denominator", part(below))]))
            }
            Found::Range(low, high, unit) => {
                let end = |value| quantity(value, "", unit);
                ("valueRange", fields([("low", end(low)), ("high", end(high))]))
            }
            Found::Words(words) => ("valueString", text(words)),
            Found::Integer(number) => ("valueInteger", bare(number)),
            Found::Boolean(answer) => ("valueBoolean", bare(answer)),
            Found::Time(time) => ("valueDateTime", text(time)),
            Found::Absent(reason) => {
                let system = "http://terminology.hl7.org/CodeSystem/data-absent-reason";
                ("dataAbsentReason", coded(system, reason, reason))
            }
            Found::Parts(_) => return None,
        })
    }

    fn specimen(&self, part: u8) -> Node {
        self.specimen_named(&format!("sample-{part}"))
    }

    fn specimen_named(&self, id: &str) -> Node {
        let (code, display) = self.case.specimen;
        let day: String = self.at().chars().take(10).collect();
        Node::Resource(
            "Specimen",
            vec![
                ("id", text(id)),
                ("type", coded("http://snomed.info/sct", code, display)),
                ("subject", self.to("Patient/person")),
                ("collection", fields([("collectedDateTime", text(day))])),
            ],
        )
    }

    fn service_request(&self) -> Node {
        Node::Resource(
            "ServiceRequest",
            vec![
                ("id", text("order")),
                ("status", text("completed")),
                ("intent", text("order")),
                ("code", loinc(self.case.test.0, self.case.test.1)),
                ("subject", self.to("Patient/person")),
                ("requester", self.to("PractitionerRole/requester")),
            ],
        )
    }
}

fn text_reference(target: String) -> Node {
    fields([("reference", text(target))])
}

fn interpretation(code: &str) -> Node {
    let system = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation";
    fields([("coding", list([fields([("system", text(system)), ("code", text(code))])]))])
}

fn component(part: &(&'static str, &'static str, &'static str)) -> Node {
    let (code, display, interpreted) = part;
    fields([
        ("code", loinc(code, display)),
        ("interpretation", list([interpretation(interpreted)])),
    ])
}

fn quantity(value: &str, comparator: &str, unit: &str) -> Node {
    let mut all = vec![("value", Node::Bare(value.to_owned()))];
    if !comparator.is_empty() {
        all.push(("comparator", text(comparator)));
    }
    all.extend([
        ("unit", text(unit)),
        ("system", text("http://unitsofmeasure.org")),
        ("code", text(unit)),
    ]);
    Node::Fields(all)
}
