//! What bounds a running query: a deadline, a memory budget, a work budget, a client that went away. Reaching one is an
//! error that says which, never a shorter answer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The bounds that the caller sets; the query's own `timeout` and `maxsize` apply besides.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// No query runs past this moment.
    pub deadline: Option<Instant>,
    /// No query holds more than this many bytes.
    pub memory: Option<u64>,
    /// Set when nobody waits for the answer any more.
    pub cancelled: Arc<AtomicBool>,
}

/// The bounds of one running query and what it has used of them.
pub struct Budget {}
