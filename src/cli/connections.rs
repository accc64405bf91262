//! Options of `terrapin serve` for connections and for spooled answers.

use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use crate::server::{ConnectionLimits, Division, SpoolLimits};
use crate::size;
use crate::temporary;

/// The longest duration of an option, in seconds: one day.
const LONGEST: u64 = 86_400;

/// The smallest default limit of connections per client: enough for ten browsers.
const LEAST_PER_CLIENT: u32 = 64;

/// Connections and answers to slow clients.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
pub struct ConnectionArgs {
    /// Maximum number of connections; above it, a connection is closed that waits for its client to send a request or
    /// the rest of a body, or to read the answer
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    max_connections: u32,
    /// Maximum number of connections of one client (an IPv4 address, or the first 64 bits of an IPv6 address);
    /// trusted proxies are exempt [0: unlimited] [default: a quarter of all connections, at least 64]
    #[arg(long, value_name = "N")]
    client_connections: Option<u32>,
    /// Timeout for the head of a request, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = seconds())]
    head_timeout: u64,
    /// Timeout for the body of a request, in seconds; then it gets status 408
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = seconds())]
    body_timeout: u64,
    /// Seconds that an idle connection stays open for another request
    #[arg(long, value_name = "SECONDS", default_value_t = 75, value_parser = seconds())]
    idle_timeout: u64,
    /// Seconds without progress after which a client that does not read its answer is disconnected
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = seconds())]
    stall: u64,
    /// Maximum size of one answer that is spooled to a file while its client reads slowly, so that the query can end;
    /// 0 disables spooling
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::parse)]
    spool: u64,
    /// Maximum size of all spooled answers; also that of all states of other dates
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::parse)]
    spool_total: u64,
    /// Folder for spooled answers, which are files without names [default: $TMPDIR, else /var/tmp]
    #[arg(long, value_name = "FOLDER")]
    spool_dir: Option<PathBuf>,
}

fn seconds() -> clap::builder::RangedU64ValueParser {
    clap::builder::RangedU64ValueParser::new().range(1..=LONGEST)
}

impl ConnectionArgs {
    /// Returns the limits of connections.
    pub fn limits(&self, memory: &Division, proxies: &[IpNet]) -> ConnectionLimits {
        let per_client = self.client_connections.unwrap_or((self.max_connections / 4).max(LEAST_PER_CLIENT));
        ConnectionLimits {
            memory: memory.bodies(),
            most: self.max_connections as usize,
            per_client: per_client as usize,
            proxies: proxies.to_vec(),
            head: Duration::from_secs(self.head_timeout),
            body: Duration::from_secs(self.body_timeout),
            idle: Duration::from_secs(self.idle_timeout),
            stall: Duration::from_secs(self.stall),
        }
    }

    /// Returns the limits of spooled answers.
    pub fn spool(&self, memory: &Division) -> SpoolLimits {
        SpoolLimits {
            memory: memory.pieces(),
            answer: self.spool,
            total: self.spool_total,
            folder: self.spool_dir.clone().unwrap_or_else(temporary::folder),
        }
    }
}
