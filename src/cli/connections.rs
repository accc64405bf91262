//! What `terrapin serve` is told of connections and of answers on their way.

use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

use crate::server::{ConnectionLimits, Division, SpoolLimits};
use crate::size;
use crate::temporary;

/// The longest time that a setting may ask for, in seconds: a day, which is for ever.
const LONGEST: u64 = 86_400;

/// The least default of connections that one client may have: as many as ten browsers open.
const LEAST_PER_CLIENT: u32 = 64;

/// Connections, and answers on their way to slow clients.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Connections")]
pub struct Connections {
    /// Connections at once; for one more, a connection is closed that waits for its client: for a request, for the rest of
    /// its body, or for the answer to be read
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    max_connections: u32,
    /// Connections of one client (an IPv4 address, or 64 bits of an IPv6 address) at once; those of trusted proxies are not
    /// counted [0: any number] [default: a quarter of all connections, at least 64]
    #[arg(long, value_name = "N")]
    client_connections: Option<u32>,
    /// Seconds that the head of a request may take to arrive
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = seconds())]
    head_timeout: u64,
    /// Seconds that the body of a request may take to arrive; then it gets status 408
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = seconds())]
    body_timeout: u64,
    /// Seconds that a connection is kept open for another request
    #[arg(long, value_name = "SECONDS", default_value_t = 75, value_parser = seconds())]
    idle_timeout: u64,
    /// Seconds after which a client that takes nothing of its answer is cut off
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = seconds())]
    stall: u64,
    /// Bytes of one answer that are put aside in a file while its client reads slowly, so that its query ends; 0 puts
    /// nothing aside
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::parse)]
    spool: u64,
    /// Bytes of all answers that are put aside
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::parse)]
    spool_total: u64,
    /// The folder where answers are put aside, in files without names [default: $TMPDIR, else /var/tmp]
    #[arg(long, value_name = "FOLDER")]
    spool_dir: Option<PathBuf>,
}

fn seconds() -> clap::builder::RangedU64ValueParser {
    clap::builder::RangedU64ValueParser::new().range(1..=LONGEST)
}

impl Connections {
    /// What bounds connections.
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

    /// What is put aside.
    pub fn spool(&self, memory: &Division) -> SpoolLimits {
        SpoolLimits {
            memory: memory.pieces(),
            answer: self.spool,
            total: self.spool_total,
            folder: self.spool_dir.clone().unwrap_or_else(temporary::folder),
        }
    }
}
