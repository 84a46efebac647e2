// A small package of rules of our own, in the place where the authority's would be, and a report that breaks it in
// twelve ways. No code, rule or person is real.

const FHIR = "http://hl7.org/fhir/StructureDefinition";
const ENTRY = "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-document-strict";
const SETS = "http://rules.test/ValueSet";

interface Element {
  path: string;
  min?: number;
  max?: string;
  [more: string]: unknown;
}

const typed = (code: string) => ({ type: [{ code }] });
const bound = (set: string) => ({ binding: { strength: "required", valueSet: `${SETS}/${set}` } });
const rule = (key: string, human: string, expression: string) => ({
  constraint: [{ key, severity: "error", human, expression }],
});

function definition(type: string, url: string, elements: Element[]) {
  const element = [{ path: type }, ...elements].map((of) => ({ id: of.path, min: 0, max: "*", ...of }));
  return {
    resourceType: "StructureDefinition",
    url,
    version: "1.0.0",
    kind: "resource",
    abstract: false,
    type,
    derivation: "specialization",
    snapshot: { element },
  };
}

function valueSet(name: string, system: string, codes: Record<string, string>) {
  const concept = Object.entries(codes).map(([code, display]) => ({ code, display }));
  return {
    resourceType: "ValueSet",
    url: `${SETS}/${name}`,
    version: "1.0.0",
    compose: { include: [{ system, concept }] },
  };
}

const BUNDLE: Element[] = [
  { path: "Bundle.entry", ...typed("BackboneElement") },
  { path: "Bundle.entry.resource", max: "1", ...typed("Resource") },
];

const PATIENT: Element[] = [
  { path: "Patient.identifier", ...typed("Identifier") },
  {
    path: "Patient.identifier.value",
    max: "1",
    ...typed("string"),
    ...rule("ahvn13-length", "AHVN13 must start with 756 followed by 10 digits", "matches('^756[0-9]{10}$')"),
  },
  { path: "Patient.address", ...typed("Address") },
  { path: "Patient.address.city", max: "1", ...typed("string"), maxLength: 20 },
  { path: "Patient.address.state", max: "1", ...typed("string"), ...bound("cantons") },
  { path: "Patient.address.country", max: "1", ...typed("string"), ...bound("countries") },
];

const OTHERS: [string, Element[]][] = [
  ["Patient", PATIENT],
  ["ServiceRequest", [{ path: "ServiceRequest.intent", max: "1", ...typed("code"), fixedCode: "order" }]],
  [
    "Specimen",
    [
      { path: "Specimen.collection", max: "1", ...typed("BackboneElement") },
      {
        path: "Specimen.collection.collected[x]",
        max: "1",
        ...typed("dateTime"),
        ...rule("ch-elm-dateTime", "At least the format YYYY-MM-DD is required.", "toString().length() >= 10"),
      },
      { path: "Specimen.note", max: "0", ...typed("Annotation") },
    ],
  ],
  ["Organization", [{ path: "Organization.name", min: 1, max: "1", ...typed("string") }]],
  [
    "Practitioner",
    [
      { path: "Practitioner.identifier", ...typed("Identifier") },
      { path: "Practitioner.identifier.system", max: "1", ...typed("uri"), fixedUri: "urn:oid:2.51.1.3" },
    ],
  ],
];

/** The package, as a Bundle of definitions. */
export function teachingPackage(): string {
  const all = [
    definition("Bundle", ENTRY, BUNDLE),
    ...OTHERS.map(([type, elements]) => definition(type, `${FHIR}/${type}`, elements)),
    valueSet("cantons", "http://rules.test/cantons", { BE: "Bern", ZH: "Zürich", GE: "Genève" }),
    valueSet("countries", "urn:iso:std:iso:3166", { CH: "Schweiz", LI: "Liechtenstein", FR: "Frankreich" }),
  ];
  return JSON.stringify({ resourceType: "Bundle", type: "collection", entry: all.map((resource) => ({ resource })) });
}

/** Rules that allow these codes of LOINC for what an observation tests, with their names. */
export function testsPackage(codes: Record<string, string>): string {
  const observation = [{ path: "Observation.code", max: "1", ...typed("CodeableConcept"), ...bound("tests") }];
  const all = [
    definition("Bundle", ENTRY, BUNDLE),
    definition("Observation", `${FHIR}/Observation`, observation),
    valueSet("tests", "http://loinc.org", codes),
  ];
  return JSON.stringify({ resourceType: "Bundle", type: "collection", entry: all.map((resource) => ({ resource })) });
}

/** What is right in the sample, and the mistake that stands there instead. */
const MISTAKES: [right: string | RegExp, wrong: string][] = [
  // What needs no judgement.
  ['"country": "CH"', '"country": "Schweiz"'],
  ['"state": "BE"', '"state": "Bern"'],
  ['"value": "7560000000066"', '"value": "756.0000.0000.66"'],
  [
    '"system": "http://loinc.org",\n              "code": "20955-1"',
    '"system": "https://loinc.org",\n              "code": "20955-1"',
  ],
  ['T07:40:00+02:00"', ' 07:40:00+0200"'],
  [
    '"system": "urn:oid:2.51.1.3",\n            "value": "7601000000019"',
    '"system": "urn:oid:2.51.1.33",\n            "value": "7601000000019"',
  ],
  // What a person has to know.
  ['"gender": "male"', '"gender": "man"'],
  [/"collectedDateTime": "(\d{4}-\d{2})-\d{2}"/, '"collectedDateTime": "$1"'],
  ['"city": "Musterhausen"', '"city": "Musterhausen bei Musterdorf am See"'],
  ['"intent": "order"', '"intent": "plan"'],
  ['\n        "name": "Arztpraxis Beispielmatt"', '\n        "language": "de-CH"'],
  ['"id": "specimen",', '"id": "specimen",\n        "note": [{ "text": "x" }],'],
];

/** The sample with all twelve mistakes. */
export function spoiled(sample: string): string {
  return MISTAKES.reduce(
    (text, [right, wrong]) => {
      const spoiledOnce = text.replace(right, wrong);
      if (spoiledOnce === text) throw new Error(`the sample has no ${right}`);
      return spoiledOnce;
    },
    sample.replace("Muster-Fehler", "Muster"),
  );
}
