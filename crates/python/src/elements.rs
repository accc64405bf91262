//! The elements of a result as Arrow rows. The columns are those of GeoParquet exports, and further ones that occur in
//! query results only.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Float64Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames, StringBuilder, StructBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, TimeUnit};
use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_overpass::output::{
    ItemTags, MemberItem, OutCounts, OutputItem, OutputMeta, Recording, RecordingCursor, RecordingEntry,
};

use crate::table::Table;
use crate::wkb;

/// The sides of a bounding box, in the order of its columns.
const SIDES: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

/// Metadata that marks a column as geometry: <https://geoarrow.org/extension-types>.
const GEOMETRY: [(&str, &str); 2] = [
    ("ARROW:extension:name", "geoarrow.wkb"),
    ("ARROW:extension:metadata", r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#),
];

fn time() -> DataType {
    DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()))
}

fn tag_fields() -> [Field; 2] {
    [Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Utf8, true)]
}

fn member_fields() -> Fields {
    let text = |name| Field::new(name, DataType::Utf8, false);
    Fields::from(vec![text("type"), Field::new("ref", DataType::Int64, false), text("role")])
}

fn side_fields() -> Fields {
    SIDES.iter().map(|side| Field::new(*side, DataType::Float64, false)).collect()
}

fn schema() -> Schema {
    let [key, value] = tag_fields();
    let entries = Field::new("entries", DataType::Struct(Fields::from(vec![key, value])), false);
    let list = |item: DataType| DataType::List(Arc::new(Field::new("item", item, false)));
    let metadata: HashMap<String, String> =
        GEOMETRY.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Schema::new(vec![
        Field::new("type", DataType::Utf8, false),
        Field::new("id", DataType::Int64, true),
        Field::new("lat", DataType::Float64, true),
        Field::new("lon", DataType::Float64, true),
        Field::new("tags", DataType::Map(Arc::new(entries), false), false),
        Field::new("version", DataType::Int64, true),
        Field::new("timestamp", time(), true),
        Field::new("changeset", DataType::Int64, true),
        Field::new("uid", DataType::Int64, true),
        Field::new("user", DataType::Utf8, true),
        Field::new("nodes", list(DataType::Int64), true),
        Field::new("members", list(DataType::Struct(member_fields())), true),
        Field::new("bbox", DataType::Struct(side_fields()), true),
        Field::new("geometry", DataType::Binary, true).with_metadata(metadata),
    ])
}

/// Converts all elements and counts of a result to a table.
///
/// # Errors
/// Returns an error if the columns do not match the schema, which would be a bug.
pub fn rows(recording: &Recording) -> Result<Table, ArrowError> {
    let schema = Arc::new(schema());
    let current = budget::current();
    let pieces: Vec<RecordingCursor> = recording.pieces().collect();
    let batches = pieces.into_par_iter().map(|piece| current.share(|| batch(recording, piece, &schema)));
    let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>()?;
    Ok(Table::new(schema, batches))
}

fn batch(recording: &Recording, piece: RecordingCursor, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
    let mut rows = ElementRows::new();
    recording.each(piece, |entry| match entry {
        RecordingEntry::Element(item) => rows.element(item),
        RecordingEntry::Count(counts) => rows.count(&counts),
        RecordingEntry::Action(_) => Ok(()),
    })?;
    rows.finish(schema)
}

struct ElementRows {
    types: StringBuilder,
    ids: Int64Builder,
    lats: Float64Builder,
    lons: Float64Builder,
    tags: MapBuilder<StringBuilder, StringBuilder>,
    versions: Int64Builder,
    times: TimestampMillisecondBuilder,
    changesets: Int64Builder,
    uids: Int64Builder,
    users: StringBuilder,
    nodes: ListBuilder<Int64Builder>,
    members: ListBuilder<StructBuilder>,
    boxes: StructBuilder,
    geometries: BinaryBuilder,
}

impl ElementRows {
    fn new() -> ElementRows {
        let [key, value] = tag_fields();
        let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
        let tags = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
        let members = StructBuilder::from_fields(member_fields(), 0);
        let item = |item| Field::new("item", item, false);
        ElementRows {
            types: StringBuilder::new(),
            ids: Int64Builder::new(),
            lats: Float64Builder::new(),
            lons: Float64Builder::new(),
            tags: tags.with_keys_field(key).with_values_field(value),
            versions: Int64Builder::new(),
            times: TimestampMillisecondBuilder::new().with_data_type(time()),
            changesets: Int64Builder::new(),
            uids: Int64Builder::new(),
            users: StringBuilder::new(),
            nodes: ListBuilder::new(Int64Builder::new()).with_field(item(DataType::Int64)),
            members: ListBuilder::new(members).with_field(item(DataType::Struct(member_fields()))),
            boxes: StructBuilder::from_fields(side_fields(), 0),
            geometries: BinaryBuilder::new(),
        }
    }

    fn element(&mut self, item: &OutputItem<'_>) -> Result<(), ArrowError> {
        self.types.append_value(item.type_name);
        self.ids.append_option(item.id);
        let at =
            item.position.filter(|at| !at.is_missing()).map(|at| (f64::from(at.lat) / 1e7, f64::from(at.lon) / 1e7));
        let at = at.or(item.center.map(|center| (center.lat, center.lon)));
        self.lats.append_option(at.map(|(lat, _)| lat));
        self.lons.append_option(at.map(|(_, lon)| lon));
        item.tags.into_iter().flat_map(ItemTags::iter).for_each(|(key, value)| self.tag(key, value));
        self.tags.append(true)?;
        self.meta(item.meta.as_ref());
        if let Some(nodes) = item.nodes {
            self.nodes.values().append_slice(nodes);
        }
        self.nodes.append(item.nodes.is_some());
        for member in item.members.unwrap_or_default() {
            self.member(member)?;
        }
        self.members.append(item.members.is_some());
        let sides = item.bounds.map(|b| [b.west, b.south, b.east, b.north].map(|side| f64::from(side) / 1e7));
        self.sides(sides)?;
        self.geometries.append_option(wkb::of(item));
        Ok(())
    }

    /// Appends a count as an element with tags, as JSON output does.
    fn count(&mut self, counts: &OutCounts) -> Result<(), ArrowError> {
        self.types.append_value("count");
        self.ids.append_option(counts.with_id.then_some(0));
        self.lats.append_null();
        self.lons.append_null();
        let known = [("nodes", counts.nodes), ("ways", counts.ways), ("relations", counts.relations)];
        let all = known.into_iter().chain(counts.areas.map(|areas| ("areas", areas)));
        all.chain([("total", counts.total())]).for_each(|(key, number)| self.tag(key, &number.to_string()));
        self.tags.append(true)?;
        self.meta(None);
        self.nodes.append(false);
        self.members.append(false);
        self.sides(None)?;
        self.geometries.append_null();
        Ok(())
    }

    fn tag(&mut self, key: &str, value: &str) {
        self.tags.keys().append_value(key);
        self.tags.values().append_value(value);
    }

    /// Appends metadata; unknown values are null.
    fn meta(&mut self, meta: Option<&OutputMeta<'_>>) {
        let known = |number: i64| (number != 0).then_some(number);
        self.versions.append_option(meta.and_then(|meta| known(meta.version.into())));
        self.times.append_option(meta.and_then(|meta| known(meta.timestamp)).map(|seconds| seconds * 1000));
        self.changesets.append_option(meta.and_then(|meta| known(meta.changeset)));
        self.uids.append_option(meta.and_then(|meta| known(meta.uid)));
        self.users.append_option(meta.map(|meta| meta.user).filter(|name| !name.is_empty()));
    }

    fn member(&mut self, member: &MemberItem<'_>) -> Result<(), ArrowError> {
        let row = self.members.values();
        text(row, 0)?.append_value(member.kind.name());
        row.field_builder::<Int64Builder>(1).ok_or_else(no_column)?.append_value(member.id);
        text(row, 2)?.append_value(member.role);
        row.append(true);
        Ok(())
    }

    fn sides(&mut self, sides: Option<[f64; 4]>) -> Result<(), ArrowError> {
        for (column, side) in sides.unwrap_or_default().into_iter().enumerate() {
            self.boxes.field_builder::<Float64Builder>(column).ok_or_else(no_column)?.append_value(side);
        }
        self.boxes.append(sides.is_some());
        Ok(())
    }

    fn finish(mut self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.types.finish()),
            Arc::new(self.ids.finish()),
            Arc::new(self.lats.finish()),
            Arc::new(self.lons.finish()),
            Arc::new(self.tags.finish()),
            Arc::new(self.versions.finish()),
            Arc::new(self.times.finish()),
            Arc::new(self.changesets.finish()),
            Arc::new(self.uids.finish()),
            Arc::new(self.users.finish()),
            Arc::new(self.nodes.finish()),
            Arc::new(self.members.finish()),
            Arc::new(self.boxes.finish()),
            Arc::new(self.geometries.finish()),
        ];
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

fn text(member: &mut StructBuilder, column: usize) -> Result<&mut StringBuilder, ArrowError> {
    member.field_builder(column).ok_or_else(no_column)
}

fn no_column() -> ArrowError {
    ArrowError::SchemaError("a column of another type".to_owned())
}
