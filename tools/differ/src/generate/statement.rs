//! Statements.

use terrapin_loaders::SourceElementType;

use super::expression::EvaluatorScope;
use super::text::{degrees, quote};
use super::{AREAS, DERIVED, DifferGenerator, ELEMENTS, Holds, NODES, RELATIONS, WAYS, bit};
use crate::piece::{PieceKind, QueryPiece, row};

impl DifferGenerator<'_> {
    /// A whole query.
    pub(super) fn script(&mut self) -> QueryPiece {
        if !self.wanted.is_empty() {
            return self.settled();
        }
        if self.maybe(6, "language XML") {
            return self.xml();
        }
        if self.maybe(14, "language broken") {
            return self.broken();
        }
        self.settled()
    }

    /// A whole query of statements that the language allows.
    pub(super) fn settled(&mut self) -> QueryPiece {
        let settings = self.settings();
        let mut items = Vec::new();
        if self.random.chance(12) {
            items.push(self.areas());
        }
        items.push(self.query_statement());
        for _ in 0..*self.random.pick(&[0, 0, 1, 1, 2, 3]) {
            items.push(self.statement(2));
        }
        for _ in 0..6 {
            match self.wanted.front() {
                Some(name) if name.starts_with("statement ") => items.push(self.statement(2)),
                Some(_) => items.push(self.query_statement()),
                None => break,
            }
        }
        items.push(self.out());
        row![settings, QueryPiece::List { items, separator: "", least: 1 }]
    }

    /// `area(...)->.a;`
    fn areas(&mut self) -> QueryPiece {
        self.note("query area");
        let query = self.query_of("area", AREAS);
        let into = self.into(AREAS);
        row![query, into, ";"].of(PieceKind::Statement)
    }

    fn query_statement(&mut self) -> QueryPiece {
        let (query, holds) = self.query();
        let into = self.into(holds);
        row![query, into, ";"].of(PieceKind::Statement)
    }

    /// Returns any statement with its semicolon, with a maximum depth of nested statements.
    pub(super) fn statement(&mut self, depth: usize) -> QueryPiece {
        let deep = usize::from(depth > 0);
        let name = self.choose(&[
            (24, "statement query"),
            (6 * deep, "statement union"),
            (5 * deep, "statement difference"),
            (deep, "statement difference of one"),
            (2, "statement item"),
            (4, "statement >"),
            (4, "statement >>"),
            (4, "statement <"),
            (4, "statement <<"),
            (2, "statement is_in point"),
            (3, "statement is_in set"),
            (4, "statement map_to_area"),
            (5 * deep, "statement foreach"),
            (5 * deep, "statement for"),
            (5 * deep, "statement if"),
            (3 * deep, "statement complete"),
            (3 * deep, "statement retro"),
            (2, "statement timeline"),
            (3, "statement compare"),
            (6, "statement make"),
            (7, "statement convert"),
            (2, "statement local"),
            (8, "statement out"),
        ]);
        let piece = match name {
            "statement query" => return self.query_statement(),
            "statement out" => return self.out(),
            "statement union" => {
                let mut items = Vec::new();
                let mut holds = 0;
                for _ in 0..1 + self.random.below(3) {
                    items.push(self.part(depth - 1, &mut holds));
                }
                row!["(", list(items, 1), ")", self.into(holds), ";"]
            }
            "statement difference" => {
                let (mut holds, mut other) = (0, 0);
                let (base, minus) = (self.part(depth - 1, &mut holds), self.part(depth - 1, &mut other));
                row!["(", base, "-", minus, ")", self.into(holds), ";"]
            }
            "statement difference of one" => {
                let mut holds = 0;
                let base = self.part(depth - 1, &mut holds);
                row!["(", base, "-);"]
            }
            "statement item" => {
                let set = self.set_with(ELEMENTS | AREAS | DERIVED);
                let holds = self.holds(set);
                row![format!(".{set}"), self.into(holds), ";"]
            }
            "statement >" | "statement >>" | "statement <" | "statement <<" => self.recurse(name),
            "statement is_in point" => {
                let (lat, lon) = self.place(0.01);
                row!["is_in(", degrees(lat), ",", degrees(lon), ")", self.into(AREAS | WAYS), ";"]
            }
            "statement is_in set" => {
                let set = self.set_with(NODES);
                row![self.before(set), "is_in", self.into(AREAS | WAYS), ";"]
            }
            "statement map_to_area" => {
                let set = self.set_with(WAYS | RELATIONS);
                row![self.before(set), "map_to_area", self.into(AREAS), ";"]
            }
            "statement foreach" => {
                let set = self.set_with(ELEMENTS);
                let holds = self.holds(set);
                let before = self.sets.clone();
                let (from, into) = (self.from(set), self.into(holds));
                let body = self.body(depth - 1);
                self.sets = before;
                if self.random.chance(50) {
                    row!["foreach", from, into, "(", body, ");"]
                } else {
                    row!["foreach", from, into, "{", body, "}"]
                }
            }
            "statement for" => self.for_each_value(depth),
            "statement if" => {
                let condition = self.text(EvaluatorScope::Free, 2);
                let then = self.body(depth - 1);
                let otherwise = if self.maybe(60, "statement else") {
                    row!["else{", self.body(depth - 1), "}"].optional()
                } else {
                    QueryPiece::from("")
                };
                row!["if(", condition, "){", then, "}", otherwise]
            }
            "statement complete" => {
                let set = self.set_with(ELEMENTS);
                let from = self.from(set);
                let limit = if self.maybe(70, "statement complete(n)") {
                    row!["(", QueryPiece::number(1 + self.random.below(4)), ")"]
                } else {
                    QueryPiece::from("")
                };
                let into = if self.random.chance(30) { self.into(ELEMENTS) } else { QueryPiece::from("") };
                row!["complete", limit, from, into, "{", self.body(depth - 1), "};"]
            }
            "statement retro" => {
                let at = if self.random.chance(70) {
                    QueryPiece::from(quote(&self.moment())).of(PieceKind::Text)
                } else {
                    row!["u(timestamp())"].of(PieceKind::Text)
                };
                self.retro += 1;
                let body = self.body(depth - 1);
                self.retro -= 1;
                row!["retro(", at, "){", body, "}"]
            }
            "statement timeline" => self.timeline(),
            "statement compare" => {
                let set = self.set_with(ELEMENTS);
                let from = self.before(set);
                let delta = row!["(delta:", self.text(EvaluatorScope::Element, 1), ")"].optional();
                let into = self.into(ELEMENTS | DERIVED);
                if depth > 0 && self.random.chance(30) {
                    row![from, "compare", delta, into, "{", self.body(depth - 1), "};"]
                } else {
                    row![from, "compare", delta, into, ";"]
                }
            }
            "statement make" => self.produce("make", EvaluatorScope::Free),
            "statement convert" => self.produce("convert", EvaluatorScope::Element),
            _ => {
                let set = self.set_with(ELEMENTS);
                let detail = *self.random.pick(&["", " l", " ll", " llb"]);
                let bounds = if self.random.chance(25) { row!["(", self.bounds(), ")"] } else { QueryPiece::from("") };
                row![self.before(set), "local", detail, bounds.optional(), self.into(DERIVED), ";"]
            }
        };
        piece.of(PieceKind::Statement)
    }

    /// Returns `.a `, or usually no text for the default set.
    fn before(&mut self, set: &'static str) -> QueryPiece {
        if set == "_" && self.random.chance(90) { QueryPiece::from("") } else { QueryPiece::from(format!(".{set} ")) }
    }

    /// Returns a statement of a union, and adds the types that it yields to `holds`.
    fn part(&mut self, depth: usize, holds: &mut Holds) -> QueryPiece {
        match self.random.below(10) {
            0..=5 => {
                self.note("statement query");
                let (query, found) = self.query();
                *holds |= found;
                row![query, self.into(found), ";"].of(PieceKind::Statement)
            }
            6 | 7 => {
                self.note("statement item");
                let set = self.set_with(ELEMENTS | AREAS);
                *holds |= self.holds(set);
                row![format!(".{set};")].of(PieceKind::Statement)
            }
            8 => {
                let name =
                    self.choose(&[(1, "statement >"), (1, "statement >>"), (1, "statement <"), (1, "statement <<")]);
                *holds |= ELEMENTS;
                self.recurse(name).of(PieceKind::Statement)
            }
            _ => {
                *holds |= ELEMENTS;
                self.statement(depth)
            }
        }
    }

    fn body(&mut self, depth: usize) -> QueryPiece {
        let mut items = vec![self.statement(depth)];
        for _ in 0..*self.random.pick(&[0, 0, 1, 1, 2]) {
            items.push(self.statement(depth));
        }
        list(items, 0)
    }

    fn recurse(&mut self, name: &str) -> QueryPiece {
        let word = name.trim_start_matches("statement ").to_owned();
        let (wanted, found) = match word.starts_with('>') {
            true => (WAYS | RELATIONS, ELEMENTS),
            false => (ELEMENTS, WAYS | RELATIONS),
        };
        let set = self.set_with(wanted);
        row![self.before(set), word, self.into(found), ";"]
    }

    fn for_each_value(&mut self, depth: usize) -> QueryPiece {
        let set = self.set_with(ELEMENTS);
        let holds = self.holds(set);
        let before = self.sets.clone();
        let from = self.from(set);
        let by = if self.maybe(15, "evaluator keys()") {
            QueryPiece::from("keys()")
        } else if self.maybe(15, "statement for of its set") {
            self.of_all(set)
        } else {
            self.text(EvaluatorScope::Element, 1)
        };
        let into = self.into(holds);
        self.loops += 1;
        let body = self.body(depth - 1);
        self.loops -= 1;
        self.sets = before;
        if self.random.chance(60) {
            row!["for", from, into, "(", by, "){", body, "}"]
        } else {
            row!["for", from, into, "(", by, ")(", body, ");"]
        }
    }

    /// Returns a value computed over the set of a loop, or over the set to which the loop assigns the elements with a
    /// value.
    fn of_all(&mut self, set: &str) -> QueryPiece {
        let set = if self.random.chance(50) { "_" } else { set };
        match self.random.below(3) {
            0 => row![format!("{set}.count("), *self.random.pick(&["nodes", "ways", "relations", "nwr"]), ")"],
            1 => row!["count(", *self.random.pick(&["nodes", "ways", "relations", "nwr"]), ")"],
            _ => row![format!("{set}."), *self.random.pick(&["set(id())", "sum(1)", "u(type())", "min(id())"])],
        }
        .of(PieceKind::Text)
    }

    fn timeline(&mut self) -> QueryPiece {
        let kind = self.kind();
        let word = match kind {
            SourceElementType::Node => "node",
            SourceElementType::Way => "way",
            SourceElementType::Relation => "rel",
        };
        let id = self.extract.near(self.anchor, Some(kind), &mut self.random).id;
        let version = if self.random.chance(40) {
            row![",", QueryPiece::number(1 + self.random.below(4))].optional()
        } else {
            QueryPiece::from("")
        };
        let found = row!["timeline(", word, ",", QueryPiece::from(id.to_string()), version, ")"];
        if self.maybe(40, "statement retro") {
            self.sets.insert("_", bit(kind));
            return row![found, ";for(t[\"created\"]){retro(_.val){", word, format!("({id})"), ";out meta;}}"];
        }
        row![found, self.into(DERIVED), ";"]
    }

    fn produce(&mut self, word: &str, scope: EvaluatorScope) -> QueryPiece {
        let set = if word == "convert" { self.set_with(ELEMENTS) } else { "_" };
        let mut items = Vec::new();
        let mut keys: Vec<String> = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let name = self.choose(&[
                (20, "property key"),
                (4, "property ::id"),
                (6, "property ::geom"),
                (2, "property !key"),
                (if scope == EvaluatorScope::Free { 1 } else { 4 }, "property ::"),
            ]);
            let (key, _) = self.tag(None);
            // No property may be set twice.
            let target = if name.ends_with("key") { key.clone() } else { name.to_owned() };
            if keys.contains(&target) && self.random.chance(95) {
                continue;
            }
            keys.push(target);
            items.push(match name {
                "property ::id" => row!["::id=", self.text(scope, 1)],
                "property ::geom" => row!["::geom=", self.geometry(scope, 2)],
                "property !key" => row!["!", self.key(&key)],
                "property ::" if self.random.chance(70) => QueryPiece::from("::=::"),
                "property ::" => row!["::=", self.text(scope, 1)],
                _ => row![self.key(&key), "=", self.text(scope, 3)],
            });
        }
        let properties = QueryPiece::List { items, separator: ",", least: 1 };
        let into = self.into(DERIVED);
        row![self.before(set), word, " made ", properties, into, ";"]
    }
}

fn list(items: Vec<QueryPiece>, least: usize) -> QueryPiece {
    QueryPiece::List { items, separator: "", least }
}
