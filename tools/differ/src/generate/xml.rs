//! Queries in the XML form.

use terrapin_loaders::SourceElementType;

use super::{DifferGenerator, ELEMENTS};
use crate::piece::{PieceKind, QueryPiece, row};

/// The types that a query can ask for.
const TYPES: [&str; 10] =
    ["node", "way", "relation", "nwr", "node-way", "node-relation", "way-relation", "nw", "wr", "area"];

/// The ways in which `recurse` goes.
const RECURSIONS: [&str; 14] = [
    "node-way",
    "node-relation",
    "way-node",
    "way-relation",
    "relation-node",
    "relation-way",
    "relation-relation",
    "relation-backwards",
    "down",
    "down-rel",
    "up",
    "up-rel",
    "node-wr",
    "nwr-relation",
];

impl DifferGenerator<'_> {
    /// A whole query in the XML form.
    pub(super) fn xml(&mut self) -> QueryPiece {
        let mut items = vec![self.xml_query()];
        for _ in 0..self.random.below(3) {
            items.push(self.xml_statement());
        }
        items.push(self.xml_print());
        let output = *self.random.pick(&["", " output=\"json\"", " output=\"json\"", " timeout=\"60\""]);
        row!["<osm-script", output, ">", QueryPiece::List { items, separator: "", least: 1 }, "</osm-script>"]
    }

    fn xml_statement(&mut self) -> QueryPiece {
        let piece = match self.random.below(8) {
            0..=2 => return self.xml_query(),
            3 => {
                let items = vec![self.xml_query(), self.xml_query()];
                row!["<union", self.xml_into(), ">", QueryPiece::List { items, separator: "", least: 1 }, "</union>"]
            }
            4 => {
                let items = vec![self.xml_query(), self.xml_query()];
                row!["<difference>", QueryPiece::List { items, separator: "", least: 1 }, "</difference>"]
            }
            5 => row!["<foreach>", self.xml_query(), self.xml_print(), "</foreach>"],
            _ => row!["<recurse type=\"", *self.random.pick(&RECURSIONS), "\"", self.xml_into(), "/>"],
        };
        piece.of(PieceKind::Statement)
    }

    fn xml_query(&mut self) -> QueryPiece {
        let kind = *self.random.pick(&TYPES);
        let mut items = vec![self.xml_filter()];
        for _ in 0..*self.random.pick(&[0, 0, 1, 2]) {
            items.push(self.xml_filter());
        }
        let into = self.xml_into();
        row!["<query type=\"", kind, "\"", into, ">", QueryPiece::List { items, separator: "", least: 0 }, "</query>"]
            .of(PieceKind::Statement)
    }

    fn xml_filter(&mut self) -> QueryPiece {
        match self.random.below(9) {
            0..=4 => self.xml_tag(),
            5 => {
                let (lat, lon) = self.place(0.01);
                let (s, w, n, e) = (lat - 0.01, lon - 0.01, lat + 0.01, lon + 0.01);
                QueryPiece::from(format!("<bbox-query s=\"{s:.7}\" w=\"{w:.7}\" n=\"{n:.7}\" e=\"{e:.7}\"/>"))
            }
            6 => {
                let kind = *self.random.pick(&["node", "way", "relation"]);
                let id = self.extract.near(self.anchor, None, &mut self.random).id;
                QueryPiece::from(match self.random.below(3) {
                    0 => format!("<id-query type=\"{kind}\" lower=\"{id}\" upper=\"{}\"/>", id + 1000),
                    _ => format!("<id-query type=\"{kind}\" ref=\"{id}\"/>"),
                })
            }
            7 => {
                let set = self.set_with(ELEMENTS);
                row!["<recurse type=\"", *self.random.pick(&RECURSIONS), "\" from=\"", set, "\"/>"]
            }
            _ => {
                let set = self.set_with(ELEMENTS);
                row!["<item from=\"", set, "\"/>"]
            }
        }
    }

    /// `<has-kv .../>` with any of its attributes.
    fn xml_tag(&mut self) -> QueryPiece {
        let kind = *self.random.pick(&[None, Some(SourceElementType::Node), Some(SourceElementType::Way)]);
        let (key, value) = self.matched_tag(kind);
        let regex = self.regex(&value);
        let wanted = match self.random.below(5) {
            0 => QueryPiece::from(""),
            1 | 2 => row![" v=\"", escape(&value), "\""].optional(),
            3 => row![" regv=\"", escape(&regex), "\""].optional(),
            _ => QueryPiece::from(" regv=\"\"").optional(),
        };
        let case = if self.random.chance(10) { " case=\"ignore\"" } else { "" };
        let modifier = *self.random.pick(&["", "", " modv=\"not\"", " modv=\"\""]);
        let key_word = if self.random.chance(90) { "k" } else { "regk" };
        row!["<has-kv ", key_word, "=\"", escape(&key), "\"", wanted, case, modifier, "/>"]
    }

    fn xml_into(&mut self) -> QueryPiece {
        let set = if self.random.chance(70) { "" } else { *self.random.pick(&["a", "b"]) };
        if set.is_empty() {
            return QueryPiece::from("");
        }
        self.sets.insert(set, ELEMENTS);
        row![" into=\"", set, "\""].optional()
    }

    fn xml_print(&mut self) -> QueryPiece {
        let mode =
            *self.random.pick(&["", "body", "ids_only", "skeleton", "tags", "meta", "count", "skel", "ids", "quatsch"]);
        let mode = if mode.is_empty() { QueryPiece::from("") } else { row![" mode=\"", mode, "\""].optional() };
        let set = self.set_with(ELEMENTS);
        let from = if set == "_" { QueryPiece::from("") } else { row![" from=\"", set, "\""].optional() };
        let limit = *self.random.pick(&["", "", " limit=\"3\"", " limit=\"0\"", " limit=\"\""]);
        let order = *self.random.pick(&["", "", " order=\"quadtile\"", " order=\"id\""]);
        let shape = *self.random.pick(&["", "", " geometry=\"full\"", " geometry=\"center\"", " geometry=\"bounds\""]);
        row!["<print", mode, from, limit, order, shape, "/>"].of(PieceKind::Statement)
    }
}

/// Text within quotation marks of XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
