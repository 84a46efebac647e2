//! Patients in lists: enough to tell two rows apart, too little to name anybody.

/// `M. M., 1987`: the initials of `Family, Given` and the year of birth. A name of one part gives one
/// initial; without a year only the initials stand.
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

#[cfg(test)]
mod tests {
    use super::*;

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
