//! The display of progress while gold queries run.

use std::io::IsTerminal;

use indicatif::ProgressBar;

use super::super::progress::styled;

/// Returns a progress bar, which is hidden if standard error is not a terminal.
pub fn bar(steps: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    ProgressBar::new(steps as u64).with_style(styled("running {wide_bar} {pos}/{len} {rate:>10} {eta:>4} left"))
}
