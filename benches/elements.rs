//! Measures queries over OpenStreetMap's elements and Wikidata's items in one graph: `cargo bench --bench elements --
//! SNAPSHOT [FILE.rq ...]`.
//!
//! The command runs each of the queries below, or of the files, five times, and opens the snapshot each time. Prints
//! the median time, the first time and the number of rows. The queries are for Malta with its items; those for shops
//! are meant for patchwork-world.

use std::process::Command;
use std::time::Instant;

/// The number of runs of each query.
const TIMES: usize = 5;

/// The queries with their names.
const QUERIES: [(&str, &str); 14] = [
    (
        "castles begun before 1600, 500 m from a bus stop",
        "SELECT DISTINCT ?e { ?e osmkey:historic 'castle'; osm2rdfkey:wikidata ?i; geo:hasCentroid/geo:asWKT ?x .
         ?i wdt:P571 ?begun FILTER(YEAR(?begun) < 1600) ?b a osm:node; osmkey:highway 'bus_stop';
         geo:hasGeometry/geo:asWKT ?y FILTER(geof:distance(?x, ?y, uom:metre) < 500) }",
    ),
    (
        "municipalities against P2046",
        "SELECT ?e ?i { ?e a osm:relation; osmkey:admin_level 8; osm2rdfkey:wikidata ?i; osm2rdf:area ?a .
         ?i wdt:P2046 ?km FILTER(ABS(?a / 1000000 - ?km) / ?km > 0.05) }",
    ),
    (
        "items more than 1 km from their element",
        "SELECT ?e ?i { ?e osm2rdfkey:wikidata ?i; geo:hasCentroid/geo:asWKT ?x . ?i wdt:P625 ?y
         FILTER(geof:distance(?x, ?y, uom:metre) > 1000) }",
    ),
    (
        "people per square kilometre",
        "SELECT ?e (?people / ?a * 1e6 AS ?d) { ?e a osm:relation; osmkey:boundary 'administrative';
         osm2rdfkey:wikidata ?i; osm2rdf:area ?a . ?i wdt:P1082 ?people }",
    ),
    (
        "items begun before 1700 in municipalities",
        "SELECT ?a (COUNT(DISTINCT ?i) AS ?n) { ?a a osm:relation; osmkey:admin_level 8; ogc:sfContains ?e .
         ?e osm2rdfkey:wikidata ?i . ?i wdt:P571 ?begun FILTER(YEAR(?begun) < 1700) } GROUP BY ?a",
    ),
    (
        "pharmacies in municipalities",
        "SELECT ?a ?n { ?a a osm:relation; osmkey:admin_level 8; ogc:sfContains ?n . ?n a osm:node;
         osmkey:amenity 'pharmacy' }",
    ),
    (
        "metres of residential roads in municipalities",
        "SELECT ?a (SUM(?l) AS ?all) { ?a a osm:relation; osmkey:admin_level 8; ogc:sfContains ?n .
         ?n osmkey:highway 'residential'; osm2rdf:length ?l } GROUP BY ?a",
    ),
    (
        "neighbours of municipalities",
        "SELECT ?a ?b { ?a a osm:relation; osmkey:admin_level 8; ogc:sfTouches ?b . ?b a osm:relation;
         osmkey:admin_level 8 }",
    ),
    (
        "parks and the footways that meet them",
        "SELECT ?a ?b { ?a osmkey:leisure 'park'; ogc:sfIntersects ?b . ?b osmkey:highway 'footway' }",
    ),
    (
        "benches in parks, by their texts",
        "SELECT ?a ?n { ?a osmkey:leisure 'park'; geo:hasGeometry/geo:asWKT ?x . ?n osmkey:amenity 'bench';
         geo:hasGeometry/geo:asWKT ?y FILTER(geof:sfContains(?x, ?y)) }",
    ),
    (
        "hotels within 300 m of a beach",
        "SELECT DISTINCT ?a { ?a osmkey:tourism 'hotel'; geo:hasCentroid/geo:asWKT ?x . ?b osmkey:natural 'beach';
         geo:hasGeometry/geo:asWKT ?y FILTER(geof:distance(?x, ?y, uom:metre) < 300) }",
    ),
    (
        "all buildings as one",
        "SELECT (geof:area(geof:aggUnion(?g), uom:squareMetre) AS ?all) { ?e osmkey:building ?b;
         geo:hasGeometry/geo:asWKT ?g }",
    ),
    (
        "shops in administrative areas",
        "SELECT (COUNT(*) AS ?n) { ?a a osm:relation; osmkey:boundary 'administrative'; ogc:sfContains ?n .
         ?n osmkey:shop ?s }",
    ),
    ("shops in anything", "SELECT (COUNT(*) AS ?n) { ?a ogc:sfContains ?n . ?n osmkey:shop ?s }"),
];

/// Returns the time of a query in milliseconds, and its number of rows.
fn ask(snapshot: &str, query: &str) -> Result<(f64, usize), String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terrapin"));
    command.args(["query", snapshot, "--lang", "sparql", "--format", "csv", query]);
    let started = Instant::now();
    let out = command.output().map_err(|error| error.to_string())?;
    let took = started.elapsed().as_secs_f64() * 1e3;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    Ok((took, String::from_utf8_lossy(&out.stdout).lines().count().saturating_sub(1)))
}

/// Runs a query several times and prints its times.
fn measure(snapshot: &str, name: &str, query: &str) {
    let asked: Result<Vec<(f64, usize)>, String> = (0..TIMES).map(|_| ask(snapshot, query)).collect();
    match asked {
        Ok(asked) => {
            let mut times: Vec<f64> = asked.iter().map(|(took, _)| *took).collect();
            times.sort_by(f64::total_cmp);
            println!("{name:50} {:7.0} ms ({:.0}) {:7} rows", times[TIMES / 2], asked[0].0, asked[0].1);
        }
        Err(error) => println!("{name:50} {error}"),
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let Some(snapshot) = arguments.next() else {
        println!("elements: skipped: give a snapshot, cargo bench --bench elements -- SNAPSHOT");
        return;
    };
    let files: Vec<String> = arguments.collect();
    if files.is_empty() {
        QUERIES.iter().for_each(|(name, query)| measure(&snapshot, name, query));
    }
    for file in files {
        match std::fs::read_to_string(&file) {
            Ok(query) => measure(&snapshot, &file, &query),
            Err(error) => println!("{file}: {error}"),
        }
    }
}
