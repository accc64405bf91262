//! Queries and their filters.

use terrapin_loaders::SourceElementType;

use super::text::{degrees, quote};
use super::{AREAS, DERIVED, DifferGenerator, ELEMENTS, Holds, NODES, RELATIONS, WAYS};
use crate::generate::expression::EvaluatorScope;
use crate::piece::{QueryPiece, row};

/// The types of queries and the elements that they find.
const TYPES: [(usize, &str, &str, Holds); 10] = [
    (25, "query node", "node", NODES),
    (25, "query way", "way", WAYS),
    (12, "query rel", "rel", RELATIONS),
    (3, "query relation", "relation", RELATIONS),
    (14, "query nwr", "nwr", ELEMENTS),
    (4, "query nw", "nw", NODES | WAYS),
    (4, "query nr", "nr", NODES | RELATIONS),
    (4, "query wr", "wr", WAYS | RELATIONS),
    (7, "query area", "area", AREAS),
    (2, "query derived", "derived", DERIVED),
];

impl DifferGenerator<'_> {
    /// Returns a query without its semicolon and target, and the types of elements that it finds.
    pub(super) fn query(&mut self) -> (QueryPiece, Holds) {
        let options = TYPES.map(|(weight, name, ..)| (weight, name));
        let chosen = self.choose(&options);
        let (_, _, word, holds) = TYPES.into_iter().find(|t| t.1 == chosen).unwrap_or(TYPES[0]);
        (self.query_of(word, holds), holds)
    }

    /// A query for elements of given types.
    pub(super) fn query_of(&mut self, word: &str, holds: Holds) -> QueryPiece {
        let mut filters = vec![self.strong(holds)];
        for _ in 0..*self.random.pick(&[0, 0, 0, 1, 1, 2]) {
            let filter = if self.random.chance(50) { self.weak(holds) } else { self.strong(holds) };
            let at = self.random.below(filters.len() + 1);
            filters.insert(at, filter);
        }
        if self.wanted.front() == Some(&"filter if") {
            filters.push(self.weak(holds));
        }
        if self.random.chance(3) && filters.len() == 1 {
            filters = vec![self.weak(holds)];
        }
        let mut sets = Vec::new();
        for _ in 0..*self.random.pick(&[0, 0, 0, 0, 0, 0, 1, 1, 2]) {
            if self.note("filter set") {
                let set = self.set_with(holds);
                sets.push(QueryPiece::from(format!(".{set}")));
            }
        }
        let least = usize::from(sets.is_empty());
        let sets = QueryPiece::List { items: sets, separator: "", least: 0 };
        row![word, sets, QueryPiece::List { items: filters, separator: "", least }]
    }

    fn one_kind(&mut self, holds: Holds) -> Option<SourceElementType> {
        let kinds: Vec<SourceElementType> =
            [SourceElementType::Node, SourceElementType::Way, SourceElementType::Relation]
                .into_iter()
                .filter(|kind| super::bit(*kind) & holds != 0)
                .collect();
        if holds == AREAS {
            return Some(SourceElementType::Relation);
        }
        (!kinds.is_empty()).then(|| *self.random.pick(&kinds))
    }

    /// A filter that is enough on its own.
    fn strong(&mut self, holds: Holds) -> QueryPiece {
        let single = holds.is_power_of_two();
        let if_ = |condition: bool, weight: usize| if condition { weight } else { 0 };
        let (node, way, relation) = (holds == NODES, holds == WAYS, holds == RELATIONS);
        let several = if_(!single, 3);
        let chosen = self.choose(&[
            (12, "filter [k]"),
            (14, "filter [k=v]"),
            (5, "filter [k~v]"),
            (4, "filter [~k~v]"),
            (18, "filter bbox"),
            (10, "filter id"),
            (5, "filter around set"),
            (4, "filter around point"),
            (3, "filter around line"),
            (4, "filter poly"),
            (if_(self.has(AREAS), 10), "filter area set"),
            (2, "filter area id"),
            (if_(self.has(AREAS), if node { 2 } else { 6 }), "filter pivot"),
            (if_(node, 10).max(several), "filter w"),
            (if_(node && self.has(WAYS), 4), "filter w positions"),
            (if_(holds & RELATIONS == holds || !single || node || way, 4), "filter r"),
            (if_(holds & RELATIONS == holds || !single || node || way, 3), "filter r role"),
            (if_(way || relation, 6).max(several), "filter bn"),
            (if_(way, 4), "filter bn positions"),
            (if_(relation, 3), "filter bn role"),
            (if_(relation, 6).max(several), "filter bw"),
            (if_(relation, 4), "filter bw role"),
            (if_(relation, 5).max(several), "filter br"),
            (if_(relation, 4), "filter br role"),
            (2, "filter >"),
            (2, "filter >>"),
            (2, "filter <"),
            (2, "filter <<"),
            (3, "filter user"),
            (3, "filter uid"),
            (2, "filter user_touched"),
            (2, "filter uid_touched"),
            (2, "filter changed"),
        ]);
        self.filter(chosen, holds)
    }

    /// A filter that may require another one.
    fn weak(&mut self, holds: Holds) -> QueryPiece {
        let node = if holds == NODES { 6 } else { 0 };
        let chosen = self.choose(&[
            (5, "filter [k!=v]"),
            (5, "filter [!k]"),
            (4, "filter [k!~v]"),
            (3, "filter [~k!~v]"),
            (5, "filter newer"),
            (5, "filter changed"),
            (3, "filter changed two"),
            (14, "filter if"),
            (node, "filter way_cnt"),
            (node, "filter way_link"),
        ]);
        self.filter(chosen, holds)
    }

    fn filter(&mut self, name: &'static str, holds: Holds) -> QueryPiece {
        let kind = self.one_kind(holds);
        match name {
            "filter [k]" => {
                let (key, _) = self.tag(kind);
                row!["[", self.key(&key), "]"]
            }
            "filter [!k]" => {
                let (key, _) = self.tag(kind);
                row!["[!", self.key(&key), "]"]
            }
            "filter [k=v]" => self.comparison("=", kind),
            "filter [k!=v]" => self.comparison("!=", kind),
            "filter [k~v]" => self.matching("~", kind),
            "filter [k!~v]" => self.matching("!~", kind),
            "filter [~k~v]" => self.key_matching("~", kind),
            "filter [~k!~v]" => self.key_matching("!~", kind),
            "filter bbox" => row!["(", self.bounds(), ")"],
            "filter id" => self.ids(holds, kind),
            "filter around set" => {
                let set = self.set_with(ELEMENTS);
                row!["(around", self.from(set), ":", self.radius(), ")"]
            }
            "filter around point" => {
                let (lat, lon) = self.place(0.003);
                row!["(around:", self.radius(), ",", degrees(lat), ",", degrees(lon), ")"]
            }
            "filter around line" => {
                let mut items = Vec::new();
                for _ in 0..2 + self.random.below(3) {
                    let (lat, lon) = self.place(0.004);
                    items.push(row![degrees(lat), ",", degrees(lon)]);
                }
                let points = QueryPiece::List { items, separator: ",", least: 1 };
                row!["(around:", self.radius(), ",", points, ")"]
            }
            "filter poly" => {
                let mut items = Vec::new();
                for _ in 0..3 + self.random.below(4) {
                    let (lat, lon) = self.place(0.02);
                    items.push(row![degrees(lat), " ", degrees(lon)]);
                }
                row!["(poly:\"", QueryPiece::List { items, separator: " ", least: 3 }, "\")"]
            }
            "filter area set" => {
                let set = self.set_with(AREAS);
                row!["(area", self.from(set), ")"]
            }
            "filter area id" => row!["(area:", self.area_id(), ")"],
            "filter pivot" => {
                let set = self.set_with(AREAS);
                row!["(pivot", self.from(set), ")"]
            }
            "filter >" | "filter >>" => self.recursion(name.trim_start_matches("filter "), WAYS | RELATIONS, None),
            "filter <" | "filter <<" => self.recursion(name.trim_start_matches("filter "), ELEMENTS, None),
            "filter w" => self.recursion("w", WAYS, None),
            "filter r" => self.recursion("r", RELATIONS, None),
            "filter bn" => self.recursion("bn", NODES, None),
            "filter bw" => self.recursion("bw", WAYS, None),
            "filter br" => self.recursion("br", RELATIONS, None),
            "filter w positions" => {
                let positions = self.positions();
                self.recursion("w", WAYS, Some(positions))
            }
            "filter bn positions" => {
                let positions = self.positions();
                self.recursion("bn", NODES, Some(positions))
            }
            "filter r role" => self.recursion_role("r", RELATIONS),
            "filter bn role" => self.recursion_role("bn", NODES),
            "filter bw role" => self.recursion_role("bw", WAYS),
            "filter br role" => self.recursion_role("br", RELATIONS),
            "filter way_cnt" => self.way_count("way_cnt"),
            "filter way_link" => self.way_count("way_link"),
            "filter user" => self.users("user", true),
            "filter uid" => self.users("uid", false),
            "filter user_touched" => self.users("user_touched", true),
            "filter uid_touched" => self.users("uid_touched", false),
            "filter newer" => row!["(newer:\"", self.moment(), "\")"],
            "filter changed two" => {
                let (mut from, mut to) = (self.moment(), self.moment());
                if from > to && self.random.chance(90) {
                    std::mem::swap(&mut from, &mut to);
                }
                row!["(changed:\"", from, "\",\"", to, "\")"]
            }
            "filter changed" => match self.random.below(8) {
                0 => QueryPiece::from(*self.random.pick(&["(changed)", "(changed:\"auto\")"])),
                _ => row!["(changed:\"", self.moment(), "\")"],
            },
            _ => row!["(if:", self.text(EvaluatorScope::Element, 3), ")"],
        }
    }

    fn comparison(&mut self, sign: &str, kind: Option<SourceElementType>) -> QueryPiece {
        let (key, value) = self.tag(kind);
        let value = if self.random.chance(8) { self.tag(kind).1 } else { value };
        row!["[", self.key(&key), sign, self.key(&value), "]"]
    }

    fn matching(&mut self, sign: &str, kind: Option<SourceElementType>) -> QueryPiece {
        let (key, value) = self.matched_tag(kind);
        let value = quote(&if self.maybe(4, "expression empty") { String::new() } else { self.regex(&value) });
        row!["[", self.key(&key), sign, value, self.case(), "]"]
    }

    fn key_matching(&mut self, sign: &str, kind: Option<SourceElementType>) -> QueryPiece {
        let (key, value) = self.matched_tag(kind);
        let (key, value) = (quote(&self.regex(&key)), quote(&self.regex(&value)));
        row!["[~", key, sign, value, self.case(), "]"]
    }

    fn case(&mut self) -> QueryPiece {
        if self.maybe(30, "filter ignoring case") { QueryPiece::from(",i").optional() } else { QueryPiece::from("") }
    }

    fn ids(&mut self, holds: Holds, kind: Option<SourceElementType>) -> QueryPiece {
        let mut items = Vec::new();
        for _ in 0..*self.random.pick(&[1, 1, 2, 3, 8]) {
            items.push(match holds {
                AREAS => self.area_id(),
                _ => QueryPiece::number(self.extract.near(self.anchor, kind, &mut self.random).id),
            });
        }
        if items.len() == 1 && self.random.chance(50) {
            return row!["(", QueryPiece::Row(items), ")"];
        }
        row!["(id:", QueryPiece::List { items, separator: ",", least: 1 }, ")"]
    }

    fn area_id(&mut self) -> QueryPiece {
        let id = match self.extract.areas.as_slice() {
            [] => 1,
            areas => *self.random.pick(areas),
        };
        QueryPiece::from((3_600_000_000 + id).to_string())
    }

    fn radius(&mut self) -> QueryPiece {
        QueryPiece::number(*self.random.pick(&["0", "1", "7.5", "25", "60", "100.25", "300", "1000"]))
    }

    fn positions(&mut self) -> QueryPiece {
        let mut items = Vec::new();
        for _ in 0..*self.random.pick(&[1, 1, 2, 3]) {
            let sign = |random: &mut crate::random::DifferRandom| if random.chance(40) { -1 } else { 1 };
            let at = sign(&mut self.random) * (1 + self.random.below(5) as i64);
            items.push(QueryPiece::number(at));
        }
        QueryPiece::List { items, separator: ",", least: 1 }
    }

    fn recursion(&mut self, word: &str, of: Holds, restriction: Option<QueryPiece>) -> QueryPiece {
        let set = self.set_with(of);
        let restriction = match restriction {
            Some(piece) => row![":", piece].optional(),
            None => QueryPiece::from(""),
        };
        row!["(", word, self.from(set), restriction, ")"]
    }

    fn recursion_role(&mut self, word: &str, of: Holds) -> QueryPiece {
        let sample = self.extract.near(self.anchor, Some(SourceElementType::Relation), &mut self.random);
        let role = match sample.roles.as_slice() {
            [] => String::new(),
            roles => self.random.pick(roles).clone(),
        };
        self.recursion(word, of, Some(QueryPiece::from(quote(&role))))
    }

    fn way_count(&mut self, word: &str) -> QueryPiece {
        let set = self.set_with(WAYS);
        let lower = 1 + self.random.below(3);
        let upper = lower + self.random.below(3);
        let range = match self.random.below(9) {
            0..=3 => format!(":{lower}-"),
            4 | 5 => format!(":{lower}-{upper}"),
            6 | 7 => format!(":{lower}"),
            _ => String::new(),
        };
        row!["(", word, self.from(set), range, ")"]
    }

    fn users(&mut self, word: &str, by_name: bool) -> QueryPiece {
        let mut items = Vec::new();
        for _ in 0..*self.random.pick(&[1, 1, 1, 2, 3]) {
            let sample = self.extract.near(self.anchor, None, &mut self.random);
            let (user, uid) = (sample.user.clone(), sample.uid);
            items.push(QueryPiece::from(match by_name {
                true if user.is_empty() => quote("nobody"),
                true => quote(&user),
                false => uid.max(1).to_string(),
            }));
        }
        row!["(", word, ":", QueryPiece::List { items, separator: ",", least: 1 }, ")"]
    }
}
