//! FHIR media types and their negotiation (<https://hl7.org/fhir/R4/http.html#mime-type>).

use fhir::Format;

/// Result of content negotiation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Negotiated {
    /// Answer in this encoding.
    Format(Format),
    /// Nothing that the caller accepts.
    NotAcceptable,
}

/// Encoding of a `Content-Type` (with parameters; `application/fhir+json`, `application/json`,
/// `text/json`, `+xml` likewise), `None` for anything else.
pub fn parse_media_type(content_type: &str) -> Option<Format> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        // The last of each line is the form of FHIR releases before 3.
        "application/fhir+json" | "application/json" | "text/json" | "application/json+fhir" => {
            Some(Format::Json)
        }
        "application/fhir+xml" | "application/xml" | "text/xml" | "application/xml+fhir" => {
            Some(Format::Xml)
        }
        _ => None,
    }
}

/// Chooses by `_format` (wins), then `Accept` with quality values, else `default`.
pub fn negotiate(accept: Option<&str>, format: Option<&str>, default: Format) -> Negotiated {
    if let Some(format) = format.map(str::trim).filter(|format| !format.is_empty()) {
        return format_parameter(format).map_or(Negotiated::NotAcceptable, Negotiated::Format);
    }
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else {
        return Negotiated::Format(default);
    };
    let ranges: Vec<Range> = accept.split(',').enumerate().filter_map(Range::parse).collect();
    let other = match default {
        Format::Json => Format::Xml,
        Format::Xml => Format::Json,
    };
    // The default first: of equals the earlier stays.
    let best = [default, other]
        .into_iter()
        .filter_map(|format| {
            // The most specific range that covers a type decides its quality.
            let range = ranges
                .iter()
                .filter(|range| range.covers(format))
                .max_by_key(|range| (range.specificity, range.quality))?;
            (range.quality > 0).then_some((format, range))
        })
        .reduce(|first, second| if second.1.rank() > first.1.rank() { second } else { first });
    best.map_or(Negotiated::NotAcceptable, |(format, _)| Negotiated::Format(format))
}

/// `_format`: a short name or a media type, in which a `+` may have been read as a space.
fn format_parameter(format: &str) -> Option<Format> {
    match format.to_ascii_lowercase().as_str() {
        "json" => Some(Format::Json),
        "xml" => Some(Format::Xml),
        other => parse_media_type(&other.replacen(' ', "+", 1)),
    }
}

/// One range of `Accept`.
struct Range {
    /// `None`: a wildcard.
    format: Option<Format>,
    /// 2 a type, 1 `application/*`, 0 `*/*`.
    specificity: u8,
    /// The weight `q` of RFC 9110, in thousandths.
    quality: u16,
    /// Place in the header.
    index: usize,
}

impl Range {
    fn parse((index, text): (usize, &str)) -> Option<Self> {
        let (format, specificity) = match text.split(';').next().unwrap_or_default().trim() {
            "*/*" => (None, 0),
            "application/*" => (None, 1),
            other => (Some(parse_media_type(other)?), 2),
        };
        let quality = text
            .split(';')
            .skip(1)
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
            .map_or(1000, |(_, value)| thousandths(value.trim()));
        Some(Self { format, specificity, quality, index })
    }

    fn covers(&self, format: Format) -> bool {
        self.format.is_none_or(|own| own == format)
    }

    /// Higher is preferred: quality, then what was named rather than allowed, then what came first.
    fn rank(&self) -> (u16, u8, std::cmp::Reverse<usize>) {
        (self.quality, self.specificity, std::cmp::Reverse(self.index))
    }
}

/// A quality value in thousandths; what is no number counts as 1.
fn thousandths(value: &str) -> u16 {
    match value.parse::<f32>() {
        // In range by the clamp.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(quality) if quality.is_finite() => (quality.clamp(0.0, 1.0) * 1000.0) as u16,
        _ => 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Format::{Json, Xml};

    #[test]
    fn media_types() {
        for (text, format) in [
            ("application/fhir+json", Some(Json)),
            ("Application/FHIR+JSON; charset=utf-8; fhirVersion=4.0", Some(Json)),
            ("application/json", Some(Json)),
            ("text/json", Some(Json)),
            ("application/fhir+xml;charset=UTF-8", Some(Xml)),
            ("text/xml", Some(Xml)),
            ("text/html", None),
            ("application/xhtml+xml", None),
            ("", None),
        ] {
            assert_eq!(parse_media_type(text), format, "{text}");
        }
    }

    #[test]
    fn negotiation() {
        let chosen = Negotiated::Format;
        for (accept, format, expected) in [
            (None, None, chosen(Json)),
            (Some(""), None, chosen(Json)),
            (Some("*/*"), None, chosen(Json)),
            (Some("application/*"), None, chosen(Json)),
            (Some("application/fhir+xml"), None, chosen(Xml)),
            (Some("application/fhir+xml, */*"), None, chosen(Xml)),
            (Some("application/fhir+xml;q=0.5, application/fhir+json;q=0.9"), None, chosen(Json)),
            (Some("application/fhir+xml, application/fhir+json"), None, chosen(Xml)),
            (Some("application/fhir+json;q=0, */*"), None, chosen(Xml)),
            (Some("text/html"), None, Negotiated::NotAcceptable),
            (Some("text/html,application/xhtml+xml,application/xml;q=0.9"), None, chosen(Xml)),
            (Some("text/html"), Some("xml"), chosen(Xml)),
            (None, Some("application/fhir xml"), chosen(Xml)),
            (None, Some("application/fhir+json"), chosen(Json)),
            (None, Some("html"), Negotiated::NotAcceptable),
            (Some("application/fhir+json;q=0"), None, Negotiated::NotAcceptable),
        ] {
            assert_eq!(negotiate(accept, format, Json), expected, "{accept:?} {format:?}");
        }
    }
}
