//! Small forms that people write on a command line.

pub(crate) use std::time::Duration;

/// `500ms`, `30s`, `10m`, `2h`, `1d`; a bare number is seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    const FORM: &str = "a number with ms, s, m, h or d, e.g. 30s";
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| FORM.to_owned())?;
    let seconds = match unit {
        "ms" => return Ok(Duration::from_millis(number)),
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(FORM.to_owned()),
    };
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(|| FORM.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_nonsense_is_refused() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("45"), Ok(Duration::from_secs(45)));
        assert_eq!(parse_duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_duration("2h"), Ok(Duration::from_secs(7_200)));
        for wrong in ["", "s", "-1s", "1.5h", "10 m", "99999999999999999999", "1w"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        assert!(parse_duration("18446744073709551615d").is_err());
    }
}
