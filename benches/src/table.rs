//! Samples to rows, and rows to a table or to JSON. What a row must reach is data beside it.

use std::fmt;

use serde_json::{Value, json};

/// A row of the table. Only what was measured has one.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The baseline's figure, where there is one.
    pub(crate) baseline: Figure,
    /// Our figure.
    pub(crate) ours: Figure,
    /// Ours by baseline, in whichever direction the plan states it.
    pub(crate) ratio: Figure,
    /// What the plan says of it, where it says something.
    pub(crate) bound: Option<Bound>,
}

/// What the plan says of a row: of its ratio where it has one, else of our figure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    must: Limit,
    aim: Option<f64>,
}

/// In which direction a figure is good.
#[derive(Debug, Clone, Copy)]
enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

impl Bound {
    /// The more the better.
    pub(crate) const fn at_least(must: f64, aim: Option<f64>) -> Option<Self> {
        Some(Self { must: Limit::AtLeast(must), aim })
    }

    /// The less the better.
    pub(crate) const fn at_most(must: f64, aim: Option<f64>) -> Option<Self> {
        Some(Self { must: Limit::AtMost(must), aim })
    }

    fn holds(self, figure: f64) -> bool {
        match self.must {
            Limit::AtLeast(least) => figure >= least,
            Limit::AtMost(most) => figure <= most,
        }
    }

    fn must(self, unit: &str) -> String {
        match self.must {
            Limit::AtLeast(least) => format!("≥ {least}{unit}"),
            Limit::AtMost(most) => format!("≤ {most}{unit}"),
        }
    }
}

impl Row {
    /// The figure that its bound is about.
    fn bounded(&self) -> &Figure {
        if self.ratio.samples.0.is_empty() { &self.ours } else { &self.ratio }
    }

    /// Whether it reaches what it must.
    pub(crate) fn holds(&self) -> bool {
        self.bound.is_none_or(|bound| bound.holds(self.bounded().samples.median()))
    }

    fn cells(&self) -> [String; 6] {
        let unit = self.bounded().unit;
        let none = || "-".to_owned();
        let mut must = self.bound.map_or_else(none, |bound| bound.must(unit));
        if !self.holds() {
            must.push_str(" MISSED");
        }
        let aim = self.bound.and_then(|bound| bound.aim);
        [
            self.what.clone(),
            self.baseline.to_string(),
            self.ours.to_string(),
            self.ratio.to_string(),
            must,
            aim.map_or_else(none, |aim| format!("{aim}{unit}")),
        ]
    }

    fn json(&self) -> Value {
        let limit = |limit: Limit| match limit {
            Limit::AtLeast(least) => json!({ "atLeast": least }),
            Limit::AtMost(most) => json!({ "atMost": most }),
        };
        json!({
            "what": self.what,
            "baseline": self.baseline.json(),
            "ours": self.ours.json(),
            "ratio": self.ratio.json(),
            "must": self.bound.map(|bound| limit(bound.must)),
            "aim": self.bound.and_then(|bound| bound.aim),
            "holds": self.holds(),
        })
    }
}

/// Samples as they are shown.
#[derive(Debug, Default)]
pub(crate) struct Figure {
    samples: Samples,
    decimals: usize,
    unit: &'static str,
}

impl Figure {
    /// Of a single look.
    pub(crate) fn of(value: f64, decimals: usize, unit: &'static str) -> Self {
        Samples(vec![value]).shown(decimals, unit)
    }

    fn json(&self) -> Value {
        let sorted = self.samples.sorted();
        let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else {
            return Value::Null;
        };
        let (median, unit) = (self.samples.median(), self.unit.trim());
        json!({ "median": median, "least": least, "most": most, "unit": unit })
    }
}

/// The median, and the range where there are several, so that a reader sees the noise.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, decimals, unit } = self;
        let decimals = *decimals;
        let sorted = samples.sorted();
        match &*sorted {
            [] => f.write_str("-"),
            [one] => write!(f, "{one:.decimals$}{unit}"),
            [least, .., most] => {
                let median = samples.median();
                write!(f, "{median:.decimals$}{unit} [{least:.decimals$}-{most:.decimals$}]")
            }
        }
    }
}

/// Figures of the rounds.
#[derive(Debug, Default, Clone)]
pub(crate) struct Samples(pub(crate) Vec<f64>);

impl Samples {
    /// The middle one; 0 where there is none.
    pub(crate) fn median(&self) -> f64 {
        let sorted = self.sorted();
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    }

    /// The one that this part of all does not exceed; 0 where there is none.
    pub(crate) fn quantile(&self, part: f64) -> f64 {
        let sorted = self.sorted();
        let at = (sorted.len() as f64 * part).ceil() as usize;
        sorted.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    /// One by one divided by those of the same round, so that a busy moment weighs on both.
    pub(crate) fn over(&self, others: &Self) -> Self {
        Self(self.0.iter().zip(&others.0).map(|(one, other)| one / other).collect())
    }

    /// For a row.
    pub(crate) fn shown(&self, decimals: usize, unit: &'static str) -> Figure {
        Figure { samples: self.clone(), decimals, unit }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

/// All rows for a program.
pub(crate) fn json(rows: &[Row]) -> Value {
    Value::Array(rows.iter().map(Row::json).collect())
}

/// The table, columns aligned.
pub(crate) fn print(rows: &[Row]) -> String {
    let head = ["what", "baseline", "ours", "ratio", "must", "aim"].map(str::to_owned);
    let mut lines = vec![head];
    lines.extend(rows.iter().map(Row::cells));
    let width = |column: usize| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; 6] = std::array::from_fn(width);
    let shown = lines.iter().map(|line| {
        let cells = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        let ours = Samples(vec![10.0, 2.0, 30.0]);
        let baseline = Samples(vec![100.0, 10.0, 300.0]);
        let ratio = ours.over(&baseline);
        assert_eq!(ratio.median(), 0.1);
        assert_eq!(ratio.shown(2, "×").to_string(), "0.10× [0.10-0.20]");
        assert_eq!((ratio.quantile(0.5), ratio.quantile(0.99)), (0.1, 0.2));
        assert_eq!(Samples::default().shown(1, "").to_string(), "-");
    }

    #[test]
    fn a_bound_is_about_the_ratio_where_there_is_one() {
        let row = |bound, ratio: &[f64]| Row {
            what: "row".to_owned(),
            ours: Figure::of(40.0, 0, " MB"),
            ratio: Samples(ratio.to_vec()).shown(2, ""),
            bound,
            ..Row::default()
        };
        for (bound, ratio, holds, must) in [
            (Bound::at_most(60.0, Some(30.0)), &[][..], true, "≤ 60 MB"),
            (Bound::at_most(39.5, None), &[], false, "≤ 39.5 MB MISSED"),
            (Bound::at_least(0.06, Some(0.15)), &[0.06, 0.07, 0.05], true, "≥ 0.06"),
            (Bound::at_least(0.06, Some(0.15)), &[0.05, 0.07, 0.05], false, "≥ 0.06 MISSED"),
            (None, &[0.0], true, "-"),
        ] {
            let row = row(bound, ratio);
            assert_eq!((row.holds(), &*row.cells()[4]), (holds, must));
            let told = json(&[row]);
            assert_eq!(told[0]["holds"], holds);
            assert_eq!(told[0]["baseline"], Value::Null);
            assert_eq!(told[0]["ours"]["median"], 40.0);
        }
    }
}
