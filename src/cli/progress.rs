//! How far a load is: a bar a phase on a terminal, a line a phase elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::load::Progress;

/// What a phase looks like while it runs.
enum View {
    Bar(ProgressBar),
    Line,
}

struct Phase {
    name: String,
    began: Instant,
    view: View,
}

/// Shows a load's phases on standard error.
pub struct Shown {
    bars: bool,
    phase: Mutex<Option<Phase>>,
}

impl Shown {
    /// Bars where standard error is a terminal, else lines.
    pub fn new() -> Self {
        Shown { bars: io::stderr().is_terminal(), phase: Mutex::new(None) }
    }

    /// Ends the last phase.
    pub fn finish(&self) {
        end(self.phase.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Ends the last phase for good: whoever goes on working does not get to show it.
    pub fn stop(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        end(phase.take());
        std::mem::forget(phase);
    }

    fn view(&self, name: &str, total: u64) -> View {
        if !self.bars {
            return View::Line;
        }
        // The templates are constants; where one were wrong, the plain style would do.
        let style = |template| ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = if total > 0 {
            ProgressBar::new(total).with_style(style(if name.starts_with("reading") {
                "{msg:<24} {wide_bar} {bytes:>10}/{total_bytes} {binary_bytes_per_sec:>12} {eta:>4} left"
            } else {
                "{msg:<24} {wide_bar} {human_pos:>10}/{human_len} {per_sec:>12} {eta:>4} left"
            }))
        } else {
            ProgressBar::new_spinner().with_style(style("{msg:<24} {spinner} {human_pos} {elapsed}"))
        };
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        View::Bar(bar)
    }
}

impl Progress for Shown {
    fn phase(&self, name: &str, total: u64) {
        let phase = Phase { name: name.to_owned(), began: Instant::now(), view: self.view(name, total) };
        end(self.phase.lock().unwrap_or_else(PoisonError::into_inner).replace(phase));
    }

    fn advance(&self, amount: u64) {
        if let Some(Phase { view: View::Bar(bar), .. }) = &*self.phase.lock().unwrap_or_else(PoisonError::into_inner) {
            bar.inc(amount);
        }
    }
}

fn end(phase: Option<Phase>) {
    let Some(Phase { name, began, view }) = phase else { return };
    if let View::Bar(bar) = &view {
        bar.finish_and_clear();
    }
    let seconds = began.elapsed().as_secs_f64();
    // What took no time is not worth a line.
    if seconds >= 0.05 {
        let _ = writeln!(io::stderr(), "{name:<24} {seconds:.1} s");
    }
}
