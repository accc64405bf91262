//! Decodes the elements of a block one by one from the encoded bytes, with buffers that the elements share. Every
//! index, count and number is checked. An error anywhere in a block is an error of the whole block.

use super::wire::{FieldValue, PackedIntegers, WireCursor, zigzag};
use crate::element::{
    MAX_MEMBERS, MAX_TAGS, MAX_WAY_NODES, NO_COORDINATE, SourceElement, SourceElementType, SourceMember, SourceMeta,
    SourceNode, SourceRelation, Way,
};
use crate::error::{ElementId, PbfProblem, Wire};

/// Maximum number of strings in a block. Writers put about 8,000 elements into a block; these have fewer distinct
/// strings than this limit by two orders of magnitude.
const MAX_STRINGS: usize = 1 << 22;

/// Limits beyond which a block is read in pieces. Nearly all blocks have less than 1 MiB and the 8,000 elements that
/// the format's description recommends. The format allows 32 MiB, enough for 11 million nodes.
pub(super) const LARGE_BYTES: usize = 4 << 20;
const LARGE_ELEMENTS: usize = 1 << 17;

/// Returns whether the elements of an unpacked block may take so much memory that they are to be read in pieces.
pub(crate) fn is_large(bytes: &[u8]) -> bool {
    // An element has at least two bytes. If counting fails, the block is broken and reading it reports the error.
    bytes.len() > LARGE_BYTES || bytes.len() / 2 > LARGE_ELEMENTS && count(bytes).is_ok_and(|all| all > LARGE_ELEMENTS)
}

/// Counts the elements of a block.
fn count(bytes: &[u8]) -> Result<usize, Wire> {
    let mut all = 0;
    let mut fields = WireCursor::new(bytes);
    while let Some((number, value)) = fields.field()? {
        if number != 2 {
            continue;
        }
        let mut group = WireCursor::new(value.bytes(number)?);
        while let Some((number, value)) = group.field()? {
            match number {
                1 | 3 | 4 => all += 1,
                2 => {
                    let mut dense = WireCursor::new(value.bytes(number)?);
                    while let Some((number, value)) = dense.field()? {
                        all += match (number, value) {
                            (1, FieldValue::Bytes(ids)) => ids.iter().filter(|byte| **byte < 0x80).count(),
                            (1, FieldValue::Varint(_)) => 1,
                            _ => 0,
                        };
                    }
                }
                _ => {}
            }
        }
    }
    Ok(all)
}

/// Settings and strings that apply to all elements of a block.
struct PbfBlockFrame<'a> {
    strings: Vec<&'a str>,
    /// Unit of coordinates in nanodegrees.
    granularity: i64,
    lat_offset: i64,
    lon_offset: i64,
    /// Unit of time in milliseconds.
    date_granularity: i64,
}

/// Buffers that the elements of a block use in turn.
#[derive(Default)]
struct ElementBuffers<'a> {
    tags: Vec<(&'a str, &'a str)>,
    refs: Vec<i64>,
    locations: Vec<(i32, i32)>,
    members: Vec<SourceMember<'a>>,
}

/// Calls `f` with every element of an unpacked block, in the block's order.
pub(crate) fn for_each(bytes: &[u8], mut f: impl FnMut(SourceElement<'_>)) -> Result<(), PbfProblem> {
    let frame = PbfBlockFrame::read(bytes)?;
    let mut buffers = ElementBuffers::default();
    let mut fields = WireCursor::new(bytes);
    while let Some((number, value)) = fields.field()? {
        if number != 2 {
            continue;
        }
        let mut group = WireCursor::new(value.bytes(number)?);
        while let Some((number, value)) = group.field()? {
            match number {
                1 => frame.node(value.bytes(number)?, &mut buffers, &mut f)?,
                2 => frame.dense_nodes(value.bytes(number)?, &mut buffers, &mut f)?,
                3 => frame.way(value.bytes(number)?, &mut buffers, &mut f)?,
                4 => frame.relation(value.bytes(number)?, &mut buffers, &mut f)?,
                _ => {}
            }
        }
    }
    Ok(())
}

impl<'a> PbfBlockFrame<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, PbfProblem> {
        let mut frame = PbfBlockFrame {
            strings: Vec::new(),
            granularity: 100,
            lat_offset: 0,
            lon_offset: 0,
            date_granularity: 1000,
        };
        let mut fields = WireCursor::new(bytes);
        while let Some((number, value)) = fields.field()? {
            match number {
                1 => {
                    let mut table = WireCursor::new(value.bytes(number)?);
                    while let Some((number, value)) = table.field()? {
                        if number == 1 {
                            let index = frame.strings.len();
                            if index == MAX_STRINGS {
                                return Err(PbfProblem::Strings(MAX_STRINGS));
                            }
                            let text = std::str::from_utf8(value.bytes(number)?);
                            frame.strings.push(text.map_err(|_| PbfProblem::Utf8(index))?);
                        }
                    }
                }
                17 => frame.granularity = positive(value.varint(number)?)?,
                18 => frame.date_granularity = positive(value.varint(number)?)?,
                19 => frame.lat_offset = value.varint(number)? as i64,
                20 => frame.lon_offset = value.varint(number)? as i64,
                _ => {}
            }
        }
        Ok(frame)
    }

    #[inline]
    fn string(&self, index: u64, element: ElementId) -> Result<&'a str, PbfProblem> {
        let found = usize::try_from(index).ok().and_then(|index| self.strings.get(index));
        match found {
            Some(text) => Ok(text),
            None => Err(PbfProblem::StringIndex { element, index: index as i64, strings: self.strings.len() }),
        }
    }

    /// Returns coordinates in 1e-7 degrees, or [`NO_COORDINATE`] twice for libosmium's mark of an unknown location.
    #[inline]
    fn coordinates(&self, lat: i64, lon: i64, element: ElementId) -> Result<(i32, i32), PbfProblem> {
        let nano = |value: i64, offset: i64| value.checked_mul(self.granularity)?.checked_add(offset);
        let (Some(lat), Some(lon)) = (nano(lat, self.lat_offset), nano(lon, self.lon_offset)) else {
            return Err(PbfProblem::Range { element, what: "coordinates" });
        };
        // Finer coordinates are truncated towards zero, as in libosmium and the many tools that use it.
        let (units_lat, units_lon) = (lat / 100, lon / 100);
        if (-900_000_000..=900_000_000).contains(&units_lat) && (-1_800_000_000..=1_800_000_000).contains(&units_lon) {
            return Ok((units_lat as i32, units_lon as i32));
        }
        if units_lat == i64::from(NO_COORDINATE) && units_lon == i64::from(NO_COORDINATE) {
            return Ok((NO_COORDINATE, NO_COORDINATE));
        }
        Err(PbfProblem::Coordinates { element, lat, lon })
    }

    /// Converts a time to seconds since 1970.
    #[inline]
    fn seconds(&self, value: i64, element: ElementId) -> Result<i64, PbfProblem> {
        match value.checked_mul(self.date_granularity) {
            Some(milliseconds) => Ok(milliseconds.div_euclid(1000)),
            None => Err(PbfProblem::Range { element, what: "timestamp" }),
        }
    }

    fn info(&self, bytes: &[u8], element: ElementId) -> Result<Option<SourceMeta<'a>>, PbfProblem> {
        let mut meta = SourceMeta { version: 0, timestamp: 0, changeset: 0, uid: 0, user: "", visible: true };
        let mut found = false;
        let mut fields = WireCursor::new(bytes);
        while let Some((number, value)) = fields.field()? {
            found |= (1..=6).contains(&number);
            match number {
                1 => meta.version = version(value.varint(number)? as i64, element)?,
                2 => meta.timestamp = self.seconds(value.varint(number)? as i64, element)?,
                3 => meta.changeset = value.varint(number)? as i64,
                4 => meta.uid = (value.varint(number)? as i64).max(0),
                5 => meta.user = self.string(value.varint(number)?, element)?,
                6 => meta.visible = value.varint(number)? != 0,
                _ => {}
            }
        }
        Ok(found.then_some(meta))
    }

    fn tags(
        &self,
        keys: &PackedIntegers<'_>,
        values: &PackedIntegers<'_>,
        tags: &mut Vec<(&'a str, &'a str)>,
        element: ElementId,
    ) -> Result<(), PbfProblem> {
        tags.clear();
        let (mut keys, mut values) = (keys.cursor(), values.cursor());
        while !keys.is_empty() && !values.is_empty() {
            bounded(tags.len(), MAX_TAGS, "tags", element)?;
            tags.push((self.string(keys.varint()?, element)?, self.string(values.varint()?, element)?));
        }
        if !keys.is_empty() || !values.is_empty() {
            return Err(PbfProblem::Counts { element, what: "not as many values as keys" });
        }
        Ok(())
    }

    fn node(
        &self,
        bytes: &[u8],
        buffers: &mut ElementBuffers<'a>,
        f: &mut impl FnMut(SourceElement<'_>),
    ) -> Result<(), PbfProblem> {
        let (mut id, mut lat, mut lon, mut info) = (None, 0, 0, None);
        let (mut keys, mut values) = (PackedIntegers::default(), PackedIntegers::default());
        let mut fields = WireCursor::new(bytes);
        while let Some((number, value)) = fields.field()? {
            match number {
                1 => id = Some(zigzag(value.varint(number)?)),
                2 => keys.push(number, value)?,
                3 => values.push(number, value)?,
                4 => info = Some(value.bytes(number)?),
                8 => lat = zigzag(value.varint(number)?),
                9 => lon = zigzag(value.varint(number)?),
                _ => {}
            }
        }
        let id = id.ok_or(PbfProblem::NoId("node"))?;
        let place = ElementId::Node(id);
        let meta = self.optional_info(info, place)?;
        let (lat, lon) = self.coordinates(lat, lon, place)?;
        self.tags(&keys, &values, &mut buffers.tags, place)?;
        f(SourceElement::Node(SourceNode { id, lat, lon, tags: &buffers.tags, meta }));
        Ok(())
    }

    fn optional_info(&self, info: Option<&[u8]>, element: ElementId) -> Result<Option<SourceMeta<'a>>, PbfProblem> {
        match info {
            Some(bytes) => self.info(bytes, element),
            None => Ok(None),
        }
    }

    fn dense_nodes(
        &self,
        bytes: &[u8],
        buffers: &mut ElementBuffers<'a>,
        f: &mut impl FnMut(SourceElement<'_>),
    ) -> Result<(), PbfProblem> {
        let (mut ids, mut lats, mut lons) =
            (PackedIntegers::default(), PackedIntegers::default(), PackedIntegers::default());
        let (mut tags, mut columns) = (PackedIntegers::default(), InfoColumns::default());
        let mut fields = WireCursor::new(bytes);
        while let Some((number, value)) = fields.field()? {
            match number {
                1 => ids.push(number, value)?,
                5 => columns.push(value.bytes(number)?)?,
                8 => lats.push(number, value)?,
                9 => lons.push(number, value)?,
                10 => tags.push(number, value)?,
                _ => {}
            }
        }
        let (mut ids, mut lats, mut lons) = (Deltas::new(&ids), Deltas::new(&lats), Deltas::new(&lons));
        let mut pairs = tags.cursor();
        let mut infos = columns.rows();
        let with_info = infos.any();
        while !ids.is_empty() {
            let id = ids.next("ids")?;
            let place = ElementId::Node(id);
            let (lat, lon) = (lats.next("latitudes")?, lons.next("longitudes")?);
            let meta = if with_info { Some(infos.next(self, place)?) } else { None };
            let (lat, lon) = self.coordinates(lat, lon, place)?;
            buffers.tags.clear();
            while !pairs.is_empty() {
                let key = pairs.varint()?;
                if key == 0 {
                    break;
                }
                if pairs.is_empty() {
                    return Err(PbfProblem::Counts { element: place, what: "a key without a value" });
                }
                bounded(buffers.tags.len(), MAX_TAGS, "tags", place)?;
                buffers.tags.push((self.string(key, place)?, self.string(pairs.varint()?, place)?));
            }
            f(SourceElement::Node(SourceNode { id, lat, lon, tags: &buffers.tags, meta }));
        }
        let rest = [(lats.is_empty(), "latitudes"), (lons.is_empty(), "longitudes"), (pairs.is_empty(), "tags")];
        for (empty, what) in rest.into_iter().chain([(infos.is_empty(), "metadata")]) {
            if !empty {
                return Err(PbfProblem::Surplus(what));
            }
        }
        Ok(())
    }

    fn way(
        &self,
        bytes: &[u8],
        buffers: &mut ElementBuffers<'a>,
        f: &mut impl FnMut(SourceElement<'_>),
    ) -> Result<(), PbfProblem> {
        let (mut id, mut info) = (None, None);
        let (mut keys, mut values) = (PackedIntegers::default(), PackedIntegers::default());
        let (mut refs, mut lats, mut lons) =
            (PackedIntegers::default(), PackedIntegers::default(), PackedIntegers::default());
        let mut fields = WireCursor::new(bytes);
        while let Some((number, value)) = fields.field()? {
            match number {
                1 => id = Some(value.varint(number)? as i64),
                2 => keys.push(number, value)?,
                3 => values.push(number, value)?,
                4 => info = Some(value.bytes(number)?),
                8 => refs.push(number, value)?,
                9 => lats.push(number, value)?,
                10 => lons.push(number, value)?,
                _ => {}
            }
        }
        let id = id.ok_or(PbfProblem::NoId("way"))?;
        let place = ElementId::Way(id);
        let meta = self.optional_info(info, place)?;
        self.tags(&keys, &values, &mut buffers.tags, place)?;
        buffers.refs.clear();
        let mut deltas = Deltas::new(&refs);
        while !deltas.is_empty() {
            bounded(buffers.refs.len(), MAX_WAY_NODES, "nodes", place)?;
            buffers.refs.push(deltas.next("node ids")?);
        }
        buffers.locations.clear();
        let located = !lats.is_empty() || !lons.is_empty();
        if located {
            let (mut lats, mut lons) = (Deltas::new(&lats), Deltas::new(&lons));
            while !lats.is_empty() && !lons.is_empty() {
                bounded(buffers.locations.len(), MAX_WAY_NODES, "locations", place)?;
                let (lat, lon) = (lats.next("latitudes")?, lons.next("longitudes")?);
                buffers.locations.push(self.coordinates(lat, lon, place)?);
            }
            if !lats.is_empty() || !lons.is_empty() || buffers.locations.len() != buffers.refs.len() {
                return Err(PbfProblem::Counts { element: place, what: "not as many locations as nodes" });
            }
        }
        let locations = located.then_some(buffers.locations.as_slice());
        f(SourceElement::Way(Way { id, refs: &buffers.refs, locations, tags: &buffers.tags, meta }));
        Ok(())
    }

    fn relation(
        &self,
        bytes: &[u8],
        buffers: &mut ElementBuffers<'a>,
        f: &mut impl FnMut(SourceElement<'_>),
    ) -> Result<(), PbfProblem> {
        let (mut id, mut info) = (None, None);
        let (mut keys, mut values) = (PackedIntegers::default(), PackedIntegers::default());
        let (mut roles, mut ids, mut kinds) =
            (PackedIntegers::default(), PackedIntegers::default(), PackedIntegers::default());
        let mut fields = WireCursor::new(bytes);
        while let Some((number, value)) = fields.field()? {
            match number {
                1 => id = Some(value.varint(number)? as i64),
                2 => keys.push(number, value)?,
                3 => values.push(number, value)?,
                4 => info = Some(value.bytes(number)?),
                8 => roles.push(number, value)?,
                9 => ids.push(number, value)?,
                10 => kinds.push(number, value)?,
                _ => {}
            }
        }
        let id = id.ok_or(PbfProblem::NoId("relation"))?;
        let place = ElementId::Relation(id);
        let meta = self.optional_info(info, place)?;
        self.tags(&keys, &values, &mut buffers.tags, place)?;
        buffers.members.clear();
        let (mut roles, mut ids, mut kinds) = (roles.cursor(), Deltas::new(&ids), kinds.cursor());
        while !ids.is_empty() && !roles.is_empty() && !kinds.is_empty() {
            bounded(buffers.members.len(), MAX_MEMBERS, "members", place)?;
            let kind = match kinds.varint()? {
                0 => SourceElementType::Node,
                1 => SourceElementType::Way,
                2 => SourceElementType::Relation,
                kind => return Err(PbfProblem::MemberType { element: place, kind }),
            };
            let role = self.string(roles.varint()?, place)?;
            buffers.members.push(SourceMember { kind, id: ids.next("member ids")?, role });
        }
        if !ids.is_empty() || !roles.is_empty() || !kinds.is_empty() {
            return Err(PbfProblem::Counts { element: place, what: "not as many ids, roles and types of members" });
        }
        f(SourceElement::Relation(SourceRelation { id, members: &buffers.members, tags: &buffers.tags, meta }));
        Ok(())
    }
}

/// Returns an error if a list of this length already has the maximum number of items.
#[inline]
fn bounded(len: usize, most: usize, what: &'static str, element: ElementId) -> Result<(), PbfProblem> {
    if len < most { Ok(()) } else { Err(PbfProblem::TooMany { element, what, most }) }
}

fn positive(value: u64) -> Result<i64, PbfProblem> {
    let value = value as i32;
    if value > 0 { Ok(i64::from(value)) } else { Err(PbfProblem::Granularity(value)) }
}

/// Converts a version; the format uses -1 for an unknown version, which becomes 0.
#[inline]
fn version(value: i64, element: ElementId) -> Result<u32, PbfProblem> {
    u32::try_from(value.max(0)).map_err(|_| PbfProblem::Range { element, what: "version" })
}

/// A list of delta-coded numbers: each is stored as the difference from the previous one.
struct Deltas<'p> {
    rest: WireCursor<'p>,
    sum: i64,
}

impl<'p> Deltas<'p> {
    fn new(list: &'p PackedIntegers<'_>) -> Self {
        Self { rest: list.cursor(), sum: 0 }
    }

    fn optional(list: &'p PackedIntegers<'_>) -> Option<Self> {
        (!list.is_empty()).then(|| Self::new(list))
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    #[inline(always)]
    fn next(&mut self, what: &'static str) -> Result<i64, PbfProblem> {
        let delta = zigzag(one(&mut self.rest, what)?);
        self.sum = self.sum.checked_add(delta).ok_or(PbfProblem::Overflow(what))?;
        Ok(self.sum)
    }
}

/// The metadata of dense nodes, one list for each field. Writers omit the lists for which they have no data.
#[derive(Default)]
struct InfoColumns<'a> {
    versions: PackedIntegers<'a>,
    timestamps: PackedIntegers<'a>,
    changesets: PackedIntegers<'a>,
    uids: PackedIntegers<'a>,
    users: PackedIntegers<'a>,
    visible: PackedIntegers<'a>,
}

impl<'a> InfoColumns<'a> {
    fn push(&mut self, bytes: &'a [u8]) -> Result<(), Wire> {
        let mut fields = WireCursor::new(bytes);
        while let Some((number, value)) = fields.field()? {
            let column: &mut PackedIntegers<'a> = match number {
                1 => &mut self.versions,
                2 => &mut self.timestamps,
                3 => &mut self.changesets,
                4 => &mut self.uids,
                5 => &mut self.users,
                6 => &mut self.visible,
                _ => continue,
            };
            column.push(number, value)?;
        }
        Ok(())
    }

    fn rows(&self) -> InfoRows<'_> {
        InfoRows {
            versions: (!self.versions.is_empty()).then(|| self.versions.cursor()),
            timestamps: Deltas::optional(&self.timestamps),
            changesets: Deltas::optional(&self.changesets),
            uids: Deltas::optional(&self.uids),
            users: Deltas::optional(&self.users),
            visible: (!self.visible.is_empty()).then(|| self.visible.cursor()),
        }
    }
}

/// Iterates over the metadata of dense nodes, node by node.
struct InfoRows<'p> {
    versions: Option<WireCursor<'p>>,
    timestamps: Option<Deltas<'p>>,
    changesets: Option<Deltas<'p>>,
    uids: Option<Deltas<'p>>,
    users: Option<Deltas<'p>>,
    visible: Option<WireCursor<'p>>,
}

impl InfoRows<'_> {
    fn any(&self) -> bool {
        let deltas = [&self.timestamps, &self.changesets, &self.uids, &self.users];
        self.versions.is_some() || self.visible.is_some() || deltas.into_iter().any(Option::is_some)
    }

    fn is_empty(&self) -> bool {
        let plain = [&self.versions, &self.visible].into_iter().flatten();
        let deltas = [&self.timestamps, &self.changesets, &self.uids, &self.users].into_iter().flatten();
        plain.map(WireCursor::is_empty).chain(deltas.map(Deltas::is_empty)).all(|empty| empty)
    }

    #[inline]
    fn next<'a>(&mut self, frame: &PbfBlockFrame<'a>, element: ElementId) -> Result<SourceMeta<'a>, PbfProblem> {
        Ok(SourceMeta {
            version: match &mut self.versions {
                Some(list) => version(one(list, "versions")? as i64, element)?,
                None => 0,
            },
            timestamp: match &mut self.timestamps {
                Some(list) => frame.seconds(list.next("timestamps")?, element)?,
                None => 0,
            },
            changeset: match &mut self.changesets {
                Some(list) => list.next("changesets")?,
                None => 0,
            },
            uid: match &mut self.uids {
                Some(list) => list.next("user ids")?.max(0),
                None => 0,
            },
            user: match &mut self.users {
                Some(list) => frame.string(list.next("user names")? as u64, element)?,
                None => "",
            },
            visible: match &mut self.visible {
                Some(list) => one(list, "visible flags")? != 0,
                None => true,
            },
        })
    }
}

#[inline(always)]
fn one(list: &mut WireCursor<'_>, what: &'static str) -> Result<u64, PbfProblem> {
    if list.is_empty() {
        return Err(PbfProblem::Missing(what));
    }
    Ok(list.varint()?)
}
