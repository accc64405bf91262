//! Samples the resources of the server's process.

use std::fmt;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy)]
pub struct MemorySample {
    /// Time since the start of the test.
    pub at: Duration,
    /// Anonymous memory in bytes.
    pub memory: u64,
    pub descriptors: usize,
    pub threads: u64,
}

impl MemorySample {
    /// Returns the current resources of a process, or `None` if it has ended.
    pub fn now(process: u32, since: Instant) -> Option<MemorySample> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        Some(MemorySample {
            at: since.elapsed(),
            memory: number("RssAnon:")? << 10,
            descriptors: std::fs::read_dir(format!("/proc/{process}/fd")).ok()?.count(),
            threads: number("Threads:")?,
        })
    }
}

impl fmt::Display for MemorySample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemorySample { at, memory, descriptors, threads } = self;
        write!(f, "{:>5} s {:>6} MiB {descriptors:>5} descriptors {threads:>4} threads", at.as_secs(), memory >> 20)
    }
}

/// Samples a process about 200 times during `time`.
pub fn watch(process: u32, time: Duration) -> Vec<MemorySample> {
    let (since, mut all) = (Instant::now(), Vec::new());
    while since.elapsed() < time {
        all.extend(MemorySample::now(process, since));
        std::thread::sleep((time / 200).min(time.saturating_sub(since.elapsed())));
    }
    all
}

/// Returns the mean memory in a quarter of the time: 0 to 3.
pub fn quarter(all: &[MemorySample], quarter: usize) -> u64 {
    let part = &all[all.len() * quarter / 4..all.len() * (quarter + 1) / 4];
    part.iter().map(|held| held.memory).sum::<u64>() / part.len().max(1) as u64
}
