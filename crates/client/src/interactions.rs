//! The interactions of the authority over HTTP: sending a report, reading it, searching, and asking
//! what the server can do.

use bytes::Bytes;
use exchange::{Envelope, Page, Query};
use fhir::Instant;
use http::{Request, header};

use crate::authority::{Authority, Changes, Found, Received, Shown};
use crate::body::{Handed, WatchedBody};
use crate::capability::Capability;
use crate::evidence::Evidence;
use crate::fault::Fault;
use crate::http::HttpAuthority;
use crate::{documents, outcome, search};

impl Authority for HttpAuthority {
    async fn submit(&self, wrapped: &Envelope) -> Result<Received, Fault> {
        let handed = Handed::default();
        let body = WatchedBody::new(Bytes::copy_from_slice(&wrapped.body), handed.clone());
        let media_type = wrapped.format.media_type();
        let request = Request::post(self.url(&["DocumentReference"], None).as_str())
            .header(header::CONTENT_TYPE, media_type)
            .header(header::ACCEPT, media_type)
            .body(body);
        let reply = self.exchange(request, &handed).await?;
        outcome::of_submit(reply, &wrapped.identifier, self.release)
    }

    async fn find(&self, identifier: &str) -> Result<Found, Fault> {
        search::find(self, identifier).await
    }

    async fn status(&self, receipt: &str) -> Result<Received, Fault> {
        let reply = self.get(self.url(&["DocumentReference", receipt], None)).await?;
        outcome::of_status(reply, receipt)
    }

    async fn changed_since(&self, since: Option<Instant>) -> Result<Changes, Fault> {
        search::changed_since(self, since).await
    }

    async fn search(&self, query: &Query) -> Result<(Page, Evidence), Fault> {
        search::page(self, query).await
    }

    async fn find_document(&self, identifier: &str) -> Result<Shown, Fault> {
        documents::find(self, identifier).await
    }

    async fn capability(&self) -> Result<(Capability, Evidence), Fault> {
        self.described().await.map(|(capability, evidence, _)| (capability, evidence))
    }
}
