//! A query as a tree of pieces that knows how it can become smaller and stay a query.

use std::fmt;

/// The sort of a piece. Pieces of the same sort can replace each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// A statement with its semicolon.
    Statement,
    /// An evaluator that yields text.
    Text,
    /// An evaluator that yields a geometry.
    Geometry,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryPiece {
    /// Fixed text.
    Fixed(String),
    /// A number, which can become simpler.
    Number(String),
    /// Parts one after the other.
    Row(Vec<QueryPiece>),
    /// May be left out.
    Optional(Box<QueryPiece>),
    /// Any number of items, but at least `least`, with something between them.
    List {
        /// The items.
        items: Vec<QueryPiece>,
        /// The text between them.
        separator: &'static str,
        /// The fewest.
        least: usize,
    },
    /// Can be replaced by any part of the same sort in it.
    Of(PieceKind, Box<QueryPiece>),
}

impl fmt::Display for QueryPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryPiece::Fixed(text) | QueryPiece::Number(text) => f.write_str(text),
            QueryPiece::Row(parts) => parts.iter().try_for_each(|part| part.fmt(f)),
            QueryPiece::Optional(part) | QueryPiece::Of(_, part) => part.fmt(f),
            QueryPiece::List { items, separator, .. } => items.iter().enumerate().try_for_each(|(i, item)| {
                if i > 0 {
                    f.write_str(separator)?;
                }
                item.fmt(f)
            }),
        }
    }
}

impl From<&str> for QueryPiece {
    fn from(text: &str) -> Self {
        QueryPiece::Fixed(text.to_owned())
    }
}

impl From<String> for QueryPiece {
    fn from(text: String) -> Self {
        QueryPiece::Fixed(text)
    }
}

/// Parts one after the other.
macro_rules! row {
    ($($part:expr),* $(,)?) => { $crate::piece::QueryPiece::Row(vec![$($crate::piece::QueryPiece::from($part)),*]) };
}
pub(crate) use row;

impl QueryPiece {
    /// A number.
    pub fn number(value: impl ToString) -> Self {
        QueryPiece::Number(value.to_string())
    }

    /// A part that may be left out.
    pub fn optional(self) -> Self {
        QueryPiece::Optional(Box::new(self))
    }

    /// A part of a sort.
    pub fn of(self, sort: PieceKind) -> Self {
        QueryPiece::Of(sort, Box::new(self))
    }

    /// All that is one step smaller, the biggest steps first.
    pub fn smaller(&self) -> Vec<QueryPiece> {
        let mut found = Vec::new();
        self.steps(&mut |piece| found.push(piece));
        // A shorter text counts as a bigger step.
        found.sort_by_key(|piece| piece.to_string().len());
        found
    }

    fn steps(&self, emit: &mut dyn FnMut(QueryPiece)) {
        match self {
            QueryPiece::Fixed(_) => {}
            QueryPiece::Number(text) => simpler(text).into_iter().for_each(|text| emit(QueryPiece::Number(text))),
            QueryPiece::Row(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    part.steps(&mut |smaller| {
                        let mut parts = parts.clone();
                        parts[i] = smaller;
                        emit(QueryPiece::Row(parts));
                    });
                }
            }
            QueryPiece::Optional(part) => {
                emit(QueryPiece::Row(Vec::new()));
                part.steps(&mut |smaller| emit(smaller.optional()));
            }
            QueryPiece::List { items, separator, least } => {
                let with = |items| QueryPiece::List { items, separator, least: *least };
                // Halves first, then one by one.
                let half = items.len() / 2;
                if half > 1 && items.len() - half >= *least {
                    emit(with(items[half..].to_vec()));
                    emit(with(items[..items.len() - half].to_vec()));
                }
                for (i, item) in items.iter().enumerate() {
                    if items.len() > *least {
                        let mut items = items.clone();
                        items.remove(i);
                        emit(with(items));
                    }
                    // A statement with statements in it can be replaced by all of them.
                    let mut inner = Vec::new();
                    if let QueryPiece::Of(PieceKind::Statement, part) = item {
                        part.parts(PieceKind::Statement, &mut inner);
                    }
                    if inner.len() > 1 {
                        let mut items = items.clone();
                        items.splice(i..=i, inner);
                        emit(with(items));
                    }
                    item.steps(&mut |smaller| {
                        let mut items = items.clone();
                        items[i] = smaller;
                        emit(with(items));
                    });
                }
            }
            QueryPiece::Of(sort, part) => {
                let mut inner = Vec::new();
                part.parts(*sort, &mut inner);
                inner.into_iter().for_each(&mut *emit);
                let simplest: &[&str] = match sort {
                    PieceKind::Statement => &[],
                    PieceKind::Text => &["1", "id()"],
                    PieceKind::Geometry => &["geom()", "pt(0,0)"],
                };
                let now = part.to_string();
                if let Some(at) = simplest.iter().position(|simple| *simple == now) {
                    simplest[..at].iter().for_each(|simple| emit(QueryPiece::from(*simple).of(*sort)));
                } else {
                    simplest.iter().for_each(|simple| emit(QueryPiece::from(*simple).of(*sort)));
                }
                part.steps(&mut |smaller| emit(smaller.of(*sort)));
            }
        }
    }

    /// The topmost parts of a sort.
    fn parts(&self, sort: PieceKind, found: &mut Vec<QueryPiece>) {
        match self {
            QueryPiece::Fixed(_) | QueryPiece::Number(_) => {}
            QueryPiece::Of(own, _) if *own == sort => found.push(self.clone()),
            QueryPiece::Row(parts) | QueryPiece::List { items: parts, .. } => {
                parts.iter().for_each(|part| part.parts(sort, found));
            }
            QueryPiece::Optional(part) | QueryPiece::Of(_, part) => part.parts(sort, found),
        }
    }
}

/// Simpler numbers than one.
fn simpler(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut add = |simple: String| {
        if simple != text && !found.contains(&simple) {
            found.push(simple);
        }
    };
    if let Some((whole, digits)) = text.split_once('.') {
        // A coordinate stays near where it was.
        if digits.len() < 4 && whole.len() < 2 {
            add(whole.to_owned());
        }
        for keep in [2, 3, 5] {
            if keep < digits.len() && (keep > 2 || whole.len() < 2) {
                add(format!("{whole}.{}", &digits[..keep]));
            }
        }
    } else if !matches!(text, "0" | "1") {
        add("1".to_owned());
        if text.len() > 1 {
            add(text[..text.len() - 1].trim_end_matches('-').to_owned());
        }
    }
    found.retain(|simple| !simple.is_empty() && simple.len() <= text.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn becomes_smaller_down_to_its_core() {
        let statement = |text: &str| QueryPiece::from(text).of(PieceKind::Statement);
        let block = row!["foreach(", row![statement("a;"), statement("b;")], ");"].of(PieceKind::Statement);
        let query = QueryPiece::List { items: vec![statement("x;"), block], separator: "", least: 1 };
        let all: Vec<String> = query.smaller().iter().map(QueryPiece::to_string).collect();
        assert_eq!(all, ["x;", "x;a;", "x;b;", "x;a;b;", "foreach(a;b;);"]);
        let number: Vec<String> = QueryPiece::number(12.3456).smaller().iter().map(QueryPiece::to_string).collect();
        assert_eq!(number, ["12.345"]);
        assert!(QueryPiece::number(1).smaller().is_empty());
    }
}
