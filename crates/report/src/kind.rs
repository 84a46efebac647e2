//! What a file is, told by its first bytes, so that a wrong file is refused by its right name.

use fhir::Format;

use crate::glance::{self, Glance};

/// What some bytes are. Only [`Kind::is_report`] goes on to be read; everything else is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A Bundle that is, or is meant as, a document.
    FhirDocument(Format),
    /// A DocumentReference that contains a Bundle.
    FhirEnvelope(Format),
    /// Another FHIR resource.
    FhirOther {
        /// Its encoding.
        format: Format,
        /// Its type as written (at most 64 characters).
        resource_type: String,
    },
    /// JSON objects, one a line.
    Ndjson,
    /// A ZIP archive that is no office document.
    Zip,
    /// Another archive or compressed file (gzip, 7z, RAR, tar, xz, zstd, bzip2).
    Archive,
    /// A document in the format PDF.
    Pdf,
    /// HL7 version 2, pipes.
    Hl7v2,
    /// HL7 version 3 clinical document.
    Cda,
    /// A table with commas, semicolons or tabulators.
    Csv,
    /// Nothing, or white space only.
    Empty,
    /// Text in UTF-16 or UTF-32 (FHIR is UTF-8).
    Utf16Text,
    /// Rich text.
    Rtf,
    /// Word, Excel, PowerPoint, OpenDocument.
    Office,
    /// A picture, or a DICOM file.
    Image,
    /// A web page.
    Html,
    /// A certificate or a key (PEM, DER, PKCS#12).
    Certificate,
    /// JSON that is no FHIR resource.
    OtherJson,
    /// XML that is no FHIR resource.
    OtherXml,
    /// Other text.
    Text,
    /// Anything else.
    Binary,
}

impl Kind {
    /// All codes, for the message catalogues.
    pub const CODES: [&'static str; 21] = [
        "fhir-document",
        "fhir-envelope",
        "fhir-other",
        "ndjson",
        "zip",
        "archive",
        "pdf",
        "hl7v2",
        "cda",
        "csv",
        "empty",
        "utf16",
        "rtf",
        "office",
        "image",
        "html",
        "certificate",
        "other-json",
        "other-xml",
        "text",
        "binary",
    ];

    /// Stable code in kebab-case.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::FhirDocument(_) => "fhir-document",
            Self::FhirEnvelope(_) => "fhir-envelope",
            Self::FhirOther { .. } => "fhir-other",
            Self::Ndjson => "ndjson",
            Self::Zip => "zip",
            Self::Archive => "archive",
            Self::Pdf => "pdf",
            Self::Hl7v2 => "hl7v2",
            Self::Cda => "cda",
            Self::Csv => "csv",
            Self::Empty => "empty",
            Self::Utf16Text => "utf16",
            Self::Rtf => "rtf",
            Self::Office => "office",
            Self::Image => "image",
            Self::Html => "html",
            Self::Certificate => "certificate",
            Self::OtherJson => "other-json",
            Self::OtherXml => "other-xml",
            Self::Text => "text",
            Self::Binary => "binary",
        }
    }

    /// The encoding, if it is a report to be read (bare document or envelope).
    pub const fn is_report(&self) -> Option<Format> {
        match self {
            Self::FhirDocument(format) | Self::FhirEnvelope(format) => Some(*format),
            _ => None,
        }
    }
}

/// Recognises what some bytes are. Nothing is parsed: a look at the first bytes, and for JSON and
/// XML at the names near the root, as far as needed and never twice. The whole text may be passed
/// or its first few kilobytes; with the whole text also unusual orders of names are seen.
pub fn recognise(bytes: &[u8]) -> Kind {
    if let Some(kind) = by_signature(bytes) {
        return kind;
    }
    let text = glance::trim_start(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes));
    if text.is_empty() {
        return Kind::Empty;
    }
    match text[0] {
        b'{' if is_ndjson(text) => Kind::Ndjson,
        b'{' => fhir_kind(Format::Json, glance::json(text)).unwrap_or(Kind::OtherJson),
        b'[' => Kind::OtherJson,
        b'<' => markup(text),
        _ => other_text(text),
    }
}

/// Bundle types that are certainly not meant as a document.
const OTHER_BUNDLES: [&str; 8] = [
    "message",
    "transaction",
    "transaction-response",
    "batch",
    "batch-response",
    "history",
    "searchset",
    "collection",
];

/// A Bundle of a wrong type that begins with a Composition was meant as a document, and one without
/// a type may be: they are read, and the finding says what is wrong.
fn fhir_kind(format: Format, glance: Glance) -> Option<Kind> {
    let resource_type = glance.resource_type?;
    let other = |name: String| {
        Some(Kind::FhirOther { format, resource_type: name.chars().take(64).collect() })
    };
    match resource_type.as_str() {
        "Bundle" => {
            let names_other =
                glance.bundle_type.is_some_and(|name| OTHER_BUNDLES.contains(&name.as_str()));
            if names_other && glance.first_entry.as_deref() != Some("Composition") {
                return other(resource_type);
            }
            Some(Kind::FhirDocument(format))
        }
        "DocumentReference" if glance.contains_bundle => Some(Kind::FhirEnvelope(format)),
        _ => other(resource_type),
    }
}

fn by_signature(bytes: &[u8]) -> Option<Kind> {
    const SIGNATURES: &[(&[u8], Kind)] = &[
        (b"%PDF-", Kind::Pdf),
        (b"{\\rtf", Kind::Rtf),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", Kind::Office),
        (b"\x89PNG\r\n", Kind::Image),
        (b"\xFF\xD8\xFF", Kind::Image),
        (b"GIF8", Kind::Image),
        (b"II*\0", Kind::Image),
        (b"MM\0*", Kind::Image),
        (b"BM", Kind::Image),
        (b"\x1F\x8B", Kind::Archive),
        (b"7z\xBC\xAF\x27\x1C", Kind::Archive),
        (b"Rar!\x1A\x07", Kind::Archive),
        (b"\xFD7zXZ\0", Kind::Archive),
        (b"\x28\xB5\x2F\xFD", Kind::Archive),
        (b"BZh", Kind::Archive),
        (b"-----BEGIN ", Kind::Certificate),
        (b"MSH|", Kind::Hl7v2),
        (b"FHS|", Kind::Hl7v2),
        (b"BHS|", Kind::Hl7v2),
        (b"\x0BMSH|", Kind::Hl7v2),
        (b"\xFF\xFE", Kind::Utf16Text),
        (b"\xFE\xFF", Kind::Utf16Text),
        (b"\0\0\xFE\xFF", Kind::Utf16Text),
        (b"{\0", Kind::Utf16Text),
        (b"<\0", Kind::Utf16Text),
        (b"\0{", Kind::Utf16Text),
        (b"\0<", Kind::Utf16Text),
    ];
    // An empty archive has no local file, only its directory.
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Some(if is_office_zip(bytes) { Kind::Office } else { Kind::Zip });
    }
    let of = |(signature, kind): &(&[u8], Kind)| {
        // Words begin with BM too; the header of a bitmap has zeros.
        let text = *signature == b"BM" && !bytes.iter().take(14).any(|byte| *byte == 0);
        (bytes.starts_with(signature) && !text).then(|| kind.clone())
    };
    if let Some(kind) = SIGNATURES.iter().find_map(of) {
        return Some(kind);
    }
    let at = |offset: usize, what: &[u8]| bytes.get(offset..).is_some_and(|b| b.starts_with(what));
    if at(0, b"RIFF") && at(8, b"WEBP") || at(4, b"ftyphei") || at(128, b"DICM") {
        return Some(Kind::Image);
    }
    if at(257, b"ustar") {
        return Some(Kind::Archive);
    }
    // DER: a SEQUENCE with a two-byte length that begins with version 3 (PKCS#12), version 0 or 1
    // (a key), or another SEQUENCE (a certificate).
    if at(0, b"\x30\x82") && (at(4, b"\x02\x01") || at(4, b"\x30\x82") || at(4, b"\x30\x81")) {
        return Some(Kind::Certificate);
    }
    None
}

/// Word, Excel and the like are ZIP archives; the names of their first files tell.
fn is_office_zip(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    let has = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
    has(b"[Content_Types].xml") || has(b"mimetypeapplication/vnd.oasis.opendocument")
}

/// One JSON object ends on the first line and another begins on the next: no single JSON text does
/// that.
fn is_ndjson(text: &[u8]) -> bool {
    let Some(end) = text.iter().position(|byte| *byte == b'\n') else { return false };
    let first = text[..end].trim_ascii_end();
    first.ends_with(b"}") && glance::trim_start(&text[end..]).starts_with(b"{")
}

fn markup(text: &[u8]) -> Kind {
    let head = text[..text.len().min(512)].to_ascii_lowercase();
    if head.starts_with(b"<!doctype html") || head.starts_with(b"<html") {
        return Kind::Html;
    }
    let glance = glance::xml(text);
    match glance.root.as_deref() {
        Some("ClinicalDocument") => Kind::Cda,
        Some("html") => Kind::Html,
        _ => fhir_kind(Format::Xml, glance).unwrap_or(Kind::OtherXml),
    }
}

fn other_text(text: &[u8]) -> Kind {
    let head = &text[..text.len().min(8192)];
    let binary = |byte: &u8| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | 0x0B | 0x0C | b'\r');
    if head.iter().any(binary) {
        return Kind::Binary;
    }
    // Bytes outside ASCII may be an old encoding; a file of mostly such bytes is no text.
    if std::str::from_utf8(head).is_err_and(|e| e.error_len().is_some())
        && head.iter().filter(|byte| **byte >= 0x80).count() * 3 > head.len()
    {
        return Kind::Binary;
    }
    if is_table(head) { Kind::Csv } else { Kind::Text }
}

/// The same separator, equally often (at least once), on the first two lines.
fn is_table(head: &[u8]) -> bool {
    let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (Some(first), second) = (lines.next(), lines.next()) else { return false };
    let count = |line: &[u8], separator: u8| line.iter().filter(|byte| **byte == separator).count();
    [b';', b'\t', b','].into_iter().any(|separator| {
        let columns = count(first, separator);
        match second {
            // A value may hold the separator in quotes, so the second line may have more.
            Some(second) => columns > 0 && count(second, separator) >= columns,
            None => columns > 1,
        }
    })
}
