//! Progress on a terminal; silence everywhere else.

use std::fmt::Write;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::output::Output;

/// A bar on standard error while a person watches.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    pub(crate) fn new(output: &Output, total: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len}  {rate}  {elapsed} −{eta}");
        let rate = |state: &ProgressState, to: &mut dyn Write| {
            // Writing to memory cannot fail.
            let _ = write!(to, "{:.0}/s", state.per_sec());
        };
        match style.map(|style| style.with_key("rate", rate)) {
            Ok(style) if output.is_watched() && total > 0 => {
                let bar = ProgressBar::new(total as u64).with_style(style);
                // So that it moves although nothing happens: the reader sees that it is not stuck.
                bar.enable_steady_tick(std::time::Duration::from_millis(500));
                Self(Some(bar))
            }
            _ => Self(None),
        }
    }

    /// Prints beside the bar, which stands below what is printed.
    pub(crate) fn beside(&self, print: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    pub(crate) fn reached(&self, done: usize, of: usize) {
        if let Some(bar) = &self.0 {
            bar.set_length(of as u64);
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
