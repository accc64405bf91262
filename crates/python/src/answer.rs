//! An answer to OverpassQL: kept as it came, written or looked at when somebody asks.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use terrapin_budget::{self as budget, Budget, Limits, Stopped};
use terrapin_overpass::Failure;
use terrapin_overpass::output::{self, Cursor, Entry, Form, Layout, Recording};
use terrapin_overpass::syntax::OutputFormat;

use crate::elements;
use crate::raise;
use crate::table::Table;
use crate::work::{self, Stop};

/// An answer.
#[pyclass(frozen, module = "terrapin_osm._native")]
pub struct Answer {
    recording: Arc<Recording>,
}

impl Answer {
    /// Of what was recorded.
    pub fn new(recording: Recording) -> Answer {
        Answer { recording: Arc::new(recording) }
    }
}

/// Why an answer could not be written.
pub enum Unwritten {
    /// There is no such format for it.
    Failed(Failure),
    /// Its elements have no ids, and features need them.
    Nameless,
    /// Somebody stopped it, or a fault of the program.
    Stopped(Stopped),
}

impl Unwritten {
    /// What Python raises.
    pub fn raise(&self) -> PyErr {
        match self {
            Unwritten::Failed(failure) => PyValueError::new_err(failure.to_string()),
            Unwritten::Nameless => {
                PyValueError::new_err("GeoJSON tells elements apart by their ids: leave out `noids`")
            }
            Unwritten::Stopped(Stopped::Exceeded(exceeded)) => raise::other(exceeded),
            Unwritten::Stopped(Stopped::Panicked(panic)) => raise::other(format!("a fault of the program: {panic}")),
        }
    }
}

/// Does work that `stop` ends.
pub fn stoppable<T>(stop: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Result<T, Unwritten> {
    let limits = Limits { cancelled: Arc::clone(stop), ..Limits::default() };
    budget::watched(&Arc::new(Budget::new(&limits)), work).map_err(Unwritten::Stopped)
}

/// How an answer is to be written.
enum Wanted {
    Asked,
    As(OutputFormat),
    GeoJson,
}

/// Whether there are elements of the data without ids: features are told apart by these.
fn has_nameless(recording: &Recording) -> bool {
    let found = recording.pieces().try_for_each(|piece| {
        recording.each(piece, |entry| match entry {
            Entry::Element(item) if item.id.is_none() && !item.is_derived() => Err(()),
            _ => Ok(()),
        })
    });
    found.is_err()
}

/// Up to `most` entries from a place on as a whole answer.
fn written(recording: &Recording, form: Form<'_>, cursor: &mut Cursor, most: u64) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    {
        let mut answer = output::answer(form, recording.header(), &mut out)?;
        let replayed = recording.replay(cursor, most, answer.as_mut());
        replayed.and_then(|()| answer.complete()).and_then(|()| answer.finish()).map_err(output::disconnected)?;
    }
    Ok(out)
}

#[pymethods]
impl Answer {
    /// How many elements and counts it has.
    fn __len__(&self) -> usize {
        usize::try_from(self.recording.written()).unwrap_or(usize::MAX)
    }

    /// The media type that the query asks for.
    #[getter]
    fn content_type(&self) -> &'static str {
        Form::Asked(self.recording.format()).content_type()
    }

    /// Bytes that it takes in memory.
    #[getter]
    fn nbytes(&self) -> usize {
        self.recording.bytes()
    }

    /// The answer in a form: `asked`, as the query asks for it, `json`, `xml`, `geojson`.
    #[pyo3(signature = (form, stop=None))]
    fn written<'py>(&self, py: Python<'py>, form: &str, stop: Option<&Stop>) -> PyResult<Bound<'py, PyBytes>> {
        let form = match form {
            "asked" => Wanted::Asked,
            "json" => Wanted::As(OutputFormat::Json),
            "xml" => Wanted::As(OutputFormat::Xml),
            "geojson" => Wanted::GeoJson,
            other => return Err(PyValueError::new_err(format!("there is no form {other:?}"))),
        };
        let stop = stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default();
        let (recording, stopped) = (Arc::clone(&self.recording), Arc::clone(&stop));
        let bytes = work::wait(py, &stop, move || {
            let form = match &form {
                Wanted::Asked => Form::Asked(recording.format()),
                Wanted::As(format) => Form::Asked(format),
                Wanted::GeoJson if has_nameless(&recording) => return Err(Unwritten::Nameless),
                Wanted::GeoJson => Form::GeoJson(Layout::Collection),
            };
            let write = || written(&recording, form, &mut Cursor::default(), u64::MAX);
            stoppable(&stopped, write)?.map_err(Unwritten::Failed)
        })?;
        bytes.map(|bytes| PyBytes::new(py, &bytes)).map_err(|unwritten| unwritten.raise())
    }

    /// Answers in JSON with so many elements each, one after another.
    fn parts(&self, most: u64) -> Parts {
        Parts { recording: Arc::clone(&self.recording), most, cursor: Mutex::default() }
    }

    /// Type and id of every element that has an id.
    fn ids(&self, py: Python<'_>) -> Vec<(String, i64)> {
        py.detach(|| {
            let mut ids = Vec::new();
            for piece in self.recording.pieces() {
                let _ = self.recording.each(piece, |entry| {
                    if let Entry::Element(item) = entry
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

    /// The elements as rows.
    #[pyo3(signature = (stop=None))]
    fn to_arrow(&self, py: Python<'_>, stop: Option<&Stop>) -> PyResult<Table> {
        let stop = stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default();
        let (recording, stopped) = (Arc::clone(&self.recording), Arc::clone(&stop));
        let rows = work::wait(py, &stop, move || stoppable(&stopped, || elements::rows(&recording)))?;
        rows.map_err(|unwritten| unwritten.raise())?.map_err(raise::other)
    }
}

/// An answer in parts.
#[pyclass(frozen, module = "terrapin_osm._native")]
pub struct Parts {
    recording: Arc<Recording>,
    most: u64,
    cursor: Mutex<Cursor>,
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
            let bytes = written(&self.recording, Form::Asked(&OutputFormat::Json), &mut cursor, self.most);
            bytes.map(|bytes| (before != *cursor).then_some(bytes))
        });
        let bytes = part.map_err(|failure| Unwritten::Failed(failure).raise())?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }
}
