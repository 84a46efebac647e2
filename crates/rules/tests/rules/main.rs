//! Every kind of rule, with a case that keeps it and one that breaks it; the authority's own
//! packages where they lie beside the workspace.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod bounds;
mod bundles;
mod causes;
mod contents;
mod definitions;
mod differentials;
mod discriminators;
mod documents;
mod elements;
mod forms;
mod guides;
mod kinds;
mod listing;
mod mutants;
mod names;
mod package_parts;
mod packages;
mod practice;
mod privacy;
mod published;
mod questionnaires;
mod slices;
mod teaching;
mod terms;
mod verdicts;
