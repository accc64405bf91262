//! The columns, and the conversion of pages to rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, Float64Builder, Int64Builder, ListBuilder, MapBuilder, MapFieldNames, StringBuilder, StructBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, TimeUnit};
use terrapin_osm::outline::Outline;
use terrapin_osm::{BoundingBox, Coord, ElementRef, ElementType, MetaRef, Ordinal, Osm, Remembered};

use super::geometry::{ElementGeometry, degrees};

/// The names of a box's columns, in order.
const CORNERS: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

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

fn corner_fields() -> Fields {
    CORNERS.iter().map(|corner| Field::new(*corner, DataType::Float64, false)).collect()
}

/// Returns the schema of a type.
pub fn schema(kind: ElementType) -> Schema {
    let [key, value] = tag_fields();
    let entries = Field::new("entries", DataType::Struct(Fields::from(vec![key, value])), false);
    let mut fields = vec![
        Field::new("id", DataType::Int64, false),
        Field::new("version", DataType::Int64, true),
        Field::new("timestamp", time(), true),
        Field::new("changeset", DataType::Int64, true),
        Field::new("uid", DataType::Int64, true),
        Field::new("user", DataType::Utf8, true),
        Field::new("tags", DataType::Map(Arc::new(entries), false), false),
    ];
    let list = |item: DataType| DataType::List(Arc::new(Field::new("item", item, false)));
    match kind {
        ElementType::Node => {}
        ElementType::Way => fields.push(Field::new("nodes", list(DataType::Int64), false)),
        ElementType::Relation => fields.push(Field::new("members", list(DataType::Struct(member_fields())), false)),
    }
    fields.push(Field::new("geometry", DataType::Binary, true));
    fields.push(Field::new("bbox", DataType::Struct(corner_fields()), true));
    Schema::new(fields)
}

/// A builder of rows.
pub struct GeoParquetRows<'o> {
    osm: &'o Osm,
    kind: ElementType,
    ids: Int64Builder,
    versions: Int64Builder,
    times: TimestampMillisecondBuilder,
    changesets: Int64Builder,
    uids: Int64Builder,
    users: StringBuilder,
    tags: MapBuilder<StringBuilder, StringBuilder>,
    nodes: ListBuilder<Int64Builder>,
    members: ListBuilder<StructBuilder>,
    geometries: BinaryBuilder,
    boxes: StructBuilder,
    /// The bounding box of all rows so far, including those already taken.
    pub bounds: BoundingBox,
    /// The geometry types so far.
    pub types: BTreeSet<&'static str>,
}

impl<'o> GeoParquetRows<'o> {
    /// Returns an empty builder.
    pub fn new(osm: &'o Osm, kind: ElementType) -> GeoParquetRows<'o> {
        let [key, value] = tag_fields();
        let names = MapFieldNames { entry: "entries".into(), key: "key".into(), value: "value".into() };
        let tags = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
        let members = StructBuilder::from_fields(member_fields(), 0);
        let item = |item| Field::new("item", item, false);
        GeoParquetRows {
            osm,
            kind,
            ids: Int64Builder::new(),
            versions: Int64Builder::new(),
            times: TimestampMillisecondBuilder::new().with_data_type(time()),
            changesets: Int64Builder::new(),
            uids: Int64Builder::new(),
            users: StringBuilder::new(),
            tags: tags.with_keys_field(key).with_values_field(value),
            nodes: ListBuilder::new(Int64Builder::new()).with_field(item(DataType::Int64)),
            members: ListBuilder::new(members).with_field(item(DataType::Struct(member_fields()))),
            geometries: BinaryBuilder::new(),
            boxes: StructBuilder::from_fields(corner_fields(), 0),
            bounds: BoundingBox::EMPTY,
            types: BTreeSet::new(),
        }
    }

    /// Adds the elements on a page.
    ///
    /// # Errors
    /// Only if the columns do not match the schema.
    pub fn page(&mut self, page: u32) -> Result<(), ArrowError> {
        let first = u64::from(page) * self.osm.page_size(self.kind);
        match self.kind {
            ElementType::Node => {
                let nodes = self.osm.node_page(page);
                self.each(page, first, &nodes.ids, &nodes.coords, |_, _| Ok(()))
            }
            ElementType::Way => {
                let ways = self.osm.way_page(page);
                let all: Vec<ElementRef> = (0..ways.ids.len()).flat_map(|slot| ways.nodes(slot)).copied().collect();
                let mut all = self.osm.ref_ids(ElementType::Node, &all).into_iter();
                let nodes = |rows: &mut GeoParquetRows<'_>, slot: usize| {
                    let nodes = all.by_ref().take(ways.nodes(slot).len());
                    nodes.for_each(|node| rows.nodes.values().append_value(node));
                    rows.nodes.append(true);
                    Ok(())
                };
                self.each(page, first, &ways.ids, &[], nodes)
            }
            ElementType::Relation => {
                let relations = self.osm.relation_page(page);
                let osm = self.osm;
                let members = |rows: &mut GeoParquetRows<'_>, slot: usize| {
                    for member in relations.members(slot) {
                        let id = osm.ref_ids(member.kind, &[member.element]).first().copied().unwrap_or_default();
                        rows.member(member.kind.name(), id, osm.role(member.role))?;
                    }
                    rows.members.append(true);
                    Ok(())
                };
                self.each(page, first, &relations.ids, &[], members)
            }
        }
    }

    fn each(
        &mut self,
        page: u32,
        first: Ordinal,
        ids: &[i64],
        points: &[Coord],
        mut parts: impl FnMut(&mut Self, usize) -> Result<(), ArrowError>,
    ) -> Result<(), ArrowError> {
        let (tags, metadata) = (self.osm.tag_page(self.kind, page), self.osm.meta_page(self.kind, page));
        let osm = self.osm;
        let mut values = Remembered::new(|page| osm.value_page(page));
        for (slot, &id) in ids.iter().enumerate() {
            self.ids.append_value(id);
            self.meta(metadata.meta(slot));
            let mut pairs = Vec::new();
            for &pair in tags.tags(slot) {
                let values = values.get(pair / Osm::VALUES_ON_PAGE as u32);
                let slot = (pair % Osm::VALUES_ON_PAGE as u32) as usize;
                pairs.push((osm.key_name(values.key(slot)), values.get(slot).to_owned()));
            }
            for (key, value) in &pairs {
                self.tags.keys().append_value(key);
                self.tags.values().append_value(value);
            }
            self.tags.append(true)?;
            parts(self, slot)?;
            let texts = pairs.iter().map(|(key, value)| (*key, value.as_str()));
            let outline = match points.get(slot) {
                Some(&at) => (!at.is_missing()).then_some(Outline::Point(at)),
                None => Outline::by_tags(osm, self.kind, first + slot as u64, texts),
            };
            self.geometry(outline.and_then(ElementGeometry::of))?;
        }
        Ok(())
    }

    /// Appends metadata; unknown values are null.
    fn meta(&mut self, meta: MetaRef) {
        let MetaRef { version, timestamp, changeset, uid, user } = meta;
        let known = |number: i64| (number != 0).then_some(number);
        self.versions.append_option(known(version.into()));
        self.times.append_option(known(timestamp).map(|seconds| seconds * 1000));
        self.changesets.append_option(known(changeset));
        self.uids.append_option(known(uid));
        self.users.append_option(Some(self.osm.user_name(user)).filter(|name| !name.is_empty()));
    }

    fn member(&mut self, kind: &str, id: i64, role: &str) -> Result<(), ArrowError> {
        let member = self.members.values();
        text(member, 0)?.append_value(kind);
        member.field_builder::<Int64Builder>(1).ok_or_else(no_column)?.append_value(id);
        text(member, 2)?.append_value(role);
        member.append(true);
        Ok(())
    }

    fn geometry(&mut self, shape: Option<ElementGeometry>) -> Result<(), ArrowError> {
        let bounds = shape.as_ref().map(|shape| shape.bounds).filter(|bounds| !bounds.is_empty());
        match (&shape, bounds) {
            (Some(shape), Some(bounds)) => {
                self.types.insert(shape.name());
                self.bounds.union(&bounds);
                self.geometries.append_value(shape.wkb());
            }
            _ => self.geometries.append_null(),
        }
        let corners = bounds.map(|b| [b.west, b.south, b.east, b.north].map(degrees));
        for (column, corner) in corners.unwrap_or_default().into_iter().enumerate() {
            self.boxes.field_builder::<Float64Builder>(column).ok_or_else(no_column)?.append_value(corner);
        }
        self.boxes.append(corners.is_some());
        Ok(())
    }

    /// Takes all rows out of the builder.
    ///
    /// # Errors
    /// Only if the columns do not match the schema.
    pub fn take(&mut self, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(self.ids.finish()),
            Arc::new(self.versions.finish()),
            Arc::new(self.times.finish()),
            Arc::new(self.changesets.finish()),
            Arc::new(self.uids.finish()),
            Arc::new(self.users.finish()),
            Arc::new(self.tags.finish()),
        ];
        match self.kind {
            ElementType::Node => {}
            ElementType::Way => columns.push(Arc::new(self.nodes.finish())),
            ElementType::Relation => columns.push(Arc::new(self.members.finish())),
        }
        columns.push(Arc::new(self.geometries.finish()));
        columns.push(Arc::new(self.boxes.finish()));
        RecordBatch::try_new(schema.clone(), columns)
    }
}

fn text(member: &mut StructBuilder, column: usize) -> Result<&mut StringBuilder, ArrowError> {
    member.field_builder(column).ok_or_else(no_column)
}

fn no_column() -> ArrowError {
    ArrowError::SchemaError("a column of another type".to_owned())
}
