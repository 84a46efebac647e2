//! By what a list is narrowed beside what the journal narrows by: the laboratory, what a report is
//! about, and how it stands to its deadline. Each is a filter of its own.

use std::collections::BTreeMap;

use fhir::Instant;
use journal::Row;
use report::StateCode;
use report::diseases::{self, Tested};

use super::deadlines::{Deadlines, RUNNING};
use crate::limits;
use crate::problem::Problem;
use crate::timeliness::Timeliness;
use crate::views::{AboutView, DiseaseCountView, LaboratoryCountView, ListQuery};

/// What a report is about, as reports are counted by it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum About {
    /// A known disease, by its key.
    Disease(&'static str),
    /// What the report itself says, where it says anything.
    Words(Option<String>),
}

impl About {
    /// From the leading code of a report and its words.
    pub(super) fn of(code: Option<&str>, subject: Option<&str>) -> Self {
        match diseases::of_subject(code, subject) {
            Some(Tested { disease, .. }) => Self::Disease(disease.key),
            None => Self::Words(subject.or(code).map(str::to_owned)),
        }
    }

    fn of_row(row: &Row) -> Self {
        Self::of(row.summary.code.as_deref(), row.summary.subject.as_deref())
    }

    fn asked(view: &AboutView) -> Result<Self, Problem> {
        let Some(key) = &view.disease else {
            return Ok(Self::Words(view.subject.clone()));
        };
        let known = diseases::all().iter().find(|known| known.key == key);
        Ok(Self::Disease(known.ok_or_else(|| limits::invalid("disease"))?.key))
    }
}

/// The numbers of reports by what they are about, the most first.
pub(super) fn most(counts: BTreeMap<About, u32>) -> Vec<DiseaseCountView> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let view = |(about, count)| match about {
        About::Disease(key) => {
            DiseaseCountView { disease: Some(key.to_owned()), subject: None, count }
        }
        About::Words(subject) => DiseaseCountView { disease: None, subject, count },
    };
    counts.into_iter().map(view).collect()
}

/// What is asked for of each; `None` asks for all.
pub(super) struct Narrowing {
    laboratory: Option<String>,
    about: Option<About>,
    timeliness: Option<Timeliness>,
}

impl Narrowing {
    pub(super) fn of(query: &ListQuery) -> Result<Self, Problem> {
        if let Some(laboratory) = &query.laboratory {
            limits::line("laboratory", laboratory)?;
        }
        let timeliness = match query.timeliness.as_deref() {
            None => None,
            Some(code) => Some(Timeliness::of(code).ok_or_else(|| limits::invalid("timeliness"))?),
        };
        Ok(Self {
            laboratory: query.laboratory.clone(),
            about: query.about.as_ref().map(About::asked).transpose()?,
            timeliness,
        })
    }

    pub(super) fn is_asked_for(&self) -> bool {
        self.laboratory.is_some() || self.about.is_some() || self.timeliness.is_some()
    }

    /// States of reports that can stand so to their deadline, where that is asked for.
    pub(super) fn states(&self) -> Option<&'static [StateCode]> {
        Some(match self.timeliness? {
            Timeliness::Overdue | Timeliness::Running => &RUNNING,
            Timeliness::Kept | Timeliness::Late => &[StateCode::InProgress, StateCode::Completed],
        })
    }

    /// Needs the table of deadlines only where a deadline is asked for.
    pub(super) fn lets_through(&self, row: &Row, table: &Deadlines, now: Instant) -> bool {
        let Passed { laboratory, about, timeliness } = self.passed(row, table, now);
        laboratory && about && timeliness
    }

    fn passed(&self, row: &Row, table: &Deadlines, now: Instant) -> Passed {
        let (about, timeliness) = (self.about.as_ref(), self.timeliness);
        Passed {
            laboratory: self.laboratory.is_none() || self.laboratory == row.summary.laboratory,
            about: about.is_none_or(|about| *about == About::of_row(row)),
            timeliness: timeliness.is_none() || timeliness == table.timeliness_of(row, now),
        }
    }
}

/// Which of the filters let a report through.
struct Passed {
    laboratory: bool,
    about: bool,
    timeliness: bool,
}

/// What each choice of each filter would leave beside the choices of the others.
#[derive(Default)]
pub(super) struct Choices {
    laboratories: BTreeMap<String, u32>,
    diseases: BTreeMap<About, u32>,
    timeliness: BTreeMap<&'static str, u32>,
}

impl Choices {
    /// Counts a report that the journal's filter leaves.
    pub(super) fn see(
        &mut self,
        row: &Row,
        narrowing: &Narrowing,
        table: &Deadlines,
        now: Instant,
    ) {
        let Passed { laboratory, about, timeliness } = narrowing.passed(row, table, now);
        if let (true, true, Some(name)) = (about, timeliness, &row.summary.laboratory) {
            *self.laboratories.entry(name.clone()).or_default() += 1;
        }
        if laboratory && timeliness {
            *self.diseases.entry(About::of_row(row)).or_default() += 1;
        }
        if let (true, true, Some(timeliness)) = (laboratory, about, table.timeliness_of(row, now)) {
            *self.timeliness.entry(timeliness.code()).or_default() += 1;
        }
    }

    /// Laboratories and diseases with most reports first, and how many stand how to their deadline.
    pub(super) fn views(
        self,
    ) -> (Vec<LaboratoryCountView>, Vec<DiseaseCountView>, BTreeMap<&'static str, u32>) {
        let laboratories = self.laboratories.into_iter();
        let mut laboratories: Vec<_> =
            laboratories.map(|(name, count)| LaboratoryCountView { name, count }).collect();
        laboratories.sort_by_key(|laboratory| std::cmp::Reverse(laboratory.count));
        (laboratories, most(self.diseases), self.timeliness)
    }
}
