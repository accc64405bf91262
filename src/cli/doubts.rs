//! What may be wrong with a query that answers nothing: said on standard error, so that nobody takes an empty answer for
//! what the map has. Knows the query and where the data lies.

use crate::osm::{BoundingBox, ElementType, Osm};
use crate::overpass::syntax::{FilterKind, Script, Statement, StatementKind};

/// The doubts about a query, in the order of the text, each once.
pub fn of(script: &Script, osm: &Osm) -> Vec<String> {
    let mut doubts = Doubts { osm, list: Vec::new(), writes: false };
    if let Some(bbox) = &script.settings.bbox {
        doubts.box_of(&crate::overpass::run::to_osm(bbox));
    }
    doubts.block(&script.statements);
    if !doubts.writes {
        doubts.add("nothing is written without \"out\": node[amenity=cafe]; out;".to_owned());
    }
    doubts.list
}

struct Doubts<'a> {
    osm: &'a Osm,
    list: Vec<String>,
    writes: bool,
}

impl Doubts<'_> {
    fn add(&mut self, doubt: String) {
        if self.list.len() < 5 && !self.list.contains(&doubt) {
            self.list.push(doubt);
        }
    }

    fn block(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Out(_) => self.writes = true,
            StatementKind::Query(query) => query.filters.iter().for_each(|filter| self.filter(&filter.kind)),
            StatementKind::Union { members, .. } => self.block(members),
            StatementKind::Difference { base, minus, .. } => {
                self.statement(base);
                self.statement(minus);
            }
            StatementKind::Foreach { body, .. }
            | StatementKind::For { body, .. }
            | StatementKind::Complete { body, .. }
            | StatementKind::Retro { body, .. }
            | StatementKind::Compare { body, .. } => self.block(body),
            StatementKind::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
            }
            _ => {}
        }
    }

    fn filter(&mut self, filter: &FilterKind) {
        match filter {
            FilterKind::Bbox(bbox) => self.box_of(&crate::overpass::run::to_osm(bbox)),
            FilterKind::HasKey { key } => {
                if let Some((key, value)) = key.split_once('=') {
                    self.add(format!(
                        "[\"{key}={value}\"] asks for a key with a \"=\" in it; a tag is [\"{key}\"=\"{value}\"]"
                    ));
                }
            }
            _ => {}
        }
    }

    /// A box without any data that has some when latitudes and longitudes are swapped.
    fn box_of(&mut self, bbox: &BoundingBox) {
        let swapped = BoundingBox { south: bbox.west, west: bbox.south, north: bbox.east, east: bbox.north };
        let has_data = |bbox: &BoundingBox| !self.osm.pages_in(ElementType::Node, bbox).is_empty();
        if !bbox.is_empty() && !swapped.is_empty() && !has_data(bbox) && has_data(&swapped) {
            self.add(
                "a box has no data; were latitude and longitude swapped? It is (south,west,north,east)".to_owned(),
            );
        }
    }
}
