//! The engine in a process of Python: the compiled part `terrapin_osm._native` of the package `terrapin-osm`. What people
//! call is in Python, in `python/terrapin-osm`, which hands over plain texts and numbers and makes Python's things of what
//! comes back.
//!
//! Knows both engines, `eval` and `load`, as the server does; knows nothing of the server or of SQLite. Nothing here
//! holds Python's lock while it works.
//!
//! ```text
//! snapshot.rs   a snapshot, and what it is asked; data.rs is what is open of it
//! answer.rs     an answer to OverpassQL; elements.rs makes rows of its elements, wkb.rs their geometries
//! solutions.rs  an answer to SPARQL
//! table.rs      rows for other libraries: Arrow's interface
//! scores.rs     pairs of queries scored
//! lookup.rs     tags and places for who writes a query
//! text.rs       queries as texts
//! unicode.rs    texts of Python
//! bounds.rs     what a caller allows
//! work.rs       threads, and how Python waits for them
//! raise.rs      errors
//! ```

// The process's memory is counted, so that queries can be bounded.
use terrapin_allocator as _;

mod answer;
mod bounds;
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
    module.add_function(wrap_pyfunction!(snapshot::load, module)?)?;
    module.add_function(wrap_pyfunction!(text::convert, module)?)?;
    module.add_function(wrap_pyfunction!(text::query_of, module)?)?;
    Ok(())
}
