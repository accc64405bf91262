//! Settings and `out`.

use super::text::{degrees, quote};
use super::{AREAS, DERIVED, DifferGenerator, ELEMENTS};
use crate::piece::{PieceKind, QueryPiece, row};

const FIELDS: [&str; 17] = [
    "::id",
    "::type",
    "::otype",
    "::lat",
    "::lon",
    "::version",
    "::timestamp",
    "::changeset",
    "::uid",
    "::user",
    "::count",
    "::\"count:nodes\"",
    "::\"count:ways\"",
    "::\"count:relations\"",
    "::\"count:areas\"",
    "::\"count:tags\"",
    "::\"count:members\"",
];

impl DifferGenerator<'_> {
    /// Returns the settings with their semicolon; empty if there are no settings.
    pub(super) fn settings(&mut self) -> QueryPiece {
        let mut items = Vec::new();
        let format = self.choose(&[
            (50, "setting out:json"),
            (22, "setting out:xml"),
            (16, "setting out:csv"),
            (2, "setting out:custom"),
            (2, "setting out:popup"),
            (8, "setting out not given"),
        ]);
        match format {
            "setting out:json" => items.push(QueryPiece::from("[out:json]")),
            "setting out:xml" => items.push(QueryPiece::from("[out:xml]")),
            "setting out:csv" => items.push(self.csv()),
            "setting out:custom" => items.push(QueryPiece::from("[out:custom]")),
            "setting out:popup" => items.push(self.popup()),
            _ => {}
        }
        if self.maybe(8, "setting timeout") {
            items.push(row!["[timeout:", QueryPiece::number(20 + self.random.below(100)), "]"]);
        }
        if self.maybe(8, "setting maxsize") {
            items.push(row!["[maxsize:", *self.random.pick(&["268435456", "1073741824", "512000000"]), "]"]);
        }
        if self.maybe(8, "setting bbox") {
            items.push(row!["[bbox:", self.bounds(), "]"]);
        }
        if self.maybe(1, "setting bbox upside down") {
            items.push(self.bbox_upside_down());
        }
        // over a history file most queries ask at a date
        match self.random.below(if self.extract.history { 9 } else { 30 }) {
            0..=2 if self.note("setting date") => items.push(row!["[date:\"", self.moment(), "\"]"]),
            3..=4 if self.note("setting diff") => items.push(self.difference("diff")),
            5..=6 if self.note("setting adiff") => items.push(self.difference("adiff")),
            _ => {}
        }
        if items.is_empty() {
            return QueryPiece::from("");
        }
        let end = if self.random.chance(20) { "\n" } else { "" };
        row![QueryPiece::List { items, separator: "", least: 1 }, ";", end].optional()
    }

    /// South above north, or west of east the other way round.
    fn bbox_upside_down(&mut self) -> QueryPiece {
        let (mut south, mut west) = self.place(0.01);
        let (mut north, mut east) = (south + 0.01, west + 0.01);
        if self.random.chance(80) {
            std::mem::swap(&mut south, &mut north);
        } else {
            std::mem::swap(&mut west, &mut east);
        }
        row!["[bbox:", degrees(south), ",", degrees(west), ",", degrees(north), ",", degrees(east), "]"]
    }

    fn difference(&mut self, word: &str) -> QueryPiece {
        let (mut from, mut to) = (self.moment(), self.moment());
        if self.random.chance(50) {
            return row!["[", word, ":\"", from, "\"]"];
        }
        if from > to && !self.maybe(10, "setting diff backwards") {
            std::mem::swap(&mut from, &mut to);
        }
        row!["[", word, ":\"", from, "\",\"", to, "\"]"]
    }

    fn csv(&mut self) -> QueryPiece {
        let mut items = Vec::new();
        for _ in 0..1 + self.random.below(6) {
            items.push(if self.random.chance(60) {
                QueryPiece::from(*self.random.pick(&FIELDS))
            } else {
                let (key, _) = self.tag(None);
                QueryPiece::from(self.key(&key))
            });
        }
        let fields = QueryPiece::List { items, separator: ",", least: 1 };
        let rest = match self.random.below(4) {
            0 | 1 => QueryPiece::from(""),
            2 => QueryPiece::from(*self.random.pick(&[";true", ";false"])),
            _ => QueryPiece::from(*self.random.pick(&[";true;\"|\"", ";false;\",\"", ";true;\";\"", ";false;\"\""])),
        };
        row!["[out:csv(", fields, rest.optional(), ")]"]
    }

    fn popup(&mut self) -> QueryPiece {
        let (key, value) = self.tag(None);
        let (key, value) = (quote(&key), quote(&value));
        row![
            "[out:popup(\"Title\";[",
            key.clone(),
            "];",
            key.clone(),
            ";)(\"Other\";[",
            key.clone(),
            "=",
            value,
            "];",
            key,
            ";)]"
        ]
    }

    /// `out` with its semicolon.
    pub(super) fn out(&mut self) -> QueryPiece {
        let set = self.set_with(ELEMENTS | AREAS | DERIVED);
        let mut items = Vec::new();
        let mode = self.choose(&[
            (20, "out"),
            (8, "out ids"),
            (5, "out skel"),
            (5, "out body"),
            (6, "out tags"),
            (12, "out meta"),
            (6, "out count"),
        ]);
        items.extend(mode.strip_prefix("out ").map(QueryPiece::from));
        let geometry = self.choose(&[
            (40, "out without geometry"),
            (10, "out geom"),
            (5, "out bb"),
            (8, "out center"),
            (5, "out geom(bbox)"),
        ]);
        match geometry {
            "out geom" => items.push(QueryPiece::from("geom")),
            "out bb" => items.push(QueryPiece::from("bb")),
            "out center" => items.push(QueryPiece::from("center")),
            "out geom(bbox)" => items.push(row![
                *self.random.pick(&["geom", "geom", "geom", "", "center", "bb"]),
                "(",
                self.bounds(),
                ")"
            ]),
            _ => {}
        }
        if self.maybe(5, "out noids") {
            items.push(QueryPiece::from("noids"));
        }
        if self.maybe(15, "out qt") {
            items.push(QueryPiece::from("qt"));
        } else if self.maybe(5, "out asc") {
            items.push(QueryPiece::from("asc"));
        }
        if self.maybe(15, "out limit") {
            items.push(QueryPiece::number(*self.random.pick(&[0, 1, 2, 5, 20])));
        }
        if items.len() > 1 && self.random.chance(30) {
            let last = items.remove(0);
            items.push(last);
        }
        let from = if set == "_" && self.random.chance(95) { String::new() } else { format!(".{set} ") };
        let space = if items.is_empty() { "" } else { " " };
        row![from, "out", space, QueryPiece::List { items, separator: " ", least: 0 }, ";"].of(PieceKind::Statement)
    }
}
