//! `/api/status`: reports free slots and running queries, in the line format that clients of the public services parse.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Extension;
use axum::extract::State;
use axum::routing::on;
use sha2::{Digest, Sha256};

use crate::App;
use crate::client::ClientKey;
use crate::context::HttpRequestContext;
use crate::rejected::whole_seconds;
use crate::route::{Route, TEXT};
use crate::running::Running;

/// The route of the status.
pub const ROUTES: &[Route] =
    &[Route::get("/api/status", "The client's free slots and running queries", |_, methods| on(methods, status))
        .answers(&[TEXT])
        .for_operators(|_, methods| on(methods, all))];

/// Reports the client's own slots and queries.
pub async fn status(State(app): State<Arc<App>>, Extension(context): Extension<Arc<HttpRequestContext>>) -> String {
    let client = &context.client;
    let everybodys = app.running.list();
    let own: Vec<_> = everybodys.iter().filter(|(_, query)| query.request.client == *client).collect();
    let limit = app.quota.queries().map_or(app.gates.queries.total(), |n| n as usize);
    let left = app.quota.left(client);
    let mut free = limit.saturating_sub(left.queries as usize).min(app.gates.queries.free());
    if left.wait.is_some() {
        free = 0;
    }
    // Clients read the number of slots from the fifth line.
    let mut out = head(&number(client).to_string(), limit);
    if free > 0 {
        let _ = writeln!(out, "{free} slots available now.");
    }
    let now = Instant::now();
    let mut waits: Vec<Duration> = own
        .iter()
        .filter(|(_, query)| query.in_slot)
        .map(|(_, query)| query.deadline.saturating_duration_since(now).max(left.wait.unwrap_or_default()))
        .collect();
    if free == 0 && waits.is_empty() {
        // The client waits for its quota, or for a query of another client.
        let in_slots = everybodys.iter().filter(|(_, query)| query.in_slot);
        let soonest = in_slots.map(|(_, query)| query.deadline.saturating_duration_since(now)).min();
        waits.extend(left.wait.or(soonest));
    }
    waits.sort_unstable();
    for wait in &waits {
        let wait = whole_seconds(*wait);
        let at = iso(seconds(SystemTime::now()).saturating_add_unsigned(wait));
        let _ = writeln!(out, "Slot available after: {at}, in {wait} seconds.");
    }
    if free == 0 && waits.is_empty() {
        out.push_str("0 slots available now.\n");
    }
    out.push_str("Currently running queries (pid, space limit, time limit, start time):\n");
    for (number, query) in own {
        let _ = writeln!(out, "{}", line(*number, query));
    }
    out
}

/// Reports the queries of all clients, with client and request of each, for operators.
pub async fn all(State(app): State<Arc<App>>) -> String {
    let mut out = head("operator", app.gates.queries.total());
    let _ = writeln!(out, "{} slots available now.", app.gates.queries.free());
    out.push_str("Currently running queries (pid, space limit, time limit, start time, client, request):\n");
    for (number, query) in app.running.list() {
        let _ = writeln!(out, "{}\t{}\t{}", line(number, &query), query.request.client.0, query.request.id());
    }
    out
}

fn head(who: &str, limit: usize) -> String {
    let now = iso(seconds(SystemTime::now()));
    format!("Connected as: {who}\nCurrent time: {now}\nAnnounced endpoint: none\nRate limit: {limit}\n")
}

fn line(number: u64, query: &Running) -> String {
    format!("{number}\t{}\t{}\t{}", query.memory, query.allowed.as_secs(), iso(seconds(query.since)))
}

/// Returns the number that identifies a client: its IPv4 address as a number, or else a hash of its name.
fn number(client: &ClientKey) -> u64 {
    client.0.parse().map(|address: Ipv4Addr| address.to_bits().into()).unwrap_or_else(|_| {
        let digest = Sha256::digest(client.0.as_bytes());
        // 48 bits, which every client can represent as a number.
        digest.iter().take(6).fold(0, |number, byte| number << 8 | u64::from(*byte))
    })
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}

/// Formats seconds since 1970 as `2016-03-07T21:15:30Z`.
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

    #[test]
    fn a_client_is_called_by_a_number() {
        assert_eq!(number(&ClientKey("192.0.2.1".into())), 3_221_225_985);
        assert_ne!(number(&ClientKey("2001:db8::/64".into())), number(&ClientKey("2001:db8:0:1::/64".into())));
    }
}
