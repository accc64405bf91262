//! Evaluators.

use terrapin_loaders::SourceElementType;

use super::text::{degrees, quote};
use super::{DifferGenerator, ELEMENTS};
use crate::piece::{PieceKind, QueryPiece, row};

/// The objects that an evaluator can access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvaluatorScope {
    /// Sets only.
    Free,
    /// An element.
    Element,
    /// An element, and also a member of a relation or a node of a way.
    Member,
}

/// Evaluators of an element without arguments.
const PLAIN: [&str; 15] = [
    "evaluator id()",
    "evaluator type()",
    "evaluator version()",
    "evaluator timestamp()",
    "evaluator changeset()",
    "evaluator uid()",
    "evaluator user()",
    "evaluator lat()",
    "evaluator lon()",
    "evaluator length()",
    "evaluator is_closed()",
    "evaluator count_tags()",
    "evaluator count_members()",
    "evaluator count_distinct_members()",
    "evaluator angle()",
];

/// Evaluators of a member without arguments.
const OF_MEMBER: [&str; 4] = ["evaluator pos()", "evaluator mtype()", "evaluator ref()", "evaluator role()"];

/// Evaluators of one text.
const UNARY: [&str; 8] = [
    "evaluator number()",
    "evaluator is_number()",
    "evaluator suffix()",
    "evaluator date()",
    "evaluator is_date()",
    "evaluator abs()",
    "evaluator lrs_min()",
    "evaluator lrs_max()",
];

/// Evaluators of two texts.
const BINARY: [&str; 3] = ["evaluator lrs_in()", "evaluator lrs_isect()", "evaluator lrs_union()"];

/// Aggregates of texts.
const AGGREGATES: [&str; 5] =
    ["evaluator u()", "evaluator min()", "evaluator max()", "evaluator sum()", "evaluator set()"];

/// Operators between two texts.
const OPERATORS: [&str; 12] = [
    "operator ||",
    "operator &&",
    "operator ==",
    "operator !=",
    "operator <",
    "operator <=",
    "operator >",
    "operator >=",
    "operator +",
    "operator -",
    "operator *",
    "operator /",
];

impl DifferGenerator<'_> {
    /// Returns an evaluator that yields text, with a maximum depth.
    pub(super) fn text(&mut self, scope: EvaluatorScope, depth: usize) -> QueryPiece {
        self.text_inner(scope, depth).of(PieceKind::Text)
    }

    fn text_inner(&mut self, scope: EvaluatorScope, depth: usize) -> QueryPiece {
        let element = if scope == EvaluatorScope::Free { 0 } else { 1 };
        let member = if scope == EvaluatorScope::Member { 4 } else { 0 };
        let deep = usize::from(depth > 0);
        let looping = if self.loops > 0 { 4 } else { 0 };
        let mut options = vec![
            (8, "evaluator number"),
            (4, "evaluator string"),
            (16 * element, "evaluator t[k]"),
            (2 * element * deep, "evaluator t[...]"),
            (4 * element, "evaluator is_tag()"),
            (3 * element, "evaluator count_by_role()"),
            (3 * element, "evaluator count_distinct_by_role()"),
            (3 * element * deep, "evaluator per_member()"),
            (2 * element * deep, "evaluator per_vertex()"),
            (6, "evaluator count()"),
            (2 + looping, "evaluator set key"),
            (3 * deep, "operator !"),
            (3 * deep, "operator unary -"),
            (5 * deep, "operator ?:"),
        ];
        options.extend(PLAIN.map(|name| match name {
            "evaluator angle()" => (member, name),
            _ => (3 * element, name),
        }));
        options.extend(OF_MEMBER.map(|name| (member, name)));
        options.extend(UNARY.map(|name| (3 * deep, name)));
        options.extend(BINARY.map(|name| (2 * deep, name)));
        options.extend(AGGREGATES.map(|name| (3 * deep, name)));
        options.extend(OPERATORS.map(|name| (4 * deep, name)));
        let name = self.choose(&options);
        let word = name.split_once(' ').map_or(name, |(_, word)| word);
        let depth = depth.saturating_sub(1);
        match name {
            "evaluator number" => QueryPiece::number(*self.random.pick(&[
                "0",
                "1",
                "2",
                "-1",
                "10",
                "0.5",
                "3.75",
                "1000000",
                "12.3456789",
            ])),
            "evaluator string" => QueryPiece::from(self.literal()),
            "evaluator t[k]" => {
                let (key, _) = self.tag(None);
                row!["t[", quote(&key), "]"]
            }
            "evaluator t[...]" => row!["t[", self.text(scope, depth), "]"],
            "evaluator is_tag()" => {
                let (key, _) = self.tag(None);
                row!["is_tag(", quote(&key), ")"]
            }
            "evaluator count_members()" | "evaluator count_distinct_members()" => {
                let stem = word.trim_end_matches("()").to_owned();
                row![stem, "(", self.member_type(""), ")"]
            }
            "evaluator count_by_role()" | "evaluator count_distinct_by_role()" => {
                let sample = self.extract.near(self.anchor, Some(SourceElementType::Relation), &mut self.random);
                let role = sample.roles.first().cloned().unwrap_or_default();
                let stem = word.trim_end_matches("()").to_owned();
                row![stem, "(", quote(&role), self.member_type(","), ")"]
            }
            "evaluator per_member()" | "evaluator per_vertex()" => {
                let stem = word.trim_end_matches("()").to_owned();
                row![stem, "(", self.text(EvaluatorScope::Member, depth), ")"]
            }
            "evaluator count()" => {
                let kinds = ["nodes", "ways", "relations", "deriveds", "nwr", "nw", "wr", "nr"];
                let kind = *self.random.pick(&kinds);
                row![self.of_set(), "count(", kind, ")"]
            }
            "evaluator set key" => {
                let set = if self.loops > 0 { "_" } else { self.set_with(ELEMENTS) };
                let key = if self.random.chance(70) { "val".to_owned() } else { quote(&self.tag(None).0) };
                row![set, ".", key]
            }
            "operator !" => row!["!", self.operand(scope, depth)],
            "operator unary -" => row!["-", self.operand(scope, depth)],
            "operator ?:" => {
                row![self.operand(scope, depth), "?", self.operand(scope, depth), ":", self.operand(scope, depth)]
            }
            _ if PLAIN.contains(&name) || OF_MEMBER.contains(&name) => QueryPiece::from(word),
            _ if UNARY.contains(&name) => row![word.trim_end_matches(')'), self.text(scope, depth), ")"],
            _ if BINARY.contains(&name) => {
                row![word.trim_end_matches(')'), self.text(scope, depth), ",", self.text(scope, depth), ")"]
            }
            _ if AGGREGATES.contains(&name) => {
                row![self.of_set(), word.trim_end_matches(')'), self.text(EvaluatorScope::Element, depth), ")"]
            }
            _ => row![self.operand(scope, depth), " ", word, " ", self.operand(scope, depth)],
        }
    }

    /// An evaluator as an operand: mostly in brackets, so that it can be replaced by any other.
    fn operand(&mut self, scope: EvaluatorScope, depth: usize) -> QueryPiece {
        let inner = self.text(scope, depth);
        if self.random.chance(30) { inner } else { row!["(", inner, ")"].of(PieceKind::Text) }
    }

    fn literal(&mut self) -> String {
        let (key, value) = self.tag(None);
        quote(&match self.random.below(12) {
            10 => (*self.random.pick(&["nan", "-nan", "inf", "-inf", "0x1F", "010", "1e400", "-0", " 7"])).to_owned(),
            0 => String::new(),
            1 => self.moment(),
            2 => "2019-02".to_owned(),
            3 => "1;2; 3;a".to_owned(),
            4 => "5 m".to_owned(),
            5 => "-0.50".to_owned(),
            6 => key,
            _ => value,
        })
    }

    fn of_set(&mut self) -> QueryPiece {
        if self.random.chance(60) {
            return QueryPiece::from("");
        }
        let set = self.set_with(ELEMENTS);
        QueryPiece::from(format!("{set}.")).optional()
    }

    fn member_type(&mut self, before: &str) -> QueryPiece {
        let kind = *self.random.pick(&["", "", "nodes", "ways", "relations"]);
        if kind.is_empty() { QueryPiece::from("") } else { row![before, kind].optional() }
    }

    /// A polygon of random points: it mostly crosses itself, and now and then the antimeridian.
    fn ring(&mut self) -> QueryPiece {
        let spread = *self.random.pick(&[0.002, 0.01, 0.05]);
        let across = self.random.chance(30);
        let mut points: Vec<String> = Vec::new();
        for _ in 0..3 + self.random.below(5) {
            let (lat, lon) = self.place(spread);
            let lon = match across {
                true if self.random.chance(50) => 180.0 - lon.rem_euclid(spread),
                true => -180.0 + lon.rem_euclid(spread),
                false => lon,
            };
            points.push(format!("pt({lat:.6},{lon:.6})"));
        }
        points.push(points[0].clone());
        let items = points.into_iter().map(QueryPiece::from).collect();
        row!["poly(lstr(", QueryPiece::List { items, separator: ",", least: 4 }, "))"]
    }

    /// An evaluator that yields a geometry.
    pub(super) fn geometry(&mut self, scope: EvaluatorScope, depth: usize) -> QueryPiece {
        let deep = usize::from(depth > 0);
        let element = if scope == EvaluatorScope::Free { 0 } else { 10 };
        let name = self.choose(&[
            (element, "evaluator geom()"),
            (4, "evaluator pt()"),
            (3 * deep, "evaluator center()"),
            (3 * deep, "evaluator trace()"),
            (3 * deep, "evaluator hull()"),
            (3 * deep, "evaluator lstr()"),
            (3 * deep, "evaluator poly()"),
            (2, "evaluator poly() of a ring"),
            (5 * deep, "evaluator gcat()"),
        ]);
        let depth = depth.saturating_sub(1);
        let piece = match name {
            "evaluator geom()" => QueryPiece::from("geom()"),
            "evaluator pt()" => {
                let (lat, lon) = self.place(0.01);
                if self.random.chance(20) {
                    row!["pt(", self.text(scope, depth), ",", self.text(scope, depth), ")"]
                } else {
                    row!["pt(", degrees(lat), ",", degrees(lon), ")"]
                }
            }
            "evaluator center()" => row!["center(", self.geometry(scope, depth), ")"],
            "evaluator trace()" => row!["trace(", self.geometry(scope, depth), ")"],
            "evaluator hull()" => row!["hull(", self.geometry(scope, depth), ")"],
            "evaluator poly() of a ring" => self.ring(),
            "evaluator gcat()" => row![self.of_set(), "gcat(", self.geometry(EvaluatorScope::Element, depth), ")"],
            _ => {
                let word = if name == "evaluator lstr()" { "lstr(" } else { "poly(" };
                let mut items = Vec::new();
                for _ in 0..1 + self.random.below(4) {
                    items.push(if self.random.chance(70) {
                        let (lat, lon) = self.place(0.01);
                        row!["pt(", degrees(lat), ",", degrees(lon), ")"].of(PieceKind::Geometry)
                    } else {
                        self.geometry(scope, depth.saturating_sub(1))
                    });
                }
                row![word, QueryPiece::List { items, separator: ",", least: 1 }, ")"]
            }
        };
        piece.of(PieceKind::Geometry)
    }
}
