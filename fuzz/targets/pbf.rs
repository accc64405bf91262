//! PBF: the first byte of an input selects a whole file, or the unpacked content of a block or of a header.

use std::io::Write;

/// The values of an input's first byte.
const FILE: u8 = 0;
const BLOCK: u8 = 1;
const HEADER: u8 = 2;

/// A message under construction.
#[derive(Clone, Default)]
struct FuzzedMessage(Vec<u8>);

impl FuzzedMessage {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn list(self, field: u64, values: &[i64]) -> Self {
        let mut list = FuzzedMessage::default();
        values.iter().for_each(|value| list.varint(*value as u64));
        self.bytes(field, &list.0)
    }

    fn deltas(self, field: u64, values: &[i64]) -> Self {
        let values: Vec<i64> = values.iter().map(|value| value << 1 ^ value >> 63).collect();
        self.list(field, &values)
    }
}

fn m() -> FuzzedMessage {
    FuzzedMessage::default()
}

fn framed(kind: &str, content: &[u8], packed: bool) -> Vec<u8> {
    let blob = if packed {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).expect("in memory");
        m().int(2, content.len() as i64).bytes(3, &encoder.finish().expect("in memory"))
    } else {
        m().bytes(1, content)
    };
    let header = m().bytes(1, kind.as_bytes()).int(3, blob.0.len() as i64);
    [&(header.0.len() as u32).to_be_bytes()[..], &header.0, &blob.0].concat()
}

fn header() -> Vec<u8> {
    let sides = m().int(1, 2).int(2, 4).int(3, 8).int(4, 6);
    let head = m().bytes(1, &sides.0).bytes(4, b"OsmSchema-V0.6").bytes(4, b"DenseNodes").bytes(16, b"hand");
    head.int(32, 1_600_000_000).int(33, 7).bytes(34, b"https://example.org").0
}

fn block() -> Vec<u8> {
    let strings =
        ["", "amenity", "cafe", "outer", "ann"].iter().fold(m(), |table, text| table.bytes(1, text.as_bytes()));
    let info = m().int(1, 3).int(2, 5).int(3, 7).int(4, 9).int(5, 4).int(6, 1);
    let columns =
        m().list(1, &[1, 2, 3]).deltas(2, &[5, 1, 1]).deltas(3, &[7, 0, 0]).deltas(4, &[9, 0, 0]).deltas(5, &[4, 0, 0]);
    let dense = m()
        .deltas(1, &[1, 1, 5])
        .bytes(5, &columns.0)
        .deltas(8, &[100, 1, 1])
        .deltas(9, &[200, 1, 1])
        .list(10, &[1, 2, 0, 0, 0]);
    let node = m().int(1, 18).list(2, &[1]).list(3, &[2]).bytes(4, &info.0).int(8, 200).int(9, 400);
    let way = m().int(1, 7).list(2, &[1]).list(3, &[2]).bytes(4, &info.0).deltas(8, &[1, 1, 5]);
    let located = m().int(1, 8).deltas(8, &[1, 1]).deltas(9, &[1, 1]).deltas(10, &[1, 1]);
    let relation =
        m().int(1, 9).list(8, &[3, 0, 0]).deltas(9, &[7, -6, 8]).list(10, &[1, 0, 2]).list(2, &[1]).list(3, &[2]);
    let first = m().bytes(2, &dense.0).bytes(1, &node.0);
    let second = m().bytes(3, &way.0).bytes(3, &located.0).bytes(4, &relation.0);
    m().bytes(1, &strings.0).bytes(2, &first.0).bytes(2, &second.0).int(17, 100).int(18, 1000).int(19, 0).int(20, 0).0
}

pub fn seeds() -> Vec<Vec<u8>> {
    let with = |first: u8, rest: Vec<u8>| [vec![first], rest].concat();
    let file = |packed| [framed("OSMHeader", &header(), packed), framed("OSMData", &block(), packed)].concat();
    vec![with(FILE, file(false)), with(FILE, file(true)), with(BLOCK, block()), with(HEADER, header())]
}

pub fn check(input: &[u8]) {
    let Some((first, rest)) = input.split_first() else { return };
    // Some inputs are packed: the memory limits must hold for content that is larger than its packed bytes.
    let packed = first & 4 != 0;
    let bytes = match first % 4 {
        BLOCK => [framed("OSMHeader", &header(), false), framed("OSMData", rest, packed)].concat(),
        HEADER => [framed("OSMHeader", rest, packed), framed("OSMData", &block(), false)].concat(),
        _ => rest.to_vec(),
    };
    super::osm_xml::elements(&super::town::file("input.pbf", &bytes));
}
