//! Writes random terms in each format and reads them with another parser. The terms must be equal, or the format must
//! have rejected them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use oxrdf::{BaseDirection, BlankNode, NamedNode};
use oxrdfio::{JsonLdProfileSet, RdfParser};
use sparesults::{QueryResultsParser, ReaderQueryResultsParserOutput};

use super::*;

/// A pseudo-random number generator with a fixed seed.
struct ResultTestRandom(u64);

impl ResultTestRandom {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn one<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.below(list.len())]
    }

    /// Returns a text that mixes pieces that formats must escape with harmless ones.
    fn text(&mut self) -> String {
        const PIECES: &[&str] = &[
            "a",
            "b c",
            "",
            " ",
            "\t",
            "\n",
            "\r",
            "\r\n",
            "\"",
            "'",
            "\\",
            "\\n",
            "<",
            ">",
            "&",
            "&amp;",
            "]]>",
            ",",
            ";",
            "\0",
            "\u{1}",
            "\u{8}",
            "\u{b}",
            "\u{1b}",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{fffd}",
            "\u{fffe}",
            "\u{ffff}",
            "\u{ff0c}",
            "é",
            "ß",
            "漢",
            "\u{1f40c}",
            "\u{e000}",
            "_:",
            "@en",
            "^^",
            "{",
            "}",
            "true",
            "1",
            "-1.5e3",
            "\u{feff}",
        ];
        // Most texts contain only pieces that every format accepts.
        let pieces = if self.below(4) == 0 { PIECES.len() } else { 19 };
        (0..self.below(5)).map(|_| self.one(&PIECES[..pieces])).collect()
    }

    fn iri(&mut self) -> NamedNode {
        const STARTS: &[&str] = &["http://e/", "https://www.openstreetmap.org/wiki/Key:", "urn:x:", "http://e/a#"];
        const PIECES: &[&str] =
            &["a", "1", "name", "é", ",", "'", "&", "?q=1&r=2", "%20", "-", ".", ":", "(", ")", "漢", "~", "x-1"];
        let mut iri = self.one(STARTS).to_owned();
        (0..=self.below(4)).for_each(|_| iri.push_str(self.one(PIECES)));
        NamedNode::new(iri).unwrap()
    }

    fn literal(&mut self) -> Literal {
        let text = self.text();
        match self.below(5) {
            4 => {
                let direction = [BaseDirection::Ltr, BaseDirection::Rtl][self.below(2)];
                Literal::new_directional_language_tagged_literal(text, self.one(&["ar", "en-gb"]), direction).unwrap()
            }
            0 => Literal::new_language_tagged_literal(text, self.one(&["en", "de-ch", "zh-hant"])).unwrap(),
            1 => Literal::new_typed_literal(text, self.iri()),
            2 => Literal::from(self.below(1000) as i64),
            _ => Literal::new_simple_literal(text),
        }
    }

    fn term(&mut self) -> Term {
        match self.below(5) {
            0 | 1 => self.iri().into(),
            2 => BlankNode::new(format!("b{}", self.below(9))).unwrap().into(),
            _ => self.literal().into(),
        }
    }
}

/// Returns a term that is a triple term in one of eight rounds.
fn term_of(random: &mut ResultTestRandom, round: usize) -> Term {
    if round % 8 != 7 {
        return random.term();
    }
    // Parsers rename blank nodes.
    let object = random.literal();
    let inner = Triple::new(random.iri(), random.iri(), object);
    if round % 16 == 7 { inner.into() } else { Triple::new(random.iri(), random.iri(), inner).into() }
}

/// Returns the predicates of a triple and of the triple terms in it.
fn predicates(triple: &Triple) -> Vec<&str> {
    let inner = match &triple.object {
        Term::Triple(inner) => predicates(inner),
        _ => Vec::new(),
    };
    [vec![triple.predicate.as_str()], inner].concat()
}

/// Returns whether a text contains characters that XML 1.0 cannot represent (section 2.2).
fn is_outside_xml(text: &str) -> bool {
    text.contains(|c| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}'))
}

fn value(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::BlankNode(node) => node.to_string(),
        Term::Literal(literal) => literal.value().to_owned(),
        Term::Triple(triple) => value(&triple.object),
    }
}

fn solutions(formats: Formats, rows: &[[Option<Term>; 2]]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer = ResultWriter::new(&mut out, formats);
    writer.variables(&["x", "y"].map(Variable::new_unchecked))?;
    rows.iter().try_for_each(|row| writer.solution(row))?;
    writer.finish()?;
    Ok(out)
}

#[test]
fn solutions_are_read_back_equal_or_refused() {
    let mut random = ResultTestRandom(7);
    let mut refused = 0;
    for round in 0..4000 {
        let row = [Some(term_of(&mut random, round)), (random.below(9) > 0).then(|| random.term())];
        for format in [QueryResultsFormat::Json, QueryResultsFormat::Xml, QueryResultsFormat::Tsv] {
            let formats = Formats { solutions: format, ..Formats::default() };
            let bytes = match solutions(formats, std::slice::from_ref(&row)) {
                Ok(bytes) => bytes,
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                    assert!(
                        format == QueryResultsFormat::Xml && row.iter().flatten().any(|t| is_outside_xml(&value(t)))
                    );
                    refused += 1;
                    continue;
                }
            };
            let parser = QueryResultsParser::from_format(format);
            let Ok(ReaderQueryResultsParserOutput::Solutions(read)) = parser.for_reader(&*bytes) else { panic!() };
            let read: Vec<Vec<Option<Term>>> = read
                .map(|solution| solution.map(|solution| solution.values().to_vec()))
                .collect::<Result<_, _>>()
                .unwrap_or_else(|error| {
                    panic!("{round} {format}: {row:?}: {error}\n{}", String::from_utf8_lossy(&bytes))
                });
            assert_eq!(read, [row.to_vec()], "{format}\n{}", String::from_utf8_lossy(&bytes));
        }
    }
    assert!(refused > 100, "{refused}");
}

fn graph(format: RdfFormat, triple: &Triple) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut writer = ResultWriter::new(&mut out, Formats { triples: GraphFormat::Rdf(format), ..Formats::default() });
    writer.triple(triple)?;
    writer.finish()?;
    Ok(out)
}

#[test]
fn triples_are_read_back_equal_or_refused() {
    let mut random = ResultTestRandom(8);
    let mut refused = 0;
    for round in 0..4000 {
        let (subject, predicate) = (random.iri(), random.iri());
        let predicate = if round % 8 == 0 { oxrdf::vocab::rdf::TYPE.into_owned() } else { predicate };
        let object = match term_of(&mut random, round) {
            // Parsers rename blank nodes.
            Term::BlankNode(_) => random.literal().into(),
            object => object,
        };
        let triple = Triple::new(subject, predicate, object);
        for format in [
            RdfFormat::Turtle,
            RdfFormat::NTriples,
            RdfFormat::RdfXml,
            RdfFormat::N3,
            RdfFormat::NQuads,
            RdfFormat::TriG,
            RdfFormat::JsonLd { profile: JsonLdProfileSet::empty() },
        ] {
            // N3 and JSON-LD 1.1 have neither triple terms nor the datatype of base directions.
            let is_new = match &triple.object {
                Term::Triple(_) => true,
                Term::Literal(literal) => literal.direction().is_some(),
                _ => false,
            };
            if is_new && matches!(format, RdfFormat::N3 | RdfFormat::JsonLd { .. }) {
                continue;
            }
            let bytes = match graph(format, &triple) {
                Ok(bytes) => bytes,
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
                    // If some suffix of it is an XML name, a letter follows the last character that a name cannot
                    // contain.
                    let is_unnamed = predicates(&triple).iter().any(|iri| {
                        let named = iri.rsplit(|c: char| !c.is_alphanumeric() && !"-._".contains(c)).next();
                        !named.unwrap_or_default().contains(char::is_alphabetic)
                    });
                    let is_outside = is_outside_xml(&value(&triple.object));
                    assert!(format == RdfFormat::RdfXml && (is_unnamed || is_outside), "{format} {triple}: {error}");
                    refused += 1;
                    continue;
                }
            };
            let read: Vec<Triple> = RdfParser::from_format(format)
                .for_reader(&*bytes)
                .map(|quad| quad.map(Triple::from))
                .collect::<Result<_, _>>()
                .unwrap_or_else(|error| panic!("{format}: {triple}: {error}\n{}", String::from_utf8_lossy(&bytes)));
            assert_eq!(read, std::slice::from_ref(&triple), "{format}\n{}", String::from_utf8_lossy(&bytes));
        }
    }
    assert!(refused > 100, "{refused}");
}

/// Prints the texts of a file as JSON: those of all elements or cells, in order.
const READER: &str = r#"
import csv, io, json, sys, xml.etree.ElementTree as tree
kind, data = sys.argv[1], sys.stdin.buffer.read()
if kind == "csv":
    print(json.dumps(list(csv.reader(io.StringIO(data.decode(), newline="")))[1:]))
else:
    print(json.dumps([element.text or "" for element in tree.fromstring(data).iter()
                      if element.tag.endswith(("uri", "literal", "bnode"))]))
"#;

/// Reads the bytes with Python's own parser. Returns `None` if Python is not installed.
fn by_python(kind: &str, bytes: &[u8]) -> Option<serde_json::Value> {
    let mut python = Command::new("python3");
    python.args(["-c", READER, kind]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut python = python.spawn().ok()?;
    python.stdin.take()?.write_all(bytes).ok()?;
    let out = python.wait_with_output().ok()?;
    assert!(out.status.success(), "{kind} is not read");
    Some(serde_json::from_slice(&out.stdout).unwrap())
}

/// Python reads XML with expat, which normalises line ends as XML 1.0 requires, and CSV as in RFC 4180.
#[test]
fn python_reads_the_same_texts() {
    let mut random = ResultTestRandom(9);
    let rows: Vec<[Option<Term>; 2]> = (0..2000)
        .map(|_| [random.term(), random.term()])
        .filter(|row| !row.iter().any(|term| is_outside_xml(&value(term))))
        .map(|row| row.map(Some))
        .collect();
    let texts: Vec<[String; 2]> = rows.iter().map(|row| row.each_ref().map(|t| value(t.as_ref().unwrap()))).collect();
    for (kind, format) in [("csv", QueryResultsFormat::Csv), ("xml", QueryResultsFormat::Xml)] {
        let bytes = solutions(Formats { solutions: format, ..Formats::default() }, &rows).unwrap();
        let Some(read) = by_python(kind, &bytes) else {
            eprintln!("skipped for want of python3");
            return;
        };
        let strings = |value: &serde_json::Value| {
            value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let read: Vec<String> = match kind {
            "csv" => read.as_array().unwrap().iter().flat_map(strings).collect(),
            _ => strings(&read).into_iter().collect(),
        };
        let expected: Vec<&String> = texts.iter().flatten().collect();
        assert_eq!(read.len(), expected.len(), "{kind}");
        for (read, expected) in read.iter().zip(expected) {
            // SPARQL's XML format writes blank nodes without the underscore.
            let plain = expected
                .strip_prefix("_:")
                .filter(|label| kind == "xml" && *label == read)
                .unwrap_or(expected.as_str());
            assert_eq!(read, plain, "{kind}");
        }
    }
}

/// A tag of OpenStreetMap's relation for Malta. The part after its last colon is not an XML name.
#[test]
fn rdf_xml_refuses_what_it_cannot_name() {
    let node = |iri: &str| NamedNode::new(iri).unwrap();
    let element = node("https://www.openstreetmap.org/relation/365307");
    let tag = node("https://www.openstreetmap.org/wiki/Key:ref:nuts:1");
    let error = graph(RdfFormat::RdfXml, &Triple::new(element.clone(), tag.clone(), Literal::from("MT0"))).unwrap_err();
    assert!(error.kind() == io::ErrorKind::InvalidData && error.to_string().contains(tag.as_str()), "{error}");
    // A class may have any name.
    let class = Triple::new(element, oxrdf::vocab::rdf::TYPE.into_owned(), tag);
    let bytes = graph(RdfFormat::RdfXml, &class).unwrap();
    let read: Result<BTreeSet<String>, _> = RdfParser::from_format(RdfFormat::RdfXml)
        .for_reader(&*bytes)
        .map(|quad| quad.map(|quad| Triple::from(quad).to_string()))
        .collect();
    assert_eq!(read.unwrap(), BTreeSet::from([class.to_string()]));
}
