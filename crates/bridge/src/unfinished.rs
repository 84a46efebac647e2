//! Changes of many reports that were broken off. They stand in the journal of the room in use: what
//! is changed may be the name of a patient.

use engine::Engine;
use report::SubmissionId;

use crate::desk::Desk;
use crate::limits;
use crate::problem::Problem;
use crate::views::UnfinishedFix;

/// Setting of the journal under which they stand.
const FIXES: &str = "unfinished-fixes";
/// Kept at most; the oldest go first.
const FIXES_MAX: usize = 20;

impl Desk {
    /// The changes that were broken off, the last one at the end, each for the reports that can
    /// still be corrected. What cannot be read counts as not kept.
    pub async fn unfinished_fixes(&self) -> Result<Vec<UnfinishedFix>, Problem> {
        let engine = self.engine();
        let kept = kept(&engine)?;
        let mut left = kept.clone();
        for fix in &mut left {
            let rest = fix.rest.len();
            fix.rest.retain(|id| may_be_corrected(&engine, *id));
            fix.sent = fix.sent.saturating_add(u32::try_from(rest - fix.rest.len()).unwrap_or(0));
        }
        left.retain(|fix| !fix.rest.is_empty());
        // What is over is forgotten: it may have a name in it.
        if left.len() < kept.len() {
            store(&engine, &left)?;
        }
        Ok(left)
    }

    /// Keeps how far a change is, in place of what was known of the same; one of which nothing is
    /// left is forgotten.
    pub async fn keep_fix(&self, fix: UnfinishedFix) -> Result<(), Problem> {
        limits::ids(&fix.rest)?;
        for (argument, value) in
            [("path", &fix.path), ("find", &fix.find), ("replace", &fix.replace)]
        {
            limits::line(argument, value)?;
        }
        let engine = self.engine();
        let mut all = kept(&engine)?;
        all.retain(|known| !is_same(known, &fix));
        if !fix.rest.is_empty() {
            all.push(fix);
        }
        let oldest = all.len().saturating_sub(FIXES_MAX);
        store(&engine, &all[oldest..])
    }
}

fn is_same(one: &UnfinishedFix, other: &UnfinishedFix) -> bool {
    (&one.path, &one.find, &one.replace) == (&other.path, &other.find, &other.replace)
}

fn may_be_corrected(engine: &Engine, id: i64) -> bool {
    let row = engine.journal().row(SubmissionId(id));
    row.is_ok_and(|row| row.state.shown().may_be_corrected())
}

fn kept(engine: &Engine) -> Result<Vec<UnfinishedFix>, Problem> {
    let kept = engine.journal().setting(FIXES)?;
    Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()).unwrap_or_default())
}

fn store(engine: &Engine, fixes: &[UnfinishedFix]) -> Result<(), Problem> {
    let kept = serde_json::to_value(fixes).map_err(|_| limits::invalid("fix"))?;
    Ok(engine.journal().set_setting(FIXES, kept)?)
}
