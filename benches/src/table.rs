//! Samples to rows to a table.

/// A row of the table.
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The baseline's figure.
    pub(crate) baseline: String,
    /// What was measured of our program.
    pub(crate) ours: String,
    /// Ours by baseline, in whichever direction the plan states it.
    pub(crate) ratio: String,
    /// What the plan requires.
    pub(crate) must: &'static str,
    /// What the plan aims at.
    pub(crate) aim: &'static str,
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

    /// Median with the range, so that a reader sees the noise.
    pub(crate) fn shown(&self, decimals: usize, unit: &str) -> String {
        let sorted = self.sorted();
        let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else {
            return "-".to_owned();
        };
        format!("{:.decimals$}{unit} [{least:.decimals$}-{most:.decimals$}]", self.median())
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

/// The table, columns aligned.
pub(crate) fn print(rows: &[Row]) -> String {
    let head = ["what", "baseline", "ours", "ratio", "must", "aim"].map(str::to_owned);
    let mut lines = vec![head];
    lines.extend(rows.iter().map(|row| {
        [
            row.what.clone(),
            row.baseline.clone(),
            row.ours.clone(),
            row.ratio.clone(),
            row.must.to_owned(),
            row.aim.to_owned(),
        ]
    }));
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
        assert_eq!(ratio.shown(2, "×"), "0.10× [0.10-0.20]");
        assert_eq!((ratio.quantile(0.5), ratio.quantile(0.99)), (0.1, 0.2));
        assert_eq!(Samples::default().shown(1, ""), "-");
    }
}
