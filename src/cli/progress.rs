//! Progress of a load: a bar per phase on a terminal, a line per phase elsewhere.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::stdout::tell;
use crate::load::LoadProgress;
use crate::size::count;

/// The display of a running phase.
enum ProgressView {
    Bar(ProgressBar),
    Line,
}

struct RunningPhase {
    name: String,
    began: Instant,
    view: ProgressView,
}

/// Shows a load's phases on standard error.
pub struct Shown {
    bars: bool,
    phase: Mutex<Option<RunningPhase>>,
}

impl Shown {
    /// Creates a display: bars if standard error is a terminal, otherwise lines.
    pub fn new() -> Self {
        Shown { bars: io::stderr().is_terminal(), phase: Mutex::new(None) }
    }

    /// Ends the last phase.
    pub fn finish(&self) {
        end(self.phase.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    /// Ends the last phase and hides all later ones.
    pub fn stop(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        end(phase.take());
        std::mem::forget(phase);
    }

    fn view(&self, name: &str, total: u64) -> ProgressView {
        if !self.bars {
            return ProgressView::Line;
        }
        let bar = if total > 0 {
            ProgressBar::new(total).with_style(styled(
                if ["reading", "sending", "receiving"].iter().any(|verb| name.starts_with(verb)) {
                    "{msg:<24} {wide_bar} {bytes:>10}/{total_bytes} {binary_bytes_per_sec:>12} {eta:>4} left"
                } else {
                    "{msg:<24} {wide_bar} {human_pos:>10}/{human_len} {rate:>12} {eta:>4} left"
                },
            ))
        } else {
            ProgressBar::new_spinner().with_style(styled("{msg:<24} {spinner} {human_pos} {elapsed}"))
        };
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        ProgressView::Bar(bar)
    }
}

impl LoadProgress for Shown {
    fn phase(&self, name: &str, total: u64) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        // Before the next bar is drawn, because each bar clears its line.
        end(phase.take());
        *phase = Some(RunningPhase { name: name.to_owned(), began: Instant::now(), view: self.view(name, total) });
    }

    fn advance(&self, amount: u64) {
        if let Some(RunningPhase { view: ProgressView::Bar(bar), .. }) =
            &*self.phase.lock().unwrap_or_else(PoisonError::into_inner)
        {
            bar.inc(amount);
        }
    }
}

/// Returns a bar style with `{rate}`. Templates are constants; a wrong one falls back to the plain style.
pub fn styled(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        let _ = out.write_str(&rate(state.per_sec()));
    })
}

/// Formats a rate per second with few digits.
fn rate(per_second: f64) -> String {
    if per_second < 100.0 { format!("{per_second:.1}/s") } else { format!("{}/s", count(per_second.round() as u64)) }
}

fn end(phase: Option<RunningPhase>) {
    let Some(RunningPhase { name, began, view }) = phase else { return };
    if let ProgressView::Bar(bar) = &view {
        bar.finish_and_clear();
    }
    let seconds = began.elapsed().as_secs_f64();
    // Phases without a measurable time are not printed.
    if seconds >= 0.05 {
        tell(&format!("{name:<24} {seconds:.1} s"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_short() {
        assert_eq!(rate(90_381.593_028), "90,382/s");
        assert_eq!((rate(0.0).as_str(), rate(7.27).as_str()), ("0.0/s", "7.3/s"));
    }
}
