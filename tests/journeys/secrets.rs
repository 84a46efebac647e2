//! Canaries: names, numbers and secrets that must be nowhere but in the user's own files, in the encrypted
//! journal and at the authority, whatever happens on the way.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use journeys::{Authority, Laboratory, column, objects};
use testkit::DocumentBuilder;

const FAMILY: &str = "Zwinglicanary";
const CORRECTED: &str = "Zwinglicanary-Right";

/// The ways in which a text may be written without being the text.
fn disguises(text: &str) -> Vec<Vec<u8>> {
    let utf16 =
        |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let mut all = vec![text.as_bytes().to_vec(), utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)];
    let hex = |upper: bool| {
        let digit = |b: u8| if upper { format!("{b:02X}") } else { format!("{b:02x}") };
        text.bytes().map(digit).collect::<String>().into_bytes()
    };
    all.extend([hex(false), hex(true)]);
    let percent: String = text.bytes().map(|b| format!("%{b:02X}")).collect();
    all.push(percent.into_bytes());
    // Base64 at each of the three alignments; only what does not depend on the neighbours.
    for shift in 0..3 {
        let padded = [vec![b'x'; shift], text.as_bytes().to_vec()].concat();
        let encoded = base64(&padded);
        let (from, to) = ((shift * 8).div_ceil(6), padded.len() / 3 * 4);
        all.push(encoded.as_bytes()[from..to].to_vec());
    }
    all
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |chunk: &[u8]| {
        let padded = [chunk[0], *chunk.get(1).unwrap_or(&0), *chunk.get(2).unwrap_or(&0)];
        let bits = padded.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|at| char::from(DIGITS[bits >> at & 63]))
    };
    bytes.chunks(3).flat_map(group).collect()
}

#[test]
fn disguises_are_those_of_the_standards() {
    assert_eq!(base64(b"Man"), "TWFu");
    let hidden = base64(format!("..{FAMILY}.....").as_bytes());
    assert!(finds(hidden.as_bytes(), FAMILY), "{hidden}");
    assert!(finds(b"%5A%77%69%6E%67%6C%69%63%61%6E%61%72%79", FAMILY));
    assert!(!finds(b"nothing of that kind", FAMILY));
}

fn finds(haystack: &[u8], canary: &str) -> bool {
    let contains = |needle: &Vec<u8>| haystack.windows(needle.len()).any(|window| window == needle);
    disguises(canary).iter().any(contains)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn patients_and_secrets_are_nowhere_in_the_clear() {
    let data = tempfile::tempdir().unwrap();
    Authority::init(data.path());
    let rules = data.path().join("rules.toml");
    std::fs::write(&rules, authority::PRACTICE_RULES.replace("Muster-Fehler", FAMILY)).unwrap();
    let arguments = ["--processing-delay", "50ms", "--rules", rules.to_str().unwrap()];
    let authority = Authority::serve(data.path(), &arguments);
    let laboratory = Laboratory::at(&authority.base, data.path());
    let home = tempfile::tempdir().unwrap();
    let mut logs = Vec::new();
    let mut run = |arguments: &[&str]| {
        let mut command = laboratory.command(arguments);
        command.env("HOME", home.path()).env("TMPDIR", home.path()).env("LABCOURIER_LOG", "trace");
        let output = command.output().unwrap();
        logs.push(output.stderr.clone());
        output
    };
    let write = |name: &str, builder: DocumentBuilder| {
        let file = laboratory.folder().join(name);
        std::fs::write(&file, builder.json()).unwrap();
        file.to_str().unwrap().to_owned()
    };

    // Fails, is corrected, completes; exports and a backup are made.
    let failing = write("one.json", DocumentBuilder::new(1).family(FAMILY));
    let failed = objects(&run(&["send", &failing, "--wait", "--timeout", "60s"]));
    assert_eq!(column(&failed, "state"), ["failed"]);
    let corrected = write("two.json", DocumentBuilder::new(1).family(CORRECTED));
    let id = failed[0]["id"].to_string();
    let done =
        objects(&run(&["resubmit", &id, "--with", &corrected, "--wait", "--timeout", "60s"]));
    assert_eq!(column(&done, "state"), ["completed"]);
    let exported = run(&["export", "--format", "csv"]);
    assert!(!finds(&exported.stdout, FAMILY), "an export has no names unless asked for");
    let backup = home.path().join("backup.db");
    assert!(run(&["journal", "backup", backup.to_str().unwrap()]).status.success());

    // Dies in the middle of a batch.
    for number in 10..40 {
        write(&format!("{number}.json"), DocumentBuilder::new(number).family(CORRECTED));
    }
    let folder = laboratory.folder().join("batch");
    std::fs::create_dir(&folder).unwrap();
    for number in 10..40 {
        let name = format!("{number}.json");
        std::fs::rename(laboratory.folder().join(&name), folder.join(&name)).unwrap();
    }
    let mut sending = laboratory.command(&["send", folder.to_str().unwrap(), "--wait"]);
    sending.env("HOME", home.path()).env("TMPDIR", home.path()).env("LABCOURIER_LOG", "trace");
    let log = home.path().join("killed.log");
    sending.stderr(std::fs::File::create(&log).unwrap()).stdout(std::process::Stdio::null());
    let mut sending = sending.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while objects(&run(&["list"])).len() < 4 {
        assert!(Instant::now() < deadline, "the batch is taken in");
    }
    let process = PathBuf::from(format!("/proc/{}", sending.id()));
    let seen =
        ["cmdline", "environ"].map(|name| std::fs::read(process.join(name)).unwrap_or_default());
    sending.kill().unwrap();
    sending.wait().unwrap();

    let passphrase = std::fs::read_to_string(laboratory.folder().join("passphrase")).unwrap();
    let password = std::fs::read_to_string(data.path().join("pilot/riverside.password")).unwrap();
    let canaries = [FAMILY, passphrase.trim(), password.trim()];
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    for file in [files_below(&laboratory.profile()), files_below(home.path())].concat() {
        places.push((file.display().to_string(), std::fs::read(&file).unwrap()));
    }
    places.extend(logs.into_iter().map(|log| ("standard error".to_owned(), log)));
    places.extend(seen.into_iter().map(|seen| ("arguments and environment".to_owned(), seen)));
    for (place, bytes) in &places {
        for canary in canaries {
            assert!(!finds(bytes, canary), "a canary in {place}");
        }
    }
    let bytes: usize = places.iter().map(|(_, bytes)| bytes.len()).sum();
    println!("canaries: {} places, {bytes} bytes searched, 0 hits", places.len());
}
