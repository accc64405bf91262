//! Requirements of tests beyond a checkout. If a requirement is missing, the test reports that on standard error,
//! bypassing the harness's capture of output, and returns. If TERRAPIN_REQUIRE names the requirement, the test fails
//! instead.

use std::fmt;
use std::io::Write;

/// The requirements. TERRAPIN_REQUIRE is a comma-separated list of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "each test needs some of it")]
pub enum Need {
    /// `shared`: the folder of extracts, triples and recorded answers, TERRAPIN_SHARED.
    Shared,
    /// `wikidata`: a snapshot of all triples there, TERRAPIN_WIKIDATA.
    Wikidata,
    /// `w3c`: the W3C's tests of SPARQL, TERRAPIN_W3C.
    W3c,
    /// `peers`: the published evaluations and a Python that runs them, TERRAPIN_PEER_PYTHON and
    /// TERRAPIN_INSTRUCT_TO_SPARQL.
    Peers,
    /// `python`: python3.
    Python,
    /// `system`: features of some systems only, such as mounting and LD_PRELOAD.
    System,
    /// `time`: minutes or hours; enabled by TERRAPIN_ALL, TERRAPIN_FAULTS=all and similar variables.
    Time,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::Shared => "shared",
            Need::Wikidata => "wikidata",
            Need::W3c => "w3c",
            Need::Peers => "peers",
            Need::Python => "python",
            Need::System => "system",
            Need::Time => "time",
        })
    }
}

/// Returns whether TERRAPIN_ALL is set: tests then use all data, however long that takes.
#[allow(dead_code, reason = "each test needs some of it")]
pub fn all() -> bool {
    std::env::var_os("TERRAPIN_ALL").is_some()
}

/// Reports that a test or a part of it is skipped because of a missing requirement.
#[track_caller]
pub fn skipped(need: Need, why: impl fmt::Display) {
    let required = std::env::var("TERRAPIN_REQUIRE").unwrap_or_default();
    let line = format!("skipped for want of {need}: {why}");
    assert!(!required.split(',').any(|name| name.trim() == need.to_string()), "{line} (TERRAPIN_REQUIRE)");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // A single write, because other tests write at the same time.
    let _ = std::io::stderr().write_all(format!("{test}: {line}\n").as_bytes());
}
