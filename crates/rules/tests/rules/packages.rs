//! Packages: read under bounds, kept side by side, found by canonical and version.

use std::io::Write;

use fhir::{Format, Instant, Limits, Tree};
use flate2::Compression;
use flate2::write::GzEncoder;
use rules::{Asked, Fault, InUse, Mode, Package, PackageLimits, RuleSet, Store, missing};
use serde_json::{Value, json};

use crate::teaching::{element, errors, found, profile, url};

pub(crate) fn archive(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        // Names are written as they are: the archive may be hostile.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, content.as_slice()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn manifest(name: &str, version: &str, dependencies: Value) -> (&'static str, Vec<u8>) {
    let manifest = json!({ "name": name, "version": version, "fhirVersions": ["4.0.1"],
        "dependencies": dependencies });
    ("package/package.json", manifest.to_string().into_bytes())
}

fn definition(min: u32) -> (&'static str, Vec<u8>) {
    let elements = [
        element("Patient", "", "", json!({})),
        element("Patient.name", "", "", json!({ "min": min, "max": "*" })),
    ];
    let mut profile = profile("shared", "Patient", &elements);
    let elements = profile["differential"].take();
    profile["snapshot"] = elements;
    ("package/StructureDefinition-shared.json", profile.to_string().into_bytes())
}

fn package(name: &str, version: &str, dependencies: Value, min: u32) -> Package {
    let bytes = archive(&[manifest(name, version, dependencies), definition(min)]);
    Package::read(&bytes, &PackageLimits::default()).unwrap()
}

fn fault(bytes: &[u8]) -> Fault {
    let limits = PackageLimits {
        unpacked_max: 1 << 20,
        file_max: 64 << 10,
        files_max: 20,
        ..PackageLimits::default()
    };
    Package::read(bytes, &limits).unwrap_err()
}

#[test]
fn hostile_archives_are_refused_by_name() {
    let fine = manifest("a.b", "1.0.0", json!({}));
    let one = definition(1);
    assert_eq!(fault(b"neither"), Fault::NotAPackage);
    assert_eq!(fault(b"{}"), Fault::NoDefinitions);
    assert_eq!(fault(&[0x1f, 0x8b, 8, 0, 1]), Fault::Damaged);
    let whole = archive(&[fine.clone(), one.clone()]);
    assert_eq!(fault(&whole[..whole.len() / 2]), Fault::Damaged);
    // The checksum stands behind what the archive needs.
    let mut changed = whole.clone();
    let checksum = changed.len() - 8;
    changed[checksum] ^= 1;
    assert_eq!(fault(&changed), Fault::Damaged);
    assert_eq!(fault(&archive(std::slice::from_ref(&one))), Fault::NoManifest);
    assert_eq!(fault(&archive(&[fine.clone(), ("package/../x.json", vec![])])), Fault::PathOutside);
    let outside = manifest("../x", "1.0.0", json!({}));
    assert_eq!(fault(&archive(&[outside, one.clone()])), Fault::BadManifest { member: "name" });
    let other = json!({ "name": "a", "version": "1", "fhirVersions": ["5.0.0"] }).to_string();
    let other = ("package/package.json", other.into_bytes());
    assert_eq!(fault(&archive(&[other, one.clone()])).code(), "other-fhir");
    // A bomb: little to hand over, much to unpack.
    let bomb = archive(&[fine.clone(), ("package/a.json", vec![b' '; 2 << 20])]);
    assert!(bomb.len() < 20_000);
    assert_eq!(fault(&bomb).code(), "too-large");
    let aside = archive(&[fine.clone(), ("elsewhere/a.bin", vec![0; 2 << 20])]);
    assert_eq!(fault(&aside).code(), "too-large");
    let many: Vec<_> = (0..30).map(|_| ("package/a.json", b"{}".to_vec())).collect();
    assert_eq!(fault(&archive(&many)).code(), "too-many-files");
    let deep = "[".repeat(60_000).into_bytes();
    let deep = fault(&archive(&[fine, one, ("package/deep.json", deep)]));
    assert_eq!(
        (deep.code(), deep.definition()),
        ("definition-not-json", Some("deep.json".to_owned()))
    );
}

/// A package of which a part cannot be used is not used without that part: it would say less than
/// its publisher means.
#[test]
fn a_broken_definition_is_named_and_nothing_is_taken_in() {
    let file = |name: &'static str, content: &Value| (name, content.to_string().into_bytes());
    let of = |name: &str, base: &str| {
        let mut profile = profile(name, "Patient", &[]);
        profile["baseDefinition"] = json!(url(base));
        profile
    };
    let told = |files: &[(&'static str, Vec<u8>)]| {
        let all = [&[manifest("a.b", "1.0.0", json!({})), definition(1)], files].concat();
        let read = Package::read(&archive(&all), &PackageLimits::default());
        read.err().map(|fault| (fault.code(), fault.definition().unwrap()))
    };
    let (one, two) = ("package/one.json", "package/two.json");
    assert_eq!(told(&[(one, b"{".to_vec())]), Some(("definition-not-json", "one.json".to_owned())));
    let mut nameless = of("x", "y");
    nameless["url"].take();
    let nameless = told(&[file(one, &nameless)]);
    assert_eq!(nameless, Some(("definition-without-address", "one.json".to_owned())));
    let (x, other) = (of("x", "y"), of("x", "z"));
    assert_eq!(told(&[file(one, &x), file(two, &x)]), None);
    assert_eq!(told(&[file(one, &x), file(two, &other)]), Some(("definition-twice", url("x"))));
    assert_eq!(told(&[file(one, &of("x", "x"))]), Some(("definition-circular", url("x"))));
    let circle = [file(one, &of("x", "y")), file(two, &of("y", "x"))];
    assert_eq!(told(&circle), Some(("definition-circular", url("x"))));
    let by_version = [file(one, &of("x", "y|1.0.0")), file(two, &of("y", "x|1.0.0"))];
    assert_eq!(told(&by_version), Some(("definition-circular", url("x"))));
    // A new version may build on the one before, with its version or without.
    for base in ["x|1.0.0", "x"] {
        let mut next = of("x", base);
        next["version"] = json!("2.0.0");
        assert_eq!(told(&[file(one, &of("x", "y")), file(two, &next)]), None, "{base}");
    }
    let set = |name: &str, other: &str| {
        json!({ "resourceType": "ValueSet", "url": url(name), "status": "active",
            "compose": { "include": [{ "valueSet": [url(other)] }] } })
    };
    let sets = [file(one, &set("x", "y")), file(two, &set("y", "x"))];
    assert_eq!(told(&sets), Some(("definition-circular", url("x"))));
    assert_eq!(told(&[file(one, &set("x", "y")), file(two, &set("y", "z"))]), None);
}

/// For one call what can be used is used, and what is wrong is told.
#[test]
fn a_definition_for_one_call_is_used_as_far_as_it_goes() {
    let limits = PackageLimits::default();
    let read = |resource: &Value| Package::read_in_part(resource.to_string().as_bytes(), &limits);
    let named = element("Patient.name", "1..1", "", json!({}));
    let mut flawed = profile("flawed", "Patient", &[named]);
    flawed["differential"]["element"][0]["maxLength"] = json!("many");
    assert!(Package::read(flawed.to_string().as_bytes(), &limits).is_err());
    let (package, told) = read(&flawed).unwrap();
    assert_eq!(told.iter().map(Fault::code).collect::<Vec<_>>(), ["definition-misshapen"]);
    let set = crate::teaching::set(Vec::new()).with(vec![package]);
    let found = found(&set, &json!({ "resourceType": "Patient" }), Some("flawed"), Mode::Authority);
    assert_eq!(errors(&found), ["rule-missing Patient"]);
    // Other resources say nothing of what is validated.
    for kind in ["SearchParameter", "ImplementationGuide", "CapabilityStatement", "Patient"] {
        let (_, told) = read(&json!({ "resourceType": kind, "url": url("x") })).unwrap();
        assert_eq!(told.iter().map(Fault::code).collect::<Vec<_>>(), ["no-definitions"], "{kind}");
    }
    let archived = archive(&[
        manifest("a.b", "1.0.0", json!({})),
        definition(1),
        ("package/one.json", b"{".to_vec()),
    ]);
    let (package, told) = Package::read_in_part(&archived, &limits).unwrap();
    assert_eq!(told.iter().map(Fault::code).collect::<Vec<_>>(), ["definition-not-json"]);
    assert!(RuleSet::of(vec![package]).profile_urls().any(|of| of == url("shared")));
    // What is no resource at all is not read.
    assert_eq!(Package::read_in_part(b"[]", &limits).unwrap_err().code(), "no-definitions");
    assert_eq!(Package::read_in_part(b"{", &limits).unwrap_err().code(), "not-a-package");
}

/// Some hundred kilobytes that are made for it would take gigabytes of memory, or seconds for each
/// validation.
#[test]
fn a_package_that_is_made_to_exhaust_is_refused() {
    let many = format!("{{\"resourceType\":\"Basic\",\"a\":[{}{{}}]}}", "{},".repeat(500_000));
    let read = Package::read(many.as_bytes(), &PackageLimits::default());
    assert_eq!(read.unwrap_err().code(), "definition-too-many");
    let slices = (0..20_000)
        .map(|at| element("Patient.name", "0..1", "", json!({ "sliceName": format!("s{at}") })));
    let profile = profile("many", "Patient", &slices.collect::<Vec<_>>());
    let read = Package::read(profile.to_string().as_bytes(), &PackageLimits::default());
    let fault = read.unwrap_err();
    assert_eq!(fault.code(), "definition-misshapen");
    assert!(fault.definition().unwrap().ends_with("(differential.element)"), "{fault}");
}

/// What is not in the form of FHIR would be read as if it were not there, and what it demands would
/// not be checked.
#[test]
fn a_definition_with_a_part_in_another_form_is_named() {
    let elements = [
        element("Patient", "", "", json!({})),
        element(
            "Patient.identifier",
            "1..2",
            "Identifier",
            json!({ "slicing": { "discriminator": [{ "type": "value", "path": "system" }],
                "rules": "open" }, "constraint": [{ "key": "a-1", "severity": "error",
                "human": "it is there", "expression": "exists()" }],
                "binding": { "strength": "required", "valueSet": url("set") } }),
        ),
    ];
    let whole = profile("formed", "Patient", &elements);
    let read = |resource: &Value| {
        Package::read(resource.to_string().as_bytes(), &PackageLimits::default())
    };
    read(&whole).unwrap();
    let at = "differential.element[1]";
    let cases = [
        ("/differential/element/1/min", json!("1"), format!("{at}.min")),
        ("/differential/element/1/min", json!(-1), format!("{at}.min")),
        ("/differential/element/1/max", json!(2), format!("{at}.max")),
        ("/differential/element/1/max", json!("many"), format!("{at}.max")),
        ("/differential/element/1/path", json!("Person.identifier"), format!("{at}.path")),
        ("/differential/element/1/type", json!({ "code": "Identifier" }), format!("{at}.type")),
        ("/differential/element/1/slicing/rules", json!("shut"), format!("{at}.slicing.rules")),
        (
            "/differential/element/1/slicing/discriminator/0/type",
            json!("sense"),
            format!("{at}.slicing.discriminator[0].type"),
        ),
        (
            "/differential/element/1/binding/strength",
            json!("strong"),
            format!("{at}.binding.strength"),
        ),
        (
            "/differential/element/1/constraint/0/severity",
            json!("fatal"),
            format!("{at}.constraint[0].severity"),
        ),
        ("/differential/element", json!([]), "differential.element".to_owned()),
        ("/differential/element", json!({}), "differential.element".to_owned()),
        ("/kind", json!("thing"), "kind".to_owned()),
    ];
    for (pointer, value, part) in cases {
        let mut broken = whole.clone();
        *broken.pointer_mut(pointer).unwrap() = value;
        let fault = read(&broken).unwrap_err();
        assert_eq!(fault.code(), "definition-misshapen", "{pointer}");
        assert_eq!(fault.definition(), Some(format!("{}|1.0.0 ({part})", url("formed"))));
    }
    let mut silent = whole.clone();
    silent["differential"].take();
    assert_eq!(read(&silent).unwrap_err().code(), "definition-empty");
    let set = json!({ "resourceType": "ValueSet", "url": url("set"), "status": "active",
        "compose": { "include": [{ "system": url("codes"), "concept": ["a"] }] } });
    let fault = read(&set).unwrap_err();
    let part = "compose.include[0].concept[0]";
    assert_eq!(fault.definition(), Some(format!("{} ({part})", url("set"))));
    // In a Bundle of definitions too.
    let bundle = |resource: Value| {
        json!({ "resourceType": "Bundle", "entry": [
        { "resource": whole }, { "resource": resource }] })
    };
    assert_eq!(read(&bundle(silent)).unwrap_err().code(), "definition-empty");
    let mut nameless = whole.clone();
    nameless["url"].take();
    let fault = read(&bundle(nameless)).unwrap_err();
    assert_eq!(fault.code(), "definition-without-address");
    assert_eq!(fault.definition().as_deref(), Some("entry[1]"));
}

/// Some programs write three bytes before JSON that say how it is encoded.
#[test]
fn a_byte_order_mark_is_passed_over() {
    let marked = |(name, content): (&'static str, Vec<u8>)| {
        (name, [b"\xEF\xBB\xBF".as_slice(), &content].concat())
    };
    let files = [marked(manifest("a.b", "1.0.0", json!({}))), marked(definition(1))];
    let read = Package::read(&archive(&files), &PackageLimits::default()).unwrap();
    assert_eq!(read.manifest.label(), "a.b@1.0.0");
}

/// An archive whose entries are named by entries before them, in the way of GNU and of PAX.
fn named(kind: tar::EntryType, said: &[u8], content: &[u8]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (kind, content) in [(kind, said), (tar::EntryType::Regular, content)] {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..9].copy_from_slice(b"elsewhere");
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// A name that packs to nothing, however long it is: the library reads it whole before it says how
/// long.
#[test]
fn a_long_name_is_not_read_whole() {
    use tar::EntryType;

    let read = |bytes: &[u8]| Package::read(bytes, &PackageLimits::default());
    let long = vec![b'a'; 256 << 10];
    for kind in [EntryType::GNULongName, EntryType::XHeader] {
        let bomb = named(kind, &long, b"{}");
        assert!(bomb.len() < 4_000);
        assert_eq!(read(&bomb).unwrap_err(), Fault::TooLarge { limit: 64 << 10 });
    }
    // Names that fit are the names.
    let outside = named(EntryType::GNULongName, b"package/../x.json\0", b"{}");
    assert_eq!(read(&outside).unwrap_err(), Fault::PathOutside);
    let (path, content) = manifest("a.b", "1.0.0", json!({}));
    let record = format!("{} path={path}\n", path.len() + 9);
    assert_eq!(record.len(), path.len() + 9);
    for (kind, said) in [
        (EntryType::GNULongName, format!("{path}\0")),
        (EntryType::XHeader, format!("20 mtime=1350244992\n{record}")),
    ] {
        assert_eq!(
            read(&named(kind, said.as_bytes(), &content)).unwrap_err(),
            Fault::NoDefinitions
        );
    }
    // What is said of all entries, and of links, is passed over unread.
    for kind in [EntryType::XGlobalHeader, EntryType::GNULongLink] {
        assert_eq!(read(&named(kind, &long, b"{}")).unwrap_err(), Fault::NoManifest);
    }
}

#[test]
fn two_versions_side_by_side_and_one_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("rules"));
    assert!(store.list().unwrap().is_empty() && store.in_use().unwrap().is_none());
    for (version, min) in [("1.0.0", 0), ("1.1.0", 1)] {
        store.import(&package("a.b", version, json!({}), min), "then".to_owned()).unwrap();
    }
    let root = |wanted: &str| package("root", wanted, json!({ "a.b": wanted, "c.d": "2.x" }), 0);
    for wanted in ["1.0.x", "1.1.0"] {
        let mut root = root(wanted);
        root.manifest.name = format!("root.{}", wanted.replace('.', ""));
        store.import(&root, "then".to_owned()).unwrap();
    }
    let all = store.list().unwrap();
    assert_eq!(all.len(), 4);
    let gaps = missing(&all[2].manifest, &all);
    assert_eq!(gaps, [("c.d".to_owned(), "2.x".to_owned(), None)]);
    assert!(store.make_used("nobody@1").is_err());
    store.make_used("a.b@1.1.0").unwrap();
    assert_eq!(store.in_use().unwrap().as_deref(), Some("a.b@1.1.0"));
    let patient =
        Tree::read(br#"{"resourceType":"Patient"}"#, Format::Json, &Limits::default()).unwrap();
    let errors = |label: &str, canonical: &str| {
        let asked =
            Asked { profiles: &[canonical.to_owned()], mode: Mode::Authority, now: Instant(0) };
        store.load(Some(label)).unwrap().validate(&patient, &asked).len()
    };
    assert_eq!(errors("a.b@1.0.0", &url("shared")), 0);
    assert_eq!(errors("a.b@1.1.0", &url("shared")), 1);
    store.remove("a.b@1.1.0").unwrap();
    assert_eq!(store.in_use().unwrap(), None);
    assert_eq!(store.list().unwrap().len(), 3);
}

/// An import or a removal changes nothing of what is in use, whatever it is about: the package
/// itself, a version of a dependency that is newer, or one that was missing.
#[test]
fn what_is_in_use_stays_as_it_was_put_to_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path().join("rules"));
    let patient =
        Tree::read(br#"{"resourceType":"Patient"}"#, Format::Json, &Limits::default()).unwrap();
    let import = |name: &str, version: &str, wants: Value, min: u32| {
        store.import(&package(name, version, wants, min), "then".to_owned()).unwrap();
    };
    let in_use = InUse::default();
    // What one that runs already says, and one that is started now.
    let errors = || {
        let asked = Asked { profiles: &[url("shared")], mode: Mode::Authority, now: Instant(0) };
        let running = in_use.current(&store).unwrap().unwrap();
        let started = InUse::default().current(&store).unwrap().unwrap();
        [running, started].map(|set| set.validate(&patient, &asked).len())
    };
    let own = ("package/own.json", profile("own", "Patient", &[]).to_string().into_bytes());
    let wants = json!({ "a.b": "1.0.x", "c.d": "1.0.0" });
    let root = archive(&[manifest("root", "1.0.0", wants), own]);
    let root = Package::read(&root, &PackageLimits::default()).unwrap();
    store.import(&root, "then".to_owned()).unwrap();
    import("a.b", "1.0.0", json!({}), 0);
    store.make_used("root@1.0.0").unwrap();
    assert_eq!((errors(), store.is_outdated().unwrap()), ([0, 0], false));
    // A newer version of the dependency, in its range.
    import("a.b", "1.0.1", json!({}), 1);
    assert_eq!((errors(), store.is_outdated().unwrap()), ([0, 0], true));
    store.make_used("root@1.0.0").unwrap();
    assert_eq!((errors(), store.is_outdated().unwrap()), ([1, 1], false));
    // The same version with other content.
    import("a.b", "1.0.1", json!({}), 0);
    assert_eq!((errors(), store.is_outdated().unwrap()), ([1, 1], true));
    store.remove("a.b@1.0.1").unwrap();
    store.remove("a.b@1.0.0").unwrap();
    assert_eq!(errors(), [1, 1]);
    // Another package beside it is of no concern.
    import("a.b", "1.0.1", json!({}), 1);
    import("e.f", "1.0.1", json!({}), 1);
    assert_eq!((errors(), store.is_outdated().unwrap()), ([1, 1], false));
    // One that was missing.
    import("c.d", "1.0.0", json!({}), 0);
    assert!(store.is_outdated().unwrap());
    store.make_used("root@1.0.0").unwrap();
    assert!(!store.is_outdated().unwrap());
    let held = || {
        let all = std::fs::read_dir(folder.path().join("rules")).unwrap();
        all.flatten().filter(|of| of.path().is_dir()).count()
    };
    assert_eq!(held(), 1);
    store.remove("root@1.0.0").unwrap();
    assert_eq!((held(), store.in_use().unwrap()), (0, None));
}

/// What was put to use by an earlier version is in use as it was; what was tampered with is not
/// followed.
#[test]
fn what_says_that_rules_are_in_use_is_read_with_care() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    store.import(&package("a.b", "1.0.0", json!({}), 1), "then".to_owned()).unwrap();
    let say = |text: &str| std::fs::write(folder.path().join("in-use.json"), text).unwrap();
    say(r#"{"package":"a.b@1.0.0"}"#);
    assert!(store.load_used().unwrap().is_some());
    for odd in [
        "",
        "{}",
        r#"{"package":"a.b@1.0.0","held":"../elsewhere"}"#,
        r#"{"package":"a.b@1.0.0","held":"used-/../x"}"#,
        r#"{"package":"a.b@1.0.0","held":"used-00"}"#,
    ] {
        say(odd);
        assert!(store.load_used().unwrap_err().to_string().ends_with("is damaged"), "{odd}");
    }
}

#[test]
fn a_broken_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    store.import(&package("a.b", "1.0.0", json!({}), 1), "then".to_owned()).unwrap();
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::File::create(&file).unwrap();
    bytes.write_all(b"labcourier-rules 2\n{").unwrap();
    let told = store.list().unwrap_err().to_string();
    assert!(told.ends_with("is damaged"), "{told}");
}

/// Each profile says of two elements that they conform to the next one: 2 to the power of 30
/// copies.
#[test]
fn definitions_that_grow_without_end_are_cut() {
    let definitions = (0..30).map(|number| {
        let next = json!({ "type": [{ "code": "Extension", "profile": [url(&format!("p{}", number + 1))] }] });
        let slice = |name: &str| {
            let mut told = next.clone();
            told["sliceName"] = json!(name);
            [
                element("Extension.extension", "", "", told),
                element(
                    "Extension.extension.extension.url",
                    "1..1",
                    "",
                    json!({ "id": format!("Extension.extension:{name}.extension.url") }),
                ),
            ]
        };
        profile(&format!("p{number}"), "Extension", &[slice("a"), slice("b")].concat())
    });
    let rules = crate::teaching::set(definitions.collect());
    let began = std::time::Instant::now();
    assert!(rules.knows_profile(&url("p0")));
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

#[test]
fn a_long_chain_of_references_needs_little_of_the_stack() {
    let target = json!({ "type": [{ "code": "Reference", "targetProfile": [url("link")] }] });
    let link = profile("link", "Organization", &[element("Organization.partOf", "", "", target)]);
    let entry = |number: u32| {
        let of = |number: u32| format!("urn:uuid:0b1f4f0c-6b3f-4f8e-9d55-{number:012}");
        json!({ "fullUrl": of(number), "resource": { "resourceType": "Organization", "name": "A",
            "meta": { "profile": [url("link")] }, "partOf": { "reference": of(number + 1) } } })
    };
    let entries: Vec<Value> = (0..300).map(entry).collect();
    let bundle = json!({ "resourceType": "Bundle", "type": "collection", "entry": entries });
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let done = thread.spawn(move || {
        let rules = crate::teaching::set(vec![link]);
        crate::teaching::found(&rules, &bundle, None, Mode::Authority).len()
    });
    assert_eq!(done.unwrap().join().unwrap(), 0);
}
