//! Every request, from its head to its answer.

pub(crate) mod body;
pub(crate) mod context;
pub(crate) mod definition;
pub(crate) mod fhir_json;
pub(crate) mod intake_schema;
pub(crate) mod interactions;
pub(crate) mod limits;
pub(crate) mod openapi;
pub(crate) mod paced;
pub(crate) mod percent;
pub(crate) mod refusals;
pub(crate) mod reply;
pub(crate) mod routes;
pub(crate) mod search;
pub(crate) mod turns;
pub(crate) mod unreadable;
