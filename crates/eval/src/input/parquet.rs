//! Reads rows of Parquet, as exported by Hugging Face.

use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row as ParquetRow};
use serde_json::{Map, Value};

use super::InputError;
use terrapin_base::stack::caught;

/// The maximum uncompressed length of a file's texts in bytes.
const MOST_BYTES: usize = 2 << 30;

/// Reads the fields of each row of a file.
///
/// # Errors
/// Returns an error if the file cannot be read, is not Parquet, uses an unsupported compression, or is too large.
pub(super) fn rows(path: &Path) -> Result<Vec<Map<String, Value>>, InputError> {
    let unreadable = |source| InputError::Unreadable { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let unfit = |message: String| InputError::unfit(path, "the file", format!("Parquet: {message}"));
    // The library may panic on damaged files.
    caught(|| all(path, file)).unwrap_or_else(|message| Err(unfit(message)))
}

fn all(path: &Path, file: std::fs::File) -> Result<Vec<Map<String, Value>>, InputError> {
    let unfit = |place: &str, message: String| InputError::unfit(path, place, format!("Parquet: {message}"));
    let reader = SerializedFileReader::new(file).map_err(|e| unfit("the file", e.to_string()))?;
    let mut rows = Vec::new();
    let mut bytes = 0;
    for (index, row) in reader.get_row_iter(None).map_err(|e| unfit("the file", e.to_string()))?.enumerate() {
        let place = format!("row {}", index + 1);
        let row = row.map_err(|e| unfit(&place, e.to_string()))?;
        let fields = object(&row, &mut bytes);
        if bytes > MOST_BYTES {
            return Err(unfit(&place, format!("more than {MOST_BYTES} bytes of text")));
        }
        rows.push(fields);
    }
    Ok(rows)
}

fn object(row: &ParquetRow, bytes: &mut usize) -> Map<String, Value> {
    row.get_column_iter().map(|(name, field)| (name.clone(), value(field, bytes))).collect()
}

fn value(field: &Field, bytes: &mut usize) -> Value {
    *bytes += 16;
    let mut text = |text: &str| {
        *bytes += text.len();
        Value::String(text.to_owned())
    };
    match field {
        Field::Null => Value::Null,
        Field::Bool(yes) => Value::Bool(*yes),
        Field::Byte(number) => (*number).into(),
        Field::Short(number) => (*number).into(),
        Field::Int(number) => (*number).into(),
        Field::Long(number) => (*number).into(),
        Field::UByte(number) => (*number).into(),
        Field::UShort(number) => (*number).into(),
        Field::UInt(number) => (*number).into(),
        Field::ULong(number) => (*number).into(),
        Field::Float(number) => f64::from(*number).into(),
        Field::Double(number) => (*number).into(),
        Field::Str(string) => text(string),
        // Texts of writers that do not mark them as texts.
        Field::Bytes(array) => text(&String::from_utf8_lossy(array.data())),
        Field::Group(row) => Value::Object(object(row, bytes)),
        Field::ListInternal(list) => list.elements().iter().map(|field| value(field, bytes)).collect(),
        Field::MapInternal(map) => {
            let entries = map.entries().iter();
            Value::Object(entries.map(|(key, field)| (plain(key), value(field, bytes))).collect())
        }
        other => text(&other.to_string()),
    }
}

/// Returns the key of a map.
fn plain(key: &Field) -> String {
    match key {
        Field::Str(text) => text.clone(),
        other => other.to_string(),
    }
}
