//! Diseases of the leading codes that the rules in use name: a newer package has codes that the
//! program's own table does not know yet.
//!
//! They are read once, when a package is put to use, and kept as a small table in the profile's
//! folder: every start of a program reads that, and no package. It holds facts of the package and
//! nothing of the laboratory.

use std::path::Path;

use report::diseases::{self, Tested};
use rules::RuleSet;

/// Name of the table in the profile's folder: code, disease, test and specimen on each line.
const FILE: &str = "leading-codes.tsv";
/// Largest table that is read, bytes: thousands of times what a package has.
const BYTES_MAX: u64 = 16 << 20;
/// Codes of one value set that are read; longer ones list serovars, or all of a code system.
const CODES_MAX: usize = 2_000;

/// Reads the codes of the rules in use, keeps them, and lets the program know them.
pub(crate) fn take_from(folder: &Path, rules: &RuleSet) {
    let mut lines: Vec<String> = Vec::new();
    for url in rules.value_set_urls() {
        for listed in rules.codes_of_value_set(url, CODES_MAX).unwrap_or_default() {
            // What was learned before is kept again: this table is all that the next start reads.
            let is_new = !diseases::is_in_table(&listed.code);
            let tested = diseases::of_published(&listed.display).filter(|_| is_new);
            lines.extend(tested.map(|tested| line(&listed.code, tested)));
        }
    }
    lines.sort();
    lines.dedup();
    // Without the table only the disease of such a report is not named: the next use makes it anew.
    let _ = std::fs::write(folder.join(FILE), lines.concat());
    learn(folder);
}

/// Lets the program know the codes that are kept in a profile's folder. What cannot be read is
/// left out.
pub(crate) fn learn(folder: &Path) {
    let file = folder.join(FILE);
    if !std::fs::metadata(&file).is_ok_and(|it| it.len() <= BYTES_MAX) {
        return;
    }
    let table = std::fs::read_to_string(file).unwrap_or_default();
    diseases::learn(table.lines().filter_map(read));
}

fn line(code: &str, Tested { disease, test, specimen }: Tested) -> String {
    format!("{code}\t{}\t{test}\t{specimen}\n", disease.key)
}

fn read(line: &str) -> Option<(String, Tested)> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [code, key, test, specimen] = columns[..] else { return None };
    let of = |known: &[&'static str], name: &str| {
        known.iter().find(|known| **known == name).copied().unwrap_or_default()
    };
    let disease = diseases::of_key(key)?;
    let (test, specimen) = (of(&diseases::TESTS, test), of(&diseases::SPECIMENS, specimen));
    Some((code.to_owned(), Tested { disease, test, specimen }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written_and_a_strange_one_is_left_out() {
        let tested = diseases::of_code("70569-9").unwrap();
        let written = line("99999-9", tested);
        assert_eq!(read(written.trim_end()), Some(("99999-9".to_owned(), tested)));
        for strange in ["", "99999-9", "99999-9\tno-such-disease\tpcr\tblood", "a\tb\tc\td\te"] {
            assert_eq!(read(strange), None, "{strange}");
        }
        let odd = read("99999-9\tmalaria\tsmell\tmoon").unwrap().1;
        assert_eq!((odd.test, odd.specimen), ("", ""));
    }
}
