//! The form of a language code.

/// Language-region form (BCP 47; docs/interface.md, "The DocumentReference that is sent"): a
/// language of two or three lower-case letters, and a region of two capitals or three digits.
/// `de-CH` and `es-419` have it; `german`, `de_CH`, `de` and `DE-ch` do not. This is the one place
/// that says so, for documents, envelopes, settings and both programs.
pub fn is_language_region(text: &str) -> bool {
    text.split_once('-').is_some_and(|(language, region)| {
        let language_fits = matches!(language.len(), 2 | 3);
        let letters = region.len() == 2 && region.bytes().all(|byte| byte.is_ascii_uppercase());
        let digits = region.len() == 3 && region.bytes().all(|byte| byte.is_ascii_digit());
        language_fits
            && language.bytes().all(|byte| byte.is_ascii_lowercase())
            && (letters || digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rule_for_the_form_of_a_language() {
        for good in ["de-CH", "fr-CH", "gsw-CH", "es-419", "en-GB"] {
            assert!(is_language_region(good), "{good}");
        }
        for bad in
            ["german", "de_CH", "de", "DE-ch", "de-ch", "de-CHE", "de-4", "de-CH-1996", "", "-CH"]
        {
            assert!(!is_language_region(bad), "{bad}");
        }
    }
}
