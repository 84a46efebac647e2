use super::*;

fn small(pieces_max: usize) -> SourceLimits {
    SourceLimits { pieces_max, files_max: pieces_max, ..SourceLimits::with_document_bytes(1_000) }
}

fn folder(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }
    folder
}

/// All that is taken of paths, as the engine does it.
fn taken(paths: &[PathBuf], limits: &SourceLimits) -> Vec<Piece> {
    let room = Room::new(limits);
    files_below(paths, limits).iter().flat_map(|file| pieces_of(file, limits, &room)).collect()
}

/// An archive that unpacks to so many reports of 900 bytes each.
fn archive(folder: &Path, name: &str, reports: usize) -> PathBuf {
    use std::io::Write as _;
    let path = folder.join(name);
    let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
    for number in 0..reports {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{number}.json"), options).unwrap();
        archive.write_all(&[b' '; 900]).unwrap();
    }
    archive.finish().unwrap();
    path
}

#[test]
fn archives_of_one_hand_over_unpack_to_no_more_than_one_may() {
    let home = tempfile::tempdir().unwrap();
    let limits = SourceLimits { container_bytes_max: 3_000, ..small(100) };
    let four: Vec<_> = (0..4).map(|n| archive(home.path(), &format!("{n}.zip"), 2)).collect();
    let pieces = taken(&four, &limits);
    let reason = "too-large-unpacked";
    let refused = Refusal::Archive { reason };
    assert_eq!(refusals(&pieces), [&refused; 3], "each as a whole, and by name");
    assert_eq!(pieces.iter().filter(|piece| piece.content.is_ok()).count(), 2);
    assert_eq!(pieces.last().unwrap().name, "3.zip");
    // One after the other, each has the whole room.
    for path in four {
        assert_eq!(refusals(&taken(&[path], &limits)), [] as [&Refusal; 0]);
    }
}

/// While one hand-over unpacks an archive, its other archives wait; what is none does not.
#[test]
fn one_archive_is_unpacked_at_a_time() {
    let (home, plain) = (tempfile::tempdir().unwrap(), folder(&["a.json"]));
    let (limits, path) = (small(100), archive(home.path(), "a.zip", 2));
    let room = Room::new(&limits);
    std::thread::scope(|scope| {
        let busy = room.0.lock().unwrap();
        let unpacking = scope.spawn(|| pieces_of(&path, &limits, &room).len());
        assert_eq!(pieces_of(&plain.path().join("a.json"), &limits, &room).len(), 1);
        assert!(!unpacking.is_finished());
        drop(busy);
        assert_eq!(unpacking.join().unwrap(), 2);
    });
}

fn refusals(pieces: &[Piece]) -> Vec<&Refusal> {
    pieces.iter().filter_map(|piece| piece.content.as_ref().err()).collect()
}

/// Skipped in silence, a report behind a link would never be sent, and the exit code would say that
/// all is well.
#[cfg(unix)]
#[test]
fn what_is_neither_file_nor_folder_is_read_or_refused_by_name() {
    use std::os::unix::fs::symlink;
    let (inside, elsewhere) = (folder(&["a.json"]), folder(&["b.json", "c.json"]));
    let at = |name: &str| inside.path().join(name);
    symlink(elsewhere.path().join("b.json"), at("b-link")).unwrap();
    symlink(elsewhere.path(), at("folder-link")).unwrap();
    symlink(inside.path(), at("loop-link")).unwrap();
    symlink("nowhere", at("lost-link")).unwrap();
    let pieces = taken(&[inside.path().to_owned()], &small(10));
    let told: Vec<_> = pieces
        .iter()
        .map(|piece| (&*piece.name, piece.content.as_ref().err().map_or("", Refusal::code)))
        .collect();
    let expected = [
        ("a.json", ""),
        ("b-link", ""),
        ("folder-link", "link-not-followed"),
        ("loop-link", "link-not-followed"),
        ("lost-link", "file-not-found"),
    ];
    assert_eq!(told, expected);
    // A link that a person names is meant.
    let named = taken(&[at("folder-link")], &small(10));
    assert_eq!((named.len(), refusals(&named).len()), (2, 0));
}

#[test]
fn a_folder_with_too_many_files_is_refused_by_name_and_as_a_whole() {
    let folder = folder(&["a.json", "b.json", "inside/c.json"]);
    let paths = [folder.path().to_owned()];
    let all = taken(&paths, &small(3));
    assert_eq!((all.len(), refusals(&all).len()), (3, 0));
    let none = taken(&paths, &small(2));
    assert_eq!(refusals(&none), [&Refusal::TooManyInside { pieces_max: 2 }]);
    assert_eq!(none[0].name, folder.path().file_name().unwrap().to_str().unwrap());
}

#[test]
fn folders_that_are_too_many_together_are_taken_as_far_as_whole_folders_go() {
    let (one, two) = (folder(&["a.json", "b.json"]), folder(&["c.json", "d.json"]));
    let pieces = taken(&[one.path().to_owned(), two.path().to_owned()], &small(3));
    let names: Vec<_> = pieces.iter().map(|piece| piece.name.as_str()).collect();
    assert_eq!(names[..2], ["a.json", "b.json"]);
    assert_eq!(refusals(&pieces), [&Refusal::TooManyInside { pieces_max: 3 }]);
}

#[test]
fn folders_inside_folders_are_taken_however_deep() {
    let deep = format!("{}report.json", "inside/".repeat(40));
    let folder = folder(&[&deep]);
    let pieces = taken(&[folder.path().to_owned()], &small(10));
    assert_eq!((pieces.len(), pieces[0].name.as_str()), (1, "report.json"));
}

#[test]
fn an_empty_folder_says_so_and_hidden_files_do_not_count() {
    let folder = folder(&[".hidden.json"]);
    let pieces = taken(&[folder.path().to_owned()], &small(10));
    assert_eq!(refusals(&pieces), [&Refusal::NothingInside]);
}

#[test]
fn lines_of_ndjson_are_taken_all_or_none() {
    let text = |lines: usize| "{\"resourceType\":\"Bundle\"}\n\n".repeat(lines).into_bytes();
    let pieces = |lines| pieces_of_bytes("reports.ndjson".to_owned(), text(lines), &small(3));
    let whole = pieces(3);
    assert_eq!((whole.len(), refusals(&whole).len()), (3, 0));
    assert_eq!(whole[2].name, "reports.ndjson:5");
    let none = pieces(4);
    assert_eq!(refusals(&none), [&Refusal::TooManyInside { pieces_max: 3 }]);
    assert_eq!((none.len(), none[0].name.as_str()), (1, "reports.ndjson"));
}

#[test]
fn lines_count_as_entries_of_their_archive() {
    use std::io::Write as _;
    let archive = |files: usize| {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for number in 0..files {
            let options = zip::write::SimpleFileOptions::default();
            zip.start_file(format!("{number}.ndjson"), options).unwrap();
            zip.write_all("{\"resourceType\":\"Bundle\"}\n".repeat(2).as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let pieces = |files| pieces_of_bytes("all.zip".to_owned(), archive(files), &small(4));
    assert_eq!(pieces(2).len(), 4);
    let none = pieces(3);
    assert_eq!(refusals(&none), [&Refusal::Archive { reason: "too-many-entries" }]);
    assert_eq!(none.len(), 1);
}

/// An archive of these entries, packed as such.
fn packed(entries: &[(&str, &str)]) -> Vec<u8> {
    use std::io::Write as _;
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Each line is a report of its own: the limit for one report is no limit for all of them together.
#[test]
fn lines_in_an_archive_are_read_to_their_end_like_those_of_a_file() {
    let lines = "{\"resourceType\":\"Bundle\"}\n".repeat(80);
    let archive = packed(&[("before.json", "{}"), ("all.ndjson", &lines), ("after.json", "{}")]);
    assert!(lines.len() > 2 * 1_000, "beyond the limit for one report");
    let within = |container_bytes_max| {
        let limits = SourceLimits { container_bytes_max, ..small(100) };
        pieces_of_bytes("all.zip".to_owned(), archive.clone(), &limits)
    };
    let exactly = lines.len() as u64 + 4;
    let whole = within(exactly);
    assert_eq!((whole.len(), refusals(&whole).len()), (82, 0));
    assert_eq!(whole[80].name, "all.zip/all.ndjson:80");
    let none = within(exactly - 3);
    assert_eq!(refusals(&none), [&Refusal::Archive { reason: "too-large-unpacked" }]);
    assert_eq!((none.len(), none[0].name.as_str()), (1, "all.zip"));
}

/// A report with a letter in it is one long line.
#[test]
fn lines_that_are_longer_than_what_a_file_is_recognised_by_are_read_all_the_same() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("day.ndjson");
    let line = format!("{{\"resourceType\":\"Bundle\",\"x\":\"{}\"}}\n", "y".repeat(70_000));
    fs::write(&path, line.repeat(80)).unwrap();
    let limits = SourceLimits::with_document_bytes(5_000_000);
    let pieces = taken(std::slice::from_ref(&path), &limits);
    assert_eq!((pieces.len(), refusals(&pieces).len()), (80, 0));
    // One report that is too large stays one, on one line or on many.
    let large = format!("{{\"resourceType\":\"Bundle\",\"x\":\"{}\"}}", "y".repeat(5_100_000));
    for text in [large.clone(), large.replace(',', ",\n")] {
        fs::write(&path, text).unwrap();
        let pieces = taken(std::slice::from_ref(&path), &limits);
        assert!(matches!(refusals(&pieces)[..], [Refusal::TooLarge { .. }]));
    }
}

/// An archive in which every entry goes by the name of the first one: `ZipWriter` does not write
/// such a thing, so the names of this one, all of the same length, are overwritten.
fn of_one_name(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = packed(entries);
    let (first, _) = entries[0];
    for (name, _) in entries {
        for at in 0..archive.len() - name.len() {
            if archive[at..].starts_with(name.as_bytes()) {
                archive[at..at + name.len()].copy_from_slice(first.as_bytes());
            }
        }
    }
    archive
}

/// The reader of archives shows the last entry of a name and not a trace of the others.
#[test]
fn an_archive_with_two_entries_of_one_name_is_refused_as_a_whole() {
    let entries = [("one.json", "{ }"), ("two.json", "{}"), ("six.json", "{  }")];
    let pieces = |archive| pieces_of_bytes("all.zip".to_owned(), archive, &small(100));
    assert_eq!(refusals(&pieces(packed(&entries))), [] as [&Refusal; 0]);
    let none = pieces(of_one_name(&entries));
    assert_eq!(refusals(&none), [&Refusal::Archive { reason: "two-of-one-name" }]);
    assert_eq!((none.len(), none[0].name.as_str()), (1, "all.zip"));
}

/// Where the archive says that it has fewer entries than there are, those behind would be left out
/// in silence. A program that counts to 65,535 and begins anew writes such a thing.
#[test]
fn an_archive_with_more_entries_than_it_says_is_refused_as_a_whole() {
    let mut archive = packed(&[("one.json", "{}"), ("two.json", "{}"), ("six.json", "{}")]);
    let end = archive.len() - 22;
    assert_eq!(&archive[end..end + 4], b"PK\x05\x06");
    archive[end + 8] = 1;
    archive[end + 10] = 1;
    let none = pieces_of_bytes("all.zip".to_owned(), archive, &small(100));
    assert_eq!(refusals(&none), [&Refusal::Archive { reason: "damaged" }]);
}

/// Two archives written one after the other into one file: only one of them would be read.
#[test]
fn an_archive_behind_another_one_is_refused_as_a_whole() {
    for second in ["{}", "{   }"] {
        let mut both = packed(&[("one.json", "{}")]);
        both.extend(packed(&[("two.json", second)]));
        let none = pieces_of_bytes("all.zip".to_owned(), both, &small(100));
        assert_eq!(refusals(&none), [&Refusal::Archive { reason: "damaged" }], "{second}");
    }
}

/// As in a folder: skipped in silence, the report behind it would never be sent.
#[test]
fn a_link_in_an_archive_is_refused_by_its_name() {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.add_symlink("link.json", "../reports/one.json", options).unwrap();
    zip.add_directory("inside", options).unwrap();
    let archive = zip.finish().unwrap().into_inner();
    let pieces = pieces_of_bytes("all.zip".to_owned(), archive, &small(100));
    assert_eq!(refusals(&pieces), [&Refusal::Archive { reason: "link-inside" }]);
    assert_eq!((pieces.len(), pieces[0].name.as_str()), (1, "all.zip/link.json"));
}

/// What is one text stays within the limit for one report, wherever it lies.
#[test]
fn one_large_report_in_an_archive_is_refused_by_its_name() {
    let large = format!("{{\"resourceType\":\"Bundle\",\"id\":\"{}\"}}", "x".repeat(2_000));
    let archive = packed(&[("large.json", &large), ("small.json", "{}")]);
    let pieces = pieces_of_bytes("all.zip".to_owned(), archive, &small(100));
    let refused = Refusal::TooLarge { bytes: 1_001, bytes_max: 1_000 };
    assert_eq!((refusals(&pieces), pieces.len()), (vec![&refused], 2));
}

#[test]
fn only_what_somebody_else_does_to_a_file_may_pass() {
    let reason = || "permission denied".to_owned();
    for (refusal, may_pass) in [
        (Refusal::NotFound, true),
        (Refusal::NotReadable { reason: reason() }, true),
        (Refusal::StillChanging, true),
        (Refusal::NotTakenIn, true),
        (Refusal::NotAFile, false),
        (Refusal::Empty, false),
        (Refusal::TooLarge { bytes: 2, bytes_max: 1 }, false),
        (Refusal::NothingInside, false),
        (Refusal::TooManyInside { pieces_max: 1 }, false),
        (Refusal::Archive { reason: "damaged" }, false),
    ] {
        assert_eq!(refusal.may_pass(), may_pass, "{refusal:?}");
        let code = crate::Reason::Source(refusal).code();
        assert!(crate::Reason::CODES.contains(&code), "{code}");
    }
}

/// Between the look at a place and the opening of what is there it may have become a pipe, which
/// nobody writes to.
#[cfg(unix)]
#[test]
fn a_pipe_keeps_nobody_waiting() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.json");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (_, facts) = open(&pipe).unwrap();
    assert!(!facts.is_file());
    let pieces = pieces_of(&pipe, &small(10), &Room::new(&small(10)));
    assert_eq!(refusals(&pieces), [&Refusal::NotAFile]);
}
