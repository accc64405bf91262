//! Generates queries with mistakes: those that people and models make, and typing errors.

use super::DifferGenerator;
use super::text::degrees;
use crate::piece::QueryPiece;

/// Words and signs that come where they do not belong.
const STRAYS: [&str; 44] = [
    ";",
    ")",
    "(",
    "}",
    "{",
    "[",
    "]",
    "\"",
    "'",
    ",",
    ":",
    "->",
    ".",
    "~",
    "!",
    "=",
    "==",
    "-",
    "/*",
    "//",
    "\\",
    "&",
    "0",
    "-1",
    "1.5",
    "99999999999999999999",
    "node",
    "way",
    "out",
    "foo",
    "x y",
    "\"x y\"",
    "_",
    "._",
    ".a",
    "->.a",
    "\"\\u00zz\"",
    "\"\\u00e9\"",
    "\"\\x\"",
    "é",
    BAD_BYTE,
    "qt",
    "{{bbox}}",
    "::id",
];

/// The placeholder for a byte that is not valid UTF-8; see `source::bytes`.
pub const BAD_BYTE: &str = "\u{10FFFF}";

/// Statements with a mistake in them; `LAT`, `LON` and `ID` are filled in.
const MISTAKES: [&str; 79] = [
    "out foo;",
    "out body foo;",
    "out quirks;",
    "out quirks geom;",
    "out geom skel foo qt;",
    "out 5 5;",
    "out meta ids;",
    "out qt asc;",
    "out geom center;",
    "out (1,2,3);",
    "out geom(LAT,LON);",
    "out count geom(1,2,0,4);",
    "make \"x y\" a=1;",
    "make 999999999999 v=1;",
    "make é v=1;",
    "make a b;",
    "make a b=;",
    "make a ::id=1,::id=2;",
    "make a b=1,b=2;",
    "make a =1;",
    "make a b=foo(1);",
    "make a b=t[\"x\"];",
    "make a b=id();",
    "make a b=count(foo);",
    "make a b=count();",
    "make a b=1+;",
    "make a b=(1;",
    "convert a b=foo(),c=bar(1);",
    "convert a b=1+,c=2;",
    "convert a b=count_members(foo),::id=x(),d=nope;",
    "convert a ::geom=1,b=geom();",
    "convert a b=per_member(1,2),c=u(1,2);",
    "convert a b=number(),c=date(1,2);",
    "convert a;",
    "node(id:1,);",
    "node(id:\"1\");",
    "node(id:ID,foo);",
    "node(-5);",
    "node(0);",
    "node(99999999999999999999);",
    "way(18446744073709551617);",
    "rel(4294967297);",
    "node(area:\"3600000001\");",
    "node(area:1);",
    "node(around:5,LAT,LON,);",
    "node(around:5,LAT);",
    "node(around:-5,LAT,LON);",
    "node(around:5,LAT,1000);",
    "node(around:x,LAT,LON);",
    "node(LAT,LON,LAT);",
    "node(LON,LAT,LAT,LON);",
    "node(95,LON,96,LON);",
    "node(poly:\"LAT LON LAT\");",
    "node(poly:\"1 2 3 4\");",
    "node[name~\"(\"];",
    "node[~\"a\"=\"b\"];",
    "node[name~\"a\",x];",
    "node[name=];",
    "node[];",
    "node;",
    "(node(1)-);",
    "(node(1);node(2)-node(3);node(4););",
    "(out;);",
    "(way(1)->.;);",
    "(node(1);way(2)->.a;.a->.;);",
    "node(1)->.;",
    "node(if:::uid);",
    "node(1)(if:::user);",
    "node(1)(if:::id==1);",
    "if{out;}",
    "if(){out;}",
    "for{out;}",
    "retro{out;}",
    "make a b=lrs_union(1,);",
    "make a b=lrs_isect(,1);",
    "make a b=lrs_in(foo(),bar());",
    "make a b=lrs_union(foo(),1);",
    "make a b=lrs_union(1,foo());",
    "(node(1);foreach{out;});",
];

/// Settings with a mistake in them.
const SETTINGS: [&str; 24] = [
    "[out:foo]",
    "[out:json][out:xml]",
    "[timeout:0]",
    "[timeout:-1]",
    "[timeout:x]",
    "[timeout:\"60\"]",
    "[maxsize:0]",
    "[maxsize:x]",
    "[date:\"x\"]",
    "[date:2015]",
    "[diff:\"x\"]",
    "[diff]",
    "[bbox]",
    "[bbox:1,2,3]",
    "[bbox:1,2,3,x]",
    "[bbox:100,2,101,4]",
    "[foo:1]",
    "[out:csv]",
    "[out:csv()]",
    "[out:csv(name;x)]",
    "[out:csv(name;true;x)]",
    "[out:csv(name;true;\"x\";y)]",
    "[out:csv(::foo)]",
    "[out:popup()]",
];

impl DifferGenerator<'_> {
    /// A query with one mistake or two.
    pub(super) fn broken(&mut self) -> QueryPiece {
        let whole = if self.random.chance(12) { self.xml() } else { self.settled() };
        let mut parts = tokens(&whole.to_string());
        for _ in 0..*self.random.pick(&[1, 1, 1, 2]) {
            self.slip(&mut parts);
        }
        let items = parts.into_iter().map(QueryPiece::from).collect();
        QueryPiece::List { items, separator: "", least: 1 }
    }

    /// Makes a mistake.
    fn slip(&mut self, parts: &mut Vec<String>) {
        let at = self.random.below(parts.len());
        match self.random.below(13) {
            0 | 1 if parts.len() > 1 => drop(parts.remove(at)),
            2 => parts.insert(at, parts[at].clone()),
            3 if at + 1 < parts.len() => parts.swap(at, at + 1),
            4 => parts.truncate(at + 1),
            5 => parts[at] = (*self.random.pick(&STRAYS)).to_owned(),
            6 => parts.insert(at, (*self.random.pick(&STRAYS)).to_owned()),
            7 => {
                // A letter of a word is lost or doubled.
                let letters: Vec<char> = parts[at].chars().collect();
                let lost = self.random.below(letters.len());
                let kept = letters.iter().enumerate().filter(|(i, _)| *i != lost).map(|(_, c)| *c);
                parts[at] = kept.collect();
            }
            8 => parts.insert(0, (*self.random.pick(&SETTINGS)).to_owned()),
            _ => {
                let statement = self.mistake();
                let ends: Vec<usize> = (0..parts.len()).filter(|&i| parts[i] == ";").collect();
                let at = if ends.is_empty() { parts.len() } else { ends[self.random.below(ends.len())] + 1 };
                parts.insert(at, statement);
            }
        }
    }

    fn mistake(&mut self) -> String {
        let (lat, lon) = self.place(0.01);
        let id = self.extract.near(self.anchor, None, &mut self.random).id;
        let text = *self.random.pick(&MISTAKES);
        let text = text.replace("LAT", &degrees(lat).to_string()).replace("LON", &degrees(lon).to_string());
        text.replace("ID", &id.to_string())
    }
}

/// Splits a query into words, strings, numbers, signs and the text between them.
fn tokens(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let mut token = String::from(c);
        if c == '"' {
            while let Some(next) = chars.next() {
                token.push(next);
                match next {
                    '\\' => token.extend(chars.next()),
                    '"' => break,
                    _ => {}
                }
            }
        } else if c.is_alphanumeric() || c == '_' {
            while let Some(next) = chars.next_if(|n| n.is_alphanumeric() || matches!(n, '_' | '.')) {
                token.push(next);
            }
        } else if c.is_whitespace() {
            while let Some(next) = chars.next_if(|n| n.is_whitespace()) {
                token.push(next);
            }
        }
        found.push(token);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_queries_apart() {
        let query = "[out:json];way[name=\"a \\\" b\"](1.5,2)->.a;\nout  qt;";
        let parts = tokens(query);
        assert_eq!(parts.concat(), query);
        assert!(parts.contains(&"\"a \\\" b\"".to_owned()) && parts.contains(&"1.5".to_owned()), "{parts:?}");
    }
}
