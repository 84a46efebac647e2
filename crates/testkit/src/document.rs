//! Valid laboratory report documents of made-up people, in either encoding.

use crate::node::{Node, fields, list, text};

/// A notifiable disease with the test that finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disease {
    /// LOINC code of the test.
    pub test: &'static str,
    /// Its display.
    pub test_display: &'static str,
    /// SNOMED CT code of the finding.
    pub finding: &'static str,
    /// Its display.
    pub finding_display: &'static str,
}

impl Disease {
    /// A few, for variety.
    pub const ALL: [Self; 4] = [
        Self {
            test: "94500-6",
            test_display: "SARS-CoV-2 (COVID-19) RNA [Presence] in Respiratory system specimen by \
                           NAA with probe detection",
            finding: "260373001",
            finding_display: "Detected",
        },
        Self {
            test: "697-3",
            test_display: "Neisseria gonorrhoeae [Presence] in Urethra by Organism specific \
                           culture",
            finding: "10828004",
            finding_display: "Positive",
        },
        Self {
            test: "20783-8",
            test_display: "Legionella pneumophila Ag [Presence] in Urine by Immunoassay",
            finding: "10828004",
            finding_display: "Positive",
        },
        Self {
            test: "6574-8",
            test_display: "Plasmodium sp [Identifier] in Blood by Light microscopy",
            finding: "30020004",
            finding_display: "Plasmodium falciparum",
        },
    ];
}

/// Builds one document Bundle. Equal settings give equal bytes.
#[derive(Debug, Clone)]
pub struct DocumentBuilder {
    seed: u64,
    disease: Disease,
    identifier: String,
    timestamp: String,
    language: Option<String>,
    family: String,
}

impl DocumentBuilder {
    /// The n-th of an endless series: another person, another identifier, another time.
    pub fn new(seed: u64) -> Self {
        const FAMILIES: [&str; 6] =
            ["Muster", "Beispiel", "Exempel", "Probst", "Modèle", "Campione"];
        let pick = |salt: u64| spread(seed.wrapping_add(salt << 32));
        let day = 1 + pick(1) % 28;
        let (hour, minute) = (pick(2) % 24, pick(3) % 60);
        Self {
            seed,
            disease: Disease::ALL[index(pick(4), Disease::ALL.len())],
            identifier: format!(
                "urn:uuid:{}",
                uuid::Builder::from_random_bytes(random_bytes(seed)).into_uuid()
            ),
            timestamp: format!("2026-06-{day:02}T{hour:02}:{minute:02}:00+02:00"),
            language: Some("de-CH".to_owned()),
            family: FAMILIES[index(pick(5), FAMILIES.len())].to_owned(),
        }
    }

    /// Another disease.
    #[must_use]
    pub fn disease(mut self, disease: Disease) -> Self {
        self.disease = disease;
        self
    }

    /// `Bundle.identifier.value` and `Composition.identifier.value`.
    #[must_use]
    pub fn identifier(mut self, identifier: &str) -> Self {
        identifier.clone_into(&mut self.identifier);
        self
    }

    /// `Bundle.timestamp`, `Composition.date` and the time of the test (FHIR instant).
    #[must_use]
    pub fn timestamp(mut self, timestamp: &str) -> Self {
        timestamp.clone_into(&mut self.timestamp);
        self
    }

    /// `Composition.language`; `None` leaves it out.
    #[must_use]
    pub fn language(mut self, language: Option<&str>) -> Self {
        self.language = language.map(ToOwned::to_owned);
        self
    }

    /// Family name of the patient.
    #[must_use]
    pub fn family(mut self, family: &str) -> Self {
        family.clone_into(&mut self.family);
        self
    }

    /// As `application/fhir+json`, indented.
    pub fn json(&self) -> String {
        self.bundle().to_json()
    }

    /// As `application/fhir+xml`.
    pub fn xml(&self) -> String {
        self.bundle().to_xml()
    }

    /// `Bundle.identifier.value` as it stands in the document.
    pub fn identifier_value(&self) -> &str {
        &self.identifier
    }

    fn day(&self) -> String {
        self.timestamp.chars().take(10).collect()
    }

    fn bundle(&self) -> Node {
        let entries = [
            ("Composition/report", self.composition()),
            ("DiagnosticReport/result", self.diagnostic_report()),
            ("Patient/person", self.patient()),
            ("Observation/test", self.observation()),
            ("Specimen/sample", self.specimen()),
            ("ServiceRequest/order", self.service_request()),
            ("PractitionerRole/requester", practitioner_role()),
            ("Practitioner/physician", practitioner()),
            ("Organization/laboratory", laboratory()),
        ];
        let entries = entries.into_iter().map(|(path, resource)| {
            let url = format!("https://labor.example/fhir/{path}");
            fields([("fullUrl", text(url)), ("resource", resource)])
        });
        Node::Resource(
            "Bundle",
            vec![
                ("id", text(format!("report-{}", self.seed))),
                ("identifier", self.uuid_identifier()),
                ("type", text("document")),
                ("timestamp", text(&self.timestamp)),
                ("entry", Node::List(entries.collect())),
            ],
        )
    }

    fn uuid_identifier(&self) -> Node {
        fields([("system", text("urn:ietf:rfc:3986")), ("value", text(&self.identifier))])
    }

    fn composition(&self) -> Node {
        let mut all = vec![("id", text("report"))];
        all.extend(self.language.as_ref().map(|language| ("language", text(language))));
        let div = format!(
            "<div xmlns=\"http://www.w3.org/1999/xhtml\"><p>Laborbericht <b>{}</b></p></div>",
            self.seed
        );
        let section = fields([
            ("title", text("Mikrobiologie")),
            ("code", loinc("18725-2", "Microbiology studies (set)")),
            ("entry", list([reference("Observation/test")])),
        ]);
        all.extend([
            ("text", fields([("status", text("generated")), ("div", Node::Xhtml(div))])),
            ("identifier", self.uuid_identifier()),
            ("status", text("final")),
            ("type", loinc("11502-2", "Laboratory report")),
            ("subject", reference("Patient/person")),
            ("date", text(&self.timestamp)),
            ("author", list([reference("Organization/laboratory")])),
            ("title", text("Laborbericht")),
            ("section", list([section])),
        ]);
        Node::Resource("Composition", all)
    }

    fn diagnostic_report(&self) -> Node {
        let composition = Node::Extension(
            "http://hl7.org/fhir/5.0/StructureDefinition/extension-DiagnosticReport.composition",
            vec![("valueReference", reference("Composition/report"))],
        );
        Node::Resource(
            "DiagnosticReport",
            vec![
                ("id", text("result")),
                ("extension", list([composition])),
                ("identifier", list([self.uuid_identifier()])),
                ("basedOn", list([reference("ServiceRequest/order")])),
                ("status", text("final")),
                ("code", loinc("11502-2", "Laboratory report")),
                ("subject", reference("Patient/person")),
                ("performer", list([reference("Organization/laboratory")])),
                ("specimen", list([reference("Specimen/sample")])),
                ("result", list([reference("Observation/test")])),
            ],
        )
    }

    fn patient(&self) -> Node {
        let year = 1940 + spread(self.seed ^ 0x5eed) % 70;
        let gender = if self.seed.is_multiple_of(2) { "female" } else { "male" };
        let name =
            fields([("family", text(&self.family)), ("given", list([text("A"), text("B")]))]);
        let address = fields([
            ("use", text("home")),
            ("city", text("Musterdorf")),
            ("state", text("BE")),
            ("postalCode", text("3999")),
            ("country", text("CH")),
        ]);
        // A number in the shape of a Swiss insurance number (756…) that was never issued.
        let number = format!("7560000{:06}", spread(self.seed) % 1_000_000);
        let identifier =
            fields([("system", text("urn:oid:2.16.756.5.32")), ("value", text(number))]);
        Node::Resource(
            "Patient",
            vec![
                ("id", text("person")),
                ("identifier", list([identifier])),
                ("name", list([name])),
                ("gender", text(gender)),
                ("birthDate", text(format!("{year}-03-14"))),
                ("address", list([address])),
            ],
        )
    }

    fn observation(&self) -> Node {
        let category = coded(
            "http://terminology.hl7.org/CodeSystem/observation-category",
            "laboratory",
            "Laboratory",
        );
        let interpretation = coded(
            "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation",
            "POS",
            "Positive",
        );
        let finding =
            coded("http://snomed.info/sct", self.disease.finding, self.disease.finding_display);
        Node::Resource(
            "Observation",
            vec![
                ("id", text("test")),
                ("status", text("final")),
                ("category", list([category])),
                ("code", loinc(self.disease.test, self.disease.test_display)),
                ("subject", reference("Patient/person")),
                ("effectiveDateTime", text(&self.timestamp)),
                ("performer", list([reference("Organization/laboratory")])),
                ("valueCodeableConcept", finding),
                ("interpretation", list([interpretation])),
                ("specimen", reference("Specimen/sample")),
            ],
        )
    }

    fn specimen(&self) -> Node {
        let quantity = fields([
            ("value", Node::Bare("2.50".to_owned())),
            ("unit", text("mL")),
            ("system", text("http://unitsofmeasure.org")),
            ("code", text("mL")),
        ]);
        let collection = fields([("collectedDateTime", text(self.day())), ("quantity", quantity)]);
        Node::Resource(
            "Specimen",
            vec![
                ("id", text("sample")),
                ("subject", reference("Patient/person")),
                ("collection", collection),
            ],
        )
    }

    fn service_request(&self) -> Node {
        let number = fields([("value", text(format!("A-{:08}", self.seed)))]);
        Node::Resource(
            "ServiceRequest",
            vec![
                ("id", text("order")),
                ("identifier", list([number])),
                ("status", text("completed")),
                ("intent", text("order")),
                ("code", loinc(self.disease.test, self.disease.test_display)),
                ("subject", reference("Patient/person")),
                ("requester", reference("PractitionerRole/requester")),
                ("specimen", list([reference("Specimen/sample")])),
            ],
        )
    }
}

pub(crate) fn practitioner_role() -> Node {
    let practitioner = ("practitioner", reference("Practitioner/physician"));
    Node::Resource("PractitionerRole", vec![("id", text("requester")), practitioner])
}

pub(crate) fn practitioner() -> Node {
    let name = fields([("family", text("Ärztin")), ("given", list([text("Zoë")]))]);
    Node::Resource("Practitioner", vec![("id", text("physician")), ("name", list([name]))])
}

pub(crate) fn laboratory() -> Node {
    let identifier =
        fields([("system", text("urn:oid:2.51.1.3")), ("value", text("7601000000002"))]);
    Node::Resource(
        "Organization",
        vec![
            ("id", text("laboratory")),
            ("identifier", list([identifier])),
            ("name", text("Labor Beispiel & Söhne")),
        ],
    )
}

pub(crate) fn reference(target: &str) -> Node {
    fields([("reference", text(target))])
}

pub(crate) fn loinc(code: &str, display: &str) -> Node {
    coded("http://loinc.org", code, display)
}

pub(crate) fn coded(system: &str, code: &str, display: &str) -> Node {
    let coding = [("system", text(system)), ("code", text(code)), ("display", text(display))];
    fields([("coding", list([fields(coding)]))])
}

/// SplitMix64: the same seed gives the same document on every machine.
pub(crate) fn spread(seed: u64) -> u64 {
    let mut value = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

pub(crate) fn random_bytes(seed: u64) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    bytes[..8].copy_from_slice(&spread(seed ^ 0xd0c).to_le_bytes());
    bytes[8..].copy_from_slice(&spread(seed ^ 0x1d).to_le_bytes());
    bytes
}

fn index(number: u64, length: usize) -> usize {
    usize::try_from(number % length as u64).unwrap_or_default()
}
