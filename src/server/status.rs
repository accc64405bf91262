//! `/api/status`: free slots and running queries, in the lines that clients of the public services read.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::extract::State;

use super::App;

/// Lists slots and queries.
pub async fn status(State(app): State<Arc<App>>) -> String {
    let now = SystemTime::now();
    let queries = app.running.list();
    // Clients take the fifth line for the slots.
    let mut out = format!(
        "Connected as: 0\nCurrent time: {}\nAnnounced endpoint: none\nRate limit: {}\n",
        iso(seconds(now)),
        app.gates.queries.total()
    );
    let free = app.gates.queries.free();
    if free > 0 {
        let _ = writeln!(out, "{free} slots available now.");
    } else if let Some(soonest) = queries.iter().map(|(_, query)| query.deadline).min() {
        let wait = soonest.saturating_duration_since(Instant::now()).as_secs() + 1;
        let _ = writeln!(out, "Slot available after: {}, in {wait} seconds.", iso(seconds(now) + wait as i64));
    } else {
        out.push_str("0 slots available now.\n");
    }
    out.push_str("Currently running queries (pid, space limit, time limit, start time):\n");
    for (number, query) in queries {
        let started = iso(seconds(query.since));
        let _ = writeln!(out, "{number}\t{}\t{}\t{started}", query.memory, query.allowed.as_secs());
    }
    out
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}

/// `2016-03-07T21:15:30Z`.
pub(super) fn iso(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "unknown".into(), |t| t.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_osm_writes_them() {
        assert_eq!(iso(1_457_385_330), "2016-03-07T21:15:30Z");
        assert_eq!(iso(i64::MAX), "unknown");
    }
}
