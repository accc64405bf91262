//! Divides the process's memory among queries, caches, and requests and answers in transit. The parts add up to less
//! than the total: if each part keeps to its limit, the process does.

use std::fmt;

use terrapin_base::size;
use terrapin_osm::CACHE_BYTES;

/// Default memory limit of a query, if there is enough memory.
const QUERY: u64 = 2 << 30;
/// Minimum memory limit of a query.
const LEAST: u64 = 16 << 20;
/// Memory for the program itself, the stacks of its threads and the tables of an open snapshot.
const OWN: u64 = 64 << 20;
/// Upper limit of the cache of vector tiles and of the areas on them.
const TILES: u64 = 32 << 20;
/// Upper limit of the cache of scored results.
const RESULTS: u64 = 64 << 20;
/// Upper limit for states of other dates.
const STATES: u64 = 1 << 30;
/// Upper limit for requests and answers in transit: bodies that are being received, and pieces that wait for slow
/// readers.
const CONNECTIONS: u64 = 256 << 20;

/// The division of memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// The total.
    pub total: u64,
    /// For each query that runs.
    pub query: u64,
    /// For each conversion, search or tile that runs next to the queries.
    pub light: u64,
    /// For each trial of a query when all slots are busy.
    pub trial: u64,
    /// For the cache of decoded pages and borders, which all queries share.
    pub cache: u64,
    /// For the cache of vector tiles.
    pub tiles: u64,
    /// For the cache of scored results.
    pub results: u64,
    /// For all requests and answers in transit.
    pub connections: u64,
    /// For states of other dates: the one that is being computed and the cached ones. Not part of `total`.
    pub states: u64,
}

/// The error that the parts do not fit into the total.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLittle {
    total: u64,
    needed: u64,
    slots: u64,
    query: u64,
}

impl fmt::Display for TooLittle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} queries at once of {} each need {} in all, more than the {} that this process may have; lower \
             --max-queries or --max-memory, or raise --memory",
            self.slots,
            size::show(self.query),
            size::show(self.needed),
            size::show(self.total)
        )
    }
}

impl std::error::Error for TooLittle {}

impl Division {
    /// Divides `total` among `slots` concurrent queries, `asks` concurrent questions, and the other parts. Each query
    /// and each question gets `query` bytes, if given.
    ///
    /// # Errors
    /// Returns an error if the total is too small.
    pub fn new(total: u64, slots: u64, asks: u64, query: Option<u64>) -> Result<Division, TooLittle> {
        // Allocators retain part of the freed memory.
        let slack = total / 10;
        let results = RESULTS.min(total / 64);
        let cache = CACHE_BYTES.min(total / 8 - results);
        let connections = CONNECTIONS.min(total / 8);
        let tiles = TILES.min(total / 32);
        let others = OWN + slack + cache + tiles + results + connections;
        // There are at most as many conversions and searches as queries, each with a quarter of a query's share, and as
        // many trials, each with an eighth.
        let eighths = slots.max(1).saturating_mul(11).saturating_add(asks.saturating_mul(8));
        let share = total.saturating_sub(others) / eighths * 8;
        let wanted = query.unwrap_or(LEAST);
        if wanted > share {
            let needed = others.saturating_add((wanted / 8).saturating_mul(eighths));
            return Err(TooLittle { total, needed, slots, query: wanted });
        }
        let query = query.unwrap_or(QUERY.min(share));
        Ok(Division { total, query, light: query / 4, trial: query / 8, cache, tiles, results, connections, states: 0 })
    }

    /// Returns the part of a process's memory for states of other dates, used if the snapshot has older versions.
    pub fn of_states(total: u64) -> u64 {
        STATES.min(total / 8)
    }

    /// Returns the part of `connections` for the bodies of requests.
    pub fn bodies(&self) -> u64 {
        self.connections / 4
    }

    /// Returns the part of `connections` for pieces of answers that wait for their readers. The rest is for heads of
    /// requests.
    pub fn pieces(&self) -> u64 {
        self.connections / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fit_into_the_whole() {
        for total in [256_u64 << 20, 512 << 20, 1 << 30, 4 << 30, 24 << 30, 512 << 30] {
            let division = Division::new(total, 2, 0, None).expect("enough");
            let parts = OWN
                + 2 * (division.query + division.light + division.trial)
                + division.cache
                + division.tiles
                + division.results
                + division.connections;
            assert!(parts + total / 10 <= total, "{division:?}");
        }
        let asking = Division::new(4 << 30, 2, 2, None).expect("enough");
        assert!(4 * asking.query + 2 * (asking.light + asking.trial) < 4 << 30, "{asking:?}");
        let large = Division::new(24 << 30, 2, 0, None).expect("enough");
        assert_eq!((large.query, large.cache), (QUERY, CACHE_BYTES));
        assert_eq!(Division::new(4 << 30, 2, 0, Some(1 << 30)).map(|d| d.query), Ok(1 << 30));
    }

    #[test]
    fn too_much_is_refused_in_words() {
        let error = Division::new(512 << 20, 2, 0, Some(1 << 30)).expect_err("too much");
        assert_eq!(
            error.to_string(),
            "2 queries at once of 1.1 GB each need 3.2 GB in all, more than the 537 MB that this process may have; \
             lower --max-queries or --max-memory, or raise --memory"
        );
        assert!(Division::new(64 << 20, 1, 0, None).is_err());
    }
}
