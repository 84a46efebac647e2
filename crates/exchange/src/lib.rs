//! The contract with the authority, shared by client and authority: endpoints and releases, media
//! types, the DocumentReference envelope, answers, search query and search result
//! (docs/interface.md).
//!
//! Pure: it makes and reads bytes, and opens no connection.

mod answer;
mod echo;
mod endpoint;
mod envelope;
mod media;
mod profile;
mod query;
mod search;
mod splice;
mod wrapping;

pub use answer::{Answer, AnswerProblem, Processing, leave_out_contradictions};
pub use echo::ignored;
pub use endpoint::{
    Endpoint, Environment, IdentifierChoice, InvalidAnswer, Release, ReleaseFacts, SearchSupport,
    Times, has_usual_path,
};
pub use envelope::{Envelope, EnvelopeView, WrapProblem, document_of, envelope_of};
pub use media::{Negotiated, negotiate, parse_media_type};
pub use profile::{CODES, Strictness, check_before_seal, check_envelope};
pub use query::{decode, encode, escape, pairs, split, unescape};
pub use search::{Links, Page, Query, SearchProblem, SortKey, TimeFilter, TimePrefix, followable};
pub use splice::{Insertion, LOCAL_ID, permitted_insertions};
pub use wrapping::{Wrapping, wrap};

/// Canonical URLs and systems of the interface (docs/interface.md, "Profiles and identifiers").
pub mod canonical {
    /// Profile of the contained document.
    pub const DOCUMENT: &str = "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-document";
    /// Strict form of the same.
    pub const DOCUMENT_STRICT: &str =
        "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-elm-document-strict";
    /// European laboratory Bundle.
    pub const BUNDLE_EU_LAB: &str =
        "http://hl7.eu/fhir/laboratory/StructureDefinition/Bundle-eu-lab";
    /// DocumentReference as returned.
    pub const PUBLISH_RESPONSE: &str =
        "http://fhir.ch/ig/ch-elm/StructureDefinition/PublishDocumentReferenceResponse";
    /// Search result.
    pub const FIND_RESPONSE: &str =
        "http://fhir.ch/ig/ch-elm/StructureDefinition/FindDocumentReferencesResponse";
    /// Complex extension with the processing status.
    pub const STATUS_EXTENSION: &str =
        "http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status";
    /// URI identifier system.
    pub const URI_SYSTEM: &str = "urn:ietf:rfc:3986";
    /// Code system of the authority's own rules (`FOPH-…`).
    pub const RULES_SYSTEM: &str = "http://fhir.ch/ig/ch-elm/CodeSystem/ch-elm-foph-business-rules";
}
