//! The engine as a Python extension: the compiled module `terrapin_osm._native` of the package `terrapin-osm`. The
//! public API is written in Python, in `python/terrapin-osm`. It passes plain strings and numbers to this module and
//! wraps the results.
//!
//! Like the server, the crate may use both engines, `eval` and `load`. Apart from `command.rs`, it does not know the
//! command line, the server or SQLite. No function keeps the GIL while it works.
//!
//! ```text
//! snapshot.rs   an open snapshot and its methods; data.rs owns the open parts
//! answer.rs     result of an OverpassQL query; elements.rs makes rows of its elements, wkb.rs their geometries
//! solutions.rs  result of a SPARQL query
//! table.rs      rows for other libraries through Arrow's PyCapsule interface
//! scores.rs     scoring of query pairs
//! lookup.rs     search for tags, entities and places
//! command.rs    the command line, for the program `terrapin`
//! text.rs       extraction, formatting and conversion of queries
//! unicode.rs    Python strings with lone surrogates
//! bounds.rs     timeout, memory limit and cancellation of a call
//! work.rs       worker threads, and waiting for them
//! raise.rs      conversion of errors to exceptions
//! ```

// This allocator counts the memory of the process, so that queries can have memory limits.
use terrapin_allocator as _;

mod answer;
mod bounds;
mod command;
mod data;
mod elements;
mod lookup;
mod raise;
mod scores;
mod snapshot;
mod solutions;
mod table;
mod text;
mod unicode;
mod wkb;
mod work;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ENGINE", terrapin_eval::about::engine())?;
    module.add_class::<work::Stop>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<answer::Answer>()?;
    module.add_class::<solutions::Solutions>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(command::run_command_line, module)?)?;
    module.add_function(wrap_pyfunction!(snapshot::load, module)?)?;
    module.add_function(wrap_pyfunction!(text::convert, module)?)?;
    module.add_function(wrap_pyfunction!(text::format, module)?)?;
    module.add_function(wrap_pyfunction!(text::query_of, module)?)?;
    Ok(())
}
