//! Encoder for Mapbox Vector Tile 2.1: layers with features. Attributes are indexes into the keys and values of the
//! layer.

use prost::encoding::{bool, bytes, string, uint32, uint64};
use rustc_hash::FxHashMap;

use super::place::{EXTENT, TilePoint};
use super::schema::LAYERS;

/// An attribute's value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
}

/// The encoded geometry of a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawing {
    kind: u32,
    commands: Vec<u32>,
}

impl Drawing {
    /// A point.
    pub fn point(at: TilePoint) -> Drawing {
        let mut pen = Pen::default();
        pen.command(MOVE, 1);
        pen.to(at);
        Drawing { kind: 1, commands: pen.commands }
    }

    /// Lines of at least two points each.
    pub fn lines(lines: &[Vec<TilePoint>]) -> Drawing {
        let mut pen = Pen::default();
        lines.iter().for_each(|line| pen.path(line));
        Drawing { kind: 2, commands: pen.commands }
    }

    /// Rings, closed: each outer one, which runs clockwise, before its holes, which do not.
    pub fn rings(rings: &[Vec<TilePoint>]) -> Drawing {
        let mut pen = Pen::default();
        for ring in rings {
            pen.path(&ring[..ring.len().saturating_sub(1)]);
            pen.command(CLOSE, 1);
        }
        Drawing { kind: 3, commands: pen.commands }
    }
}

const MOVE: u32 = 1;
const LINE: u32 = 2;
const CLOSE: u32 = 7;

/// Writes drawing commands; each point is encoded relative to the one before.
#[derive(Default)]
struct Pen {
    at: (i32, i32),
    commands: Vec<u32>,
}

impl Pen {
    fn command(&mut self, command: u32, count: usize) {
        self.commands.push(command | (count as u32) << 3);
    }

    fn to(&mut self, point: TilePoint) {
        let zigzag = |value: i32| ((value << 1) ^ (value >> 31)) as u32;
        self.commands.extend([zigzag(point.x - self.at.0), zigzag(point.y - self.at.1)]);
        self.at = (point.x, point.y);
    }

    fn path(&mut self, points: &[TilePoint]) {
        let Some((first, rest)) = points.split_first() else { return };
        self.command(MOVE, 1);
        self.to(*first);
        self.command(LINE, rest.len());
        rest.iter().for_each(|point| self.to(*point));
    }
}

/// The attributes of a feature.
pub type Attributes = Vec<(&'static str, AttributeValue)>;

/// Layers while they are filled, in the order of the schema.
pub struct TileEncoder {
    layers: Vec<Filling>,
}

#[derive(Default)]
struct Filling {
    /// Messages.
    features: Vec<Vec<u8>>,
    keys: Vec<String>,
    key_places: FxHashMap<&'static str, u32>,
    /// Messages.
    values: Vec<Vec<u8>>,
    value_places: FxHashMap<AttributeValue, u32>,
}

impl TileEncoder {
    /// An empty one.
    pub fn new() -> TileEncoder {
        TileEncoder { layers: LAYERS.iter().map(|_| Filling::default()).collect() }
    }

    /// Adds a feature to the layer of this number.
    pub fn add(&mut self, layer: usize, drawing: Drawing, attributes: Attributes) {
        let layer = &mut self.layers[layer];
        let mut tags = Vec::with_capacity(2 * attributes.len());
        for (key, value) in attributes {
            let keys = &mut layer.keys;
            tags.push(*layer.key_places.entry(key).or_insert_with(|| {
                keys.push(key.to_owned());
                (keys.len() - 1) as u32
            }));
            let values = &mut layer.values;
            tags.push(*layer.value_places.entry(value).or_insert_with_key(|value| {
                values.push(message(value));
                (values.len() - 1) as u32
            }));
        }
        let mut feature = Vec::new();
        uint32::encode_packed(2, &tags, &mut feature);
        uint32::encode(3, &drawing.kind, &mut feature);
        uint32::encode_packed(4, &drawing.commands, &mut feature);
        layer.features.push(feature);
    }

    /// The tile's bytes; empty layers are left out.
    pub fn bytes(self) -> Vec<u8> {
        let mut tile = Vec::new();
        for (layer, told) in self.layers.into_iter().zip(LAYERS).filter(|(layer, _)| !layer.features.is_empty()) {
            let mut message = Vec::new();
            string::encode(1, &told.name.to_owned(), &mut message);
            bytes::encode_repeated(2, &layer.features, &mut message);
            string::encode_repeated(3, &layer.keys, &mut message);
            bytes::encode_repeated(4, &layer.values, &mut message);
            uint32::encode(5, &(EXTENT as u32), &mut message);
            uint32::encode(15, &2, &mut message);
            bytes::encode(3, &message, &mut tile);
        }
        tile
    }
}

fn message(value: &AttributeValue) -> Vec<u8> {
    let mut message = Vec::new();
    match value {
        AttributeValue::Text(text) => string::encode(1, text, &mut message),
        AttributeValue::Number(number) => uint64::encode(5, number, &mut message),
        AttributeValue::Flag(flag) => bool::encode(7, flag, &mut message),
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_those_of_the_specification() {
        let points = |all: &[(i32, i32)]| all.iter().map(|&(x, y)| TilePoint { x, y }).collect::<Vec<_>>();
        // The examples in its section 4.3.5.
        assert_eq!(Drawing::point(TilePoint { x: 25, y: 17 }).commands, [9, 50, 34]);
        let line = Drawing::lines(&[points(&[(2, 2), (2, 10), (10, 10)])]);
        assert_eq!(line.commands, [9, 4, 4, 18, 0, 16, 16, 0]);
        let polygon = Drawing::rings(&[points(&[(3, 6), (8, 12), (20, 34), (3, 6)])]);
        assert_eq!(polygon.commands, [9, 6, 12, 18, 10, 12, 24, 44, 15]);
    }

    #[test]
    fn attributes_are_kept_once() {
        let mut tile = TileEncoder::new();
        for _ in 0..2 {
            let attributes =
                vec![("kind", AttributeValue::Text("river".into())), ("tunnel", AttributeValue::Flag(false))];
            tile.add(3, Drawing::point(TilePoint { x: 1, y: 1 }), attributes);
        }
        assert_eq!((tile.layers[3].keys.len(), tile.layers[3].values.len()), (2, 2));
        let feature = [0x12, 4, 0, 0, 1, 1, 0x18, 1, 0x22, 3, 9, 2, 2];
        assert_eq!(tile.layers[3].features, [feature, feature]);
        let bytes = tile.bytes();
        let layer = [
            &[0x0a, 11][..],
            b"water_lines",
            &[0x12, 13],
            &feature,
            &[0x12, 13],
            &feature,
            &[0x1a, 4],
            b"kind",
            &[0x1a, 6],
            b"tunnel",
            &[0x22, 7, 0x0a, 5],
            b"river",
            &[0x22, 2, 0x38, 0, 0x28, 0x80, 0x20, 0x78, 2],
        ]
        .concat();
        assert_eq!(bytes, [&[0x1a, layer.len() as u8][..], &layer].concat());
    }
}
