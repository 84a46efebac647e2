//! Refusals that are told in several places.

use http::StatusCode;
use http::header::RETRY_AFTER;

use crate::http::limits::NoRoom;
use crate::http::reply::Reply;
use crate::notice::Notice;
use crate::store::StoreError;

/// The answer to parameters that cannot be decoded.
pub(crate) fn not_encoded(names: &[String]) -> Reply {
    let words = |name: &String| {
        let words = format!("Parameter {name}: not percent-encoded as RFC 3986 says");
        Notice { expression: Some(format!("http.{name}")), ..Notice::error("value", words) }
    };
    Reply::outcome(StatusCode::BAD_REQUEST, &names.iter().map(words).collect::<Vec<_>>())
}

/// None of the encodings that the caller takes.
pub(crate) fn not_acceptable() -> Reply {
    let words = "Answers are application/fhir+json or application/fhir+xml";
    Reply::error(StatusCode::NOT_ACCEPTABLE, "not-supported", words)
}

/// The database failed; the reason is for the log.
pub(crate) fn out_of_order(error: &StoreError) -> Reply {
    tracing::error!(%error, reason = error.reason(), "a request could not be served");
    if matches!(error, StoreError::Uncertain) {
        // Not 503, which says that nothing was done.
        let words =
            "The service lost its database while it stored the document; search for its identifier";
        return Reply::error(StatusCode::INTERNAL_SERVER_ERROR, "exception", words);
    }
    if error.is_limit() {
        return too_costly("What was asked is more than the database can do at once");
    }
    let words = "The service cannot use its database at the moment";
    Reply::error(StatusCode::SERVICE_UNAVAILABLE, "transient", words).with(RETRY_AFTER, "30")
}

/// Too much is under way for what is asked. Nothing of it was done, and 429 says so: a courier
/// takes 503 for a doubt.
pub(crate) fn no_room(why: NoRoom) -> Reply {
    let words = match why {
        NoRoom::OfLaboratory => {
            "Too many bytes of requests and answers of this laboratory are under way"
        }
        NoRoom::AtAll => "Too many bytes of requests and answers are under way",
    };
    let reply = Reply::error(StatusCode::TOO_MANY_REQUESTS, "throttled", words);
    reply.with(RETRY_AFTER, "5").throttled()
}

/// More work than one request may ask for; less of the same can be asked.
pub(crate) fn too_costly(words: impl Into<String>) -> Reply {
    Reply::error(StatusCode::BAD_REQUEST, "too-costly", words)
}

/// There is nothing, or nothing that this caller may see.
pub(crate) fn not_found(words: &str) -> Reply {
    Reply::error(StatusCode::NOT_FOUND, "not-found", words)
}
