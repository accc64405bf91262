//! Progress of a run: a bar on a terminal, an occasional line elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::super::progress::styled;
use super::super::stdout;
use crate::eval::cache::ResultCache;

/// The time between two lines of progress.
const PAUSE: Duration = Duration::from_secs(10);

/// A display on standard error of the number of scored instances.
pub(super) struct EvalProgress<'a> {
    cache: &'a dyn ResultCache,
    /// The number of instances, and of those scored by an earlier attempt.
    all: usize,
    known: usize,
    done: AtomicUsize,
    began: Instant,
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
    last: Mutex<Instant>,
}

impl<'a> EvalProgress<'a> {
    /// Starts the display: of `all` instances, `known` are already scored.
    pub(super) fn new(all: usize, known: usize, cache: &'a dyn ResultCache) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(all as u64);
            bar.with_style(styled("scoring {wide_bar} {pos}/{len} {rate:>10} {eta:>4} left{msg}"))
        });
        let began = Instant::now();
        EvalProgress { cache, all, known, done: AtomicUsize::new(0), began, bar, last: Mutex::new(began) }
    }

    /// Counts a scored instance.
    pub(super) fn advance(&self) {
        let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if done.is_multiple_of(16) {
                bar.set_message(self.hits());
            }
        } else if let Ok(mut last) = self.last.try_lock()
            && last.elapsed() >= PAUSE
        {
            *last = Instant::now();
            stdout::tell(&self.line(done, self.began.elapsed()));
        }
    }

    /// Shows the reason why an instance is waiting: next to the bar, or as an occasional line.
    pub(super) fn waiting(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!(", {text}"));
        } else if let Ok(mut last) = self.last.try_lock()
            && last.elapsed() >= PAUSE
        {
            *last = Instant::now();
            let done = self.done.load(Ordering::Relaxed) + self.known;
            stdout::tell(&format!("{done} of {}: {text}", self.all));
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, done: usize, elapsed: Duration) -> String {
        // Known instances took no time and do not predict the rest.
        let rate = done.saturating_sub(self.known) as f64 / elapsed.as_secs_f64().max(1e-3);
        let left = (self.all.saturating_sub(done)) as f64 / rate.max(1e-3);
        format!("scored {done} of {}, {rate:.1}/s, {left:.0} s left{}", self.all, self.hits())
    }

    fn hits(&self) -> String {
        let hits = self.cache.counts().map_or(0, |counts| counts.hits);
        if hits == 0 { String::new() } else { format!(", {hits} from the cache") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::cache::NoCache;

    #[test]
    fn the_time_left_is_that_of_what_was_scored_now() {
        let progress = EvalProgress::new(100, 40, &NoCache);
        assert_eq!(progress.line(60, Duration::from_secs(10)), "scored 60 of 100, 2.0/s, 20 s left");
    }
}
