//! What `Debug` prints of what a laboratory sent and of what is answered: never content, never an
//! identifier.

use std::fmt::Debug;
use std::time::Duration;

use fhir::Format;
use http::StatusCode;

use crate::http::reply::Reply;
use crate::notice::Notice;
use crate::store::NewDocument;

const CANARY: &str = "Zwinglicanary";

fn silent(value: &impl Debug) {
    for printed in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!printed.contains(CANARY), "{printed}");
    }
}

#[test]
fn what_came_in_and_what_goes_out_are_not_printed() {
    silent(&NewDocument {
        laboratory: 1,
        certificate: "00".to_owned(),
        receipt: "1".to_owned(),
        identifier_system: Some(CANARY.to_owned()),
        identifier: CANARY.to_owned(),
        document_system: Some(CANARY.to_owned()),
        document_identifier: CANARY.to_owned(),
        digest: [0; 32],
        status: exchange::Processing::InProgress,
        notices: vec![Notice::error("invalid", CANARY)],
        format: Format::Json,
        body: CANARY.into(),
        delay: Duration::ZERO,
        unless: None,
    });
    let mut notice = Notice::error("invalid", CANARY);
    (notice.text, notice.expression) = (Some(CANARY.to_owned()), Some(CANARY.to_owned()));
    silent(&notice);
    silent(&Reply::outcome(StatusCode::OK, &[notice]));
    silent(&Reply::json(StatusCode::OK, format!("{{\"name\":\"{CANARY}\"}}")));
}
