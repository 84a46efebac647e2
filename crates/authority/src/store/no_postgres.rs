//! What stands in the place of `postgres` where this program is built without it: the desktop app
//! keeps its practice authority in a file. The types have no values, so that a method on a value is
//! never called and its body is an empty `match`. What makes a value from a URL gives an error.

use std::convert::Infallible;
use std::time::Duration;

use fhir::Instant;

use super::{
    Accepted, AuditEntry, AuditFilter, AuditLine, Due, Found, FoundPage, Laboratory, NewDocument,
    RegisteredCertificate, Search, StoreError, Verdict,
};
use crate::AuthorityError;

/// The error of a PostgreSQL server. It never occurs, because no server is asked.
pub(crate) type Error = Infallible;

pub(super) fn reason(error: &Error) -> String {
    match *error {}
}

pub(super) fn is_limit(error: &Error) -> bool {
    match *error {}
}

/// Refuses every URL.
pub(crate) enum Target {}

impl Target {
    pub(crate) fn parse(_: &str) -> Result<Self, AuthorityError> {
        Err(AuthorityError::StoreUrl("it is `sqlite`: this program has no PostgreSQL".to_owned()))
    }
}

pub(crate) enum Claim {}

impl Claim {
    pub(crate) async fn conclude(self, _: &[Verdict]) -> Result<(), StoreError> {
        match self {}
    }
}

pub(crate) enum Database {}

impl Database {
    pub(crate) async fn open(url: &str) -> Result<Self, AuthorityError> {
        match Target::parse(url)? {}
    }

    pub(crate) async fn accept(&self, _: NewDocument) -> Result<Accepted, StoreError> {
        match *self {}
    }

    pub(crate) async fn take(&self, _: u32) -> Result<(Vec<Due>, Claim), StoreError> {
        match *self {}
    }

    pub(crate) async fn next_due(&self) -> Result<Option<Duration>, StoreError> {
        match *self {}
    }

    pub(crate) async fn by_receipt(&self, _: i64, _: String) -> Result<Option<Found>, StoreError> {
        match *self {}
    }

    pub(crate) async fn exists(&self, _: String) -> Result<bool, StoreError> {
        match *self {}
    }

    pub(crate) async fn search(&self, _: &Search) -> Result<FoundPage, StoreError> {
        match *self {}
    }

    pub(crate) async fn laboratory(&self, _: String) -> Result<Option<Laboratory>, StoreError> {
        match *self {}
    }

    pub(crate) async fn audit(&self, _: AuditEntry) -> Result<(), StoreError> {
        match *self {}
    }

    pub(crate) async fn waiting(&self) -> Result<(u64, Option<Instant>), StoreError> {
        match *self {}
    }

    pub(crate) async fn settled(&self) {
        match *self {}
    }
}

pub(crate) enum Records {}

impl Records {
    pub(crate) fn open(url: &str) -> Result<Self, AuthorityError> {
        match Target::parse(url)? {}
    }

    pub(crate) fn knows(&self, _: &str) -> Result<bool, StoreError> {
        match *self {}
    }

    pub(crate) fn has(&self, _: &str) -> Result<bool, StoreError> {
        match *self {}
    }

    pub(crate) fn add(&self, _: &str) -> Result<bool, StoreError> {
        match *self {}
    }

    pub(crate) fn laboratories(&self, _: Instant) -> Result<Vec<(String, u32)>, StoreError> {
        match *self {}
    }

    pub(crate) fn register(
        &self,
        _: &str,
        _: &str,
        _: Instant,
        _: Instant,
    ) -> Result<bool, StoreError> {
        match *self {}
    }

    pub(crate) fn certificates(
        &self,
        _: Option<&str>,
    ) -> Result<Vec<RegisteredCertificate>, StoreError> {
        match *self {}
    }

    pub(crate) fn revoke(&self, _: &str, _: Instant) -> Result<(), StoreError> {
        match *self {}
    }

    pub(crate) fn audit(&self, _: &AuditFilter) -> Result<Vec<AuditLine>, StoreError> {
        match *self {}
    }

    pub(crate) fn forget_audit(&self, _: Instant, _: Instant) -> Result<u64, StoreError> {
        match *self {}
    }
}
