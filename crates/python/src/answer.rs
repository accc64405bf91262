//! The result of an OverpassQL query: recorded once, then serialized or read on request.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use terrapin_budget::{self as budget, Budget, Limits, StopReason};
use terrapin_overpass::OverpassFailure;
use terrapin_overpass::output::{AnswerFormat, GeoJsonLayout, Recording, RecordingCursor, RecordingEntry};
use terrapin_overpass::syntax::OutputFormat;

use crate::elements;
use crate::raise;
use crate::table::Table;
use crate::work::{self, Stop};

/// The result of an OverpassQL query.
#[pyclass(frozen, module = "terrapin_osm._native")]
pub struct Answer {
    recording: Arc<Recording>,
}

impl Answer {
    /// Wraps a recorded result.
    pub fn new(recording: Recording) -> Answer {
        Answer { recording: Arc::new(recording) }
    }
}

/// An error while serializing a result.
pub enum Unwritten {
    /// The format is not available for this result.
    Failed(OverpassFailure),
    /// GeoJSON needs ids, and some elements have none.
    Nameless,
    /// Cancelled by the caller, or a panic.
    Stopped(StopReason),
}

impl Unwritten {
    /// Returns the Python exception for this error.
    pub fn raise(&self) -> PyErr {
        match self {
            Unwritten::Failed(failure) => PyValueError::new_err(failure.to_string()),
            Unwritten::Nameless => {
                PyValueError::new_err("GeoJSON tells elements apart by their ids: leave out `noids`")
            }
            Unwritten::Stopped(StopReason::Exceeded(exceeded)) => raise::other(exceeded),
            Unwritten::Stopped(StopReason::Panicked(panic)) => raise::other(format!("a fault of the program: {panic}")),
        }
    }
}

/// Runs `work`; setting `stop` cancels it.
pub fn stoppable<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Result<T, Unwritten> {
    let limits = Limits { cancelled: Arc::clone(stop), ..Limits::default() };
    budget::watched(&Arc::new(Budget::new(&limits)), work).map_err(Unwritten::Stopped)
}

/// The output format.
enum OutputChoice {
    Asked,
    As(OutputFormat),
    GeoJson,
}

/// Returns whether any element of the data lacks an id. GeoJSON identifies features by id.
fn has_nameless(recording: &Recording) -> bool {
    let found = recording.pieces().try_for_each(|piece| {
        recording.each(piece, |entry| match entry {
            RecordingEntry::Element(item) if item.id.is_none() && !item.is_derived() => Err(()),
            _ => Ok(()),
        })
    });
    found.is_err()
}

/// Serializes at most `most` entries from `cursor` on as a complete document.
fn written(
    recording: &Recording,
    form: AnswerFormat<'_>,
    cursor: &mut RecordingCursor,
    most: u64,
) -> Result<Vec<u8>, OverpassFailure> {
    let mut out = Vec::new();
    recording.write(form, cursor, most, &mut out)?;
    Ok(out)
}

#[pymethods]
impl Answer {
    /// Number of elements and counts.
    fn __len__(&self) -> usize {
        usize::try_from(self.recording.written()).unwrap_or(usize::MAX)
    }

    /// Media type of the output format that the query requests.
    #[getter]
    fn content_type(&self) -> &'static str {
        AnswerFormat::Asked(self.recording.format()).content_type()
    }

    /// Memory use in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.recording.bytes()
    }

    /// Serializes the result as `json`, `xml`, `geojson`, or `asked`: the format that the query requests.
    #[pyo3(signature = (form, stop=None))]
    fn written<'py>(&self, py: Python<'py>, form: &str, stop: Option<&Stop>) -> PyResult<Bound<'py, PyBytes>> {
        let form = match form {
            "asked" => OutputChoice::Asked,
            "json" => OutputChoice::As(OutputFormat::Json),
            "xml" => OutputChoice::As(OutputFormat::Xml),
            "geojson" => OutputChoice::GeoJson,
            other => return Err(PyValueError::new_err(format!("there is no form {other:?}"))),
        };
        let stop = stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default();
        let (recording, stopped) = (Arc::clone(&self.recording), Arc::clone(&stop));
        let bytes = work::wait(py, &stop, move || {
            let form = match &form {
                OutputChoice::Asked => AnswerFormat::Asked(recording.format()),
                OutputChoice::As(format) => AnswerFormat::Asked(format),
                OutputChoice::GeoJson if has_nameless(&recording) => return Err(Unwritten::Nameless),
                OutputChoice::GeoJson => AnswerFormat::GeoJson(GeoJsonLayout::Collection),
            };
            let write = || written(&recording, form, &mut RecordingCursor::default(), u64::MAX);
            stoppable(&stopped, write)?.map_err(Unwritten::Failed)
        })?;
        bytes.map(|bytes| PyBytes::new(py, &bytes)).map_err(|unwritten| unwritten.raise())
    }

    /// Returns an iterator over JSON documents with at most `most` elements each.
    fn parts(&self, most: u64) -> Parts {
        Parts { recording: Arc::clone(&self.recording), most, cursor: Mutex::default() }
    }

    /// Returns type and id of every element that has an id.
    fn ids(&self, py: Python<'_>) -> Vec<(String, i64)> {
        py.detach(|| {
            let mut ids = Vec::new();
            for piece in self.recording.pieces() {
                let _ = self.recording.each(piece, |entry| {
                    if let RecordingEntry::Element(item) = entry
                        && let Some(id) = item.id
                    {
                        ids.push((item.type_name.to_owned(), id));
                    }
                    Ok::<(), ()>(())
                });
            }
            ids
        })
    }

    /// Returns the elements as an Arrow table.
    #[pyo3(signature = (stop=None))]
    fn to_arrow(&self, py: Python<'_>, stop: Option<&Stop>) -> PyResult<Table> {
        let stop = stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default();
        let (recording, stopped) = (Arc::clone(&self.recording), Arc::clone(&stop));
        let rows = work::wait(py, &stop, move || stoppable(&stopped, || elements::rows(&recording)))?;
        rows.map_err(|unwritten| unwritten.raise())?.map_err(raise::other)
    }
}

/// An iterator over a result in JSON documents.
#[pyclass(frozen, module = "terrapin_osm._native")]
pub struct Parts {
    recording: Arc<Recording>,
    most: u64,
    cursor: Mutex<RecordingCursor>,
}

#[pymethods]
impl Parts {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let part = py.detach(|| {
            let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
            let before = *cursor;
            let bytes = written(&self.recording, AnswerFormat::Asked(&OutputFormat::Json), &mut cursor, self.most);
            bytes.map(|bytes| (before != *cursor).then_some(bytes))
        });
        let bytes = part.map_err(|failure| Unwritten::Failed(failure).raise())?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }
}
