//! Patients in lists: enough to tell two rows apart, too little to name anybody.

/// `M. M., 1987`: the initials of `Family, Given` and the year of birth. A name of one part gives
/// one initial; without a year only the initials stand.
pub fn masked(patient: &str, birth_date: Option<&str>) -> String {
    let initials: Vec<String> = patient
        .split(',')
        .filter_map(|part| part.trim_start().chars().find(|letter| letter.is_alphanumeric()))
        .take(2)
        .map(|letter| format!("{}.", letter.to_uppercase()))
        .collect();
    let year = birth_date
        .and_then(|date| date.get(..4))
        .filter(|year| year.bytes().all(|digit| digit.is_ascii_digit()));
    let initials = if initials.is_empty() { "?".to_owned() } else { initials.join(" ") };
    match year {
        Some(year) => format!("{initials}, {year}"),
        None => initials,
    }
}

/// `M…_M…_1….json`: a file may be named after its patient. Of each word the first letter stands,
/// and the ending.
pub(crate) fn masked_file(file: &str) -> String {
    const ENDINGS: &[&str] = &["json", "xml", "ndjson", "zip"];
    let ending = file.rsplit_once('.').filter(|(_, ending)| ENDINGS.contains(ending));
    let (stem, ending) = ending.map_or((file, None), |(stem, ending)| (stem, Some(ending)));
    let mut masked = String::new();
    let mut in_word = false;
    for letter in stem.chars() {
        let is_word = letter.is_alphanumeric();
        match (is_word, in_word) {
            (true, false) => masked.extend([letter, '…']),
            (false, _) => masked.push(letter),
            (true, true) => {}
        }
        in_word = is_word;
    }
    match ending {
        Some(ending) => format!("{masked}.{ending}"),
        None => masked,
    }
}

/// `M…`: a value that may name somebody.
pub(crate) fn masked_value(value: &str) -> String {
    let first = value.chars().find(|letter| letter.is_alphanumeric());
    first.map_or_else(|| "…".to_owned(), |first| format!("{first}…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_files_and_values_the_first_letters_stand() {
        assert_eq!(masked_file("Muster_Mia-19870203.json"), "M…_M…-1….json");
        assert_eq!(masked_file("élan 7.Muster"), "é… 7….M…");
        assert_eq!(masked_file("a/Muster.xml"), "a…/M….xml");
        assert_eq!(masked_file(""), "");
        assert_eq!(masked_value("Muster"), "M…");
        assert_eq!(masked_value("<div>Mia</div>"), "d…");
        assert_eq!(masked_value("--"), "…");
    }

    #[test]
    fn initials_and_year() {
        assert_eq!(masked("Muster, Mia Eva", Some("1987-02-03")), "M. M., 1987");
        assert_eq!(masked("M, D", Some("1960")), "M. D., 1960");
        assert_eq!(masked("H5", None), "H.");
        assert_eq!(masked("émile", Some("198")), "É.");
        assert_eq!(masked("", Some("19é7-01-01")), "?");
        assert_eq!(masked("A, B, C", Some("1900")), "A. B., 1900");
    }
}
