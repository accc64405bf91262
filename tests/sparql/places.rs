//! Tests that searches around a point and in a box with the R-tree find the same places as a scan of all places.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use oxrdf::{Term, Triple, Variable};
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::snapshot::Snapshot;
use terrapin::sparql::{Environment, ResultSink, SparqlBounds, SparqlSettings, prepare};

const PLACES: u64 = 1_500;

/// A sink for the first column of an answer.
#[derive(Default)]
struct FirstColumn(Vec<String>);

impl ResultSink for FirstColumn {
    fn variables(&mut self, _: &[Variable]) -> io::Result<()> {
        Ok(())
    }
    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        self.0.push(values.first().and_then(Option::as_ref).map(ToString::to_string).unwrap_or_default());
        Ok(())
    }
    fn boolean(&mut self, _: bool) -> io::Result<()> {
        Ok(())
    }
    fn triple(&mut self, _: &Triple) -> io::Result<()> {
        Ok(())
    }
}

/// A pseudo-random generator with a fixed sequence.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Returns a point. Many are near the edges of the map or near each other, with few or many decimals.
    fn point(&mut self) -> String {
        let (longitude, latitude) = match self.below(5) {
            0 => (179 + self.below(3) as i64, self.below(20) as i64 - 10),
            1 => (self.below(360) as i64 - 180, 88 + self.below(2) as i64),
            2 => (self.below(360) as i64 - 180, -(88 + self.below(2) as i64)),
            3 => (13, 52),
            _ => (self.below(360) as i64 - 180, self.below(179) as i64 - 89),
        };
        match self.below(3) {
            0 => format!("({longitude} {latitude})"),
            1 => format!("({longitude}.{:02} {latitude}.{})", self.below(100), self.below(10)),
            _ => format!("({longitude}.{:09} {latitude}.{:09})", self.below(1_000_000_000), self.below(1_000_000_000)),
        }
    }
}

fn environment(chance: &mut Chance) -> Environment {
    let mut text = String::new();
    for number in 0..PLACES {
        let start = match chance.below(12) {
            0 => "POINT ",
            1 => " Point",
            2 => "<http://www.wikidata.org/entity/Q405> Point",
            _ => "Point",
        };
        let _ = writeln!(
            text,
            "<http://www.wikidata.org/entity/Q{number}> <http://www.wikidata.org/prop/direct/P625> \
             \"{start}{}\"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .",
            chance.point()
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("x.nt"), folder.path().join("x.terrapin"));
    std::fs::write(&file, text).unwrap();
    let options = LoadOptions { rdf: vec![file], memory: 1 << 26, ..LoadOptions::new(out.clone()) };
    load(&options, &Quiet).unwrap();
    Environment::open(&Arc::new(Snapshot::open(&out).unwrap())).unwrap().unwrap()
}

#[test]
fn the_index_finds_what_a_look_at_every_place_finds() {
    let mut chance = Chance(7);
    let environment = environment(&mut chance);
    let ask = |query: &str| {
        let mut rows = FirstColumn::default();
        let summary = prepare(query, &SparqlSettings::default())
            .and_then(|query| query.run(&environment, &SparqlBounds::default(), &mut rows))
            .unwrap_or_else(|e| panic!("{query}: {e}"));
        rows.0.sort();
        (rows.0, summary.work)
    };
    // The first search builds the index of points, which must not show in its rows or its work.
    let first =
        "SELECT ?x { SERVICE wikibase:around { ?x wdt:P625 ?l . bd:serviceParam wikibase:center 'Point(13 52)' ;
        wikibase:radius '1' } }";
    assert_eq!(ask(first), ask(first));
    let mut found = 0;
    for _ in 0..200 {
        let (centre, radius) = (chance.point(), [0, 5, 80, 700, 9_000][chance.below(5) as usize]);
        let (rows, work) = ask(&format!(
            "SELECT ?x {{ SERVICE wikibase:around {{ ?x wdt:P625 ?l . bd:serviceParam wikibase:center 'Point{centre}' ;
                wikibase:radius '{radius}' }} }}"
        ));
        let (all, _) =
            ask(&format!("SELECT ?x {{ ?x wdt:P625 ?l FILTER(geof:distance(?l, 'Point{centre}') <= {radius}) }}"));
        assert_eq!(rows, all, "around {centre}, {radius} km");
        assert!(radius > 5 || work < PLACES, "{work} units of work for {} places", rows.len());
        found += rows.len();
        let (from, to) = (chance.point(), chance.point());
        let (rows, _) = ask(&format!(
            "SELECT ?x {{ SERVICE wikibase:box {{ ?x wdt:P625 ?l . bd:serviceParam wikibase:cornerWest 'Point{from}' ;
                wikibase:cornerEast 'Point{to}' }} }}"
        ));
        // A condition that no index supports.
        let (all, _) = ask(&format!(
            "SELECT ?x {{ BIND('Point{to}' AS ?to) ?x wdt:P625 ?l SERVICE wikibase:box {{ ?x wdt:P625 ?l .
                bd:serviceParam wikibase:cornerWest 'Point{from}' ; wikibase:cornerEast ?to }} }}"
        ));
        assert_eq!(rows, all, "from {from} to {to}");
        found += rows.len();
    }
    assert!(found > 1_000, "{found}");
    // Searches around each of many places.
    let near = "?a wdt:P625 ?c . SERVICE wikibase:around { ?b wdt:P625 ?l . bd:serviceParam wikibase:center ?c ;
        wikibase:radius '50' }";
    let (rows, work) = ask(&format!("SELECT ?b {{ {near} }}"));
    let (all, all_work) = ask("SELECT ?b { ?a wdt:P625 ?c . ?b wdt:P625 ?l FILTER(geof:distance(?l, ?c) <= 50) }");
    assert_eq!(rows, all);
    assert!(work * 4 < all_work, "{work}, {all_work}");
}
