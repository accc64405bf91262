//! Elements of OpenStreetMap as triples, each query checked in a second way: by OverpassQL over the same snapshot, or by
//! SPARQL that computes the condition itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::common::place::shared;
use crate::common::skip::{Need, skipped};
use crate::common::{Town, terrapin};

/// What elements' IRIs begin with.
const OSM: &str = "https://www.openstreetmap.org/";
const ITEM: &str = "http://www.wikidata.org/entity/";

/// The lines of an answer, sorted.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

fn answer(snapshot: &Path, args: &[&str]) -> String {
    let out = terrapin().arg("query").arg(snapshot).args(args).assert().success();
    String::from_utf8(out.get_output().stdout.clone()).unwrap()
}

/// What is said of a query that is refused.
fn refusal(snapshot: &Path, args: &[&str]) -> String {
    let out = terrapin().arg("query").arg(snapshot).args(args).assert().failure();
    String::from_utf8_lossy(&out.get_output().stderr).into_owned()
}

/// The rows of a SPARQL answer, sorted, elements as `node/1`, items as `Q1`, cells with tabs between them.
fn sparql(snapshot: &Path, query: &str) -> Vec<String> {
    let text = answer(snapshot, &[query, "--lang", "sparql", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut rows: Vec<String> = reader
        .records()
        .map(|row| {
            row.unwrap().iter().collect::<Vec<_>>().join("\t").replace('"', "").replace(OSM, "").replace(ITEM, "")
        })
        .collect();
    rows.sort_unstable();
    rows
}

/// The lines of what an OverpassQL query prints with columns, sorted.
fn overpass(snapshot: &Path, columns: &str, query: &str) -> Vec<String> {
    let separated = format!("[out:csv({columns};false;\"\\t\")];{query}");
    // Cells with commas have quotation marks around them.
    lines(&answer(snapshot, &[&separated, "--lang", "overpassql"]).replace('"', ""))
}

/// The elements that an OverpassQL query prints, as `node/1`, sorted.
fn elements(snapshot: &Path, query: &str) -> Vec<String> {
    let mut found: Vec<String> =
        overpass(snapshot, "::type,::id", query).iter().map(|line| line.replace('\t', "/")).collect();
    found.sort_unstable();
    found
}

/// What an OverpassQL query prints as JSON.
fn json(snapshot: &Path, query: &str) -> Vec<serde_json::Value> {
    let text = answer(snapshot, &[&format!("[out:json];{query}"), "--lang", "overpassql"]);
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    match value["elements"].take() {
        serde_json::Value::Array(elements) => elements,
        other => panic!("elements are a list: {other}"),
    }
}

/// Longitude and latitude of a point's text.
fn point(wkt: &str) -> (f64, f64) {
    let inner = wkt.rsplit_once('(').unwrap().1.trim_end_matches(')');
    let (lon, lat) = inner.split_once(' ').unwrap();
    (lon.parse().unwrap(), lat.parse().unwrap())
}

/// Malta with an item for each tag that names one: its place, by a known number of metres north of the element's middle,
/// and the people that the element's tags say.
struct Malta {
    _folder: tempfile::TempDir,
    snapshot: PathBuf,
    /// The elements that name each item, each with their distance from its place in metres.
    items: BTreeMap<String, Vec<(String, f64)>>,
}

fn malta() -> Option<&'static Malta> {
    static MALTA: LazyLock<Option<Malta>> = LazyLock::new(|| {
        let pbf = shared().join("data/osm/malta-2024.osm.pbf");
        if !pbf.exists() {
            skipped(Need::Shared, format!("no {}", pbf.display()));
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let bare = folder.path().join("bare.terrapin");
        let load = |more: &[&Path], out: &Path| {
            let mut command = terrapin();
            command.arg("load").arg("--osm").arg(&pbf).args(more).arg("--out").arg(out).assert().success();
        };
        load(&[], &bare);
        let (text, items) = triples(&bare);
        let (file, snapshot) = (folder.path().join("items.nt"), folder.path().join("malta.terrapin"));
        std::fs::write(&file, text).unwrap();
        load(&[Path::new("--rdf"), &file], &snapshot);
        Some(Malta { _folder: folder, snapshot, items })
    });
    MALTA.as_ref()
}

/// Triples of the items that a snapshot's tags name.
fn triples(snapshot: &Path) -> (String, BTreeMap<String, Vec<(String, f64)>>) {
    let rows = overpass(snapshot, "::type,::id,wikidata,::lat,::lon,population", "nwr[wikidata];out center;");
    let mut places: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let (mut text, mut items) = (String::new(), BTreeMap::<String, Vec<(String, f64)>>::new());
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [kind, id, named, lat, lon, people] = cells[..] else { panic!("six columns: {row}") };
        let (Ok(lat), Ok(lon)) = (lat.parse::<f64>(), lon.parse::<f64>()) else { continue };
        for item in named.split(';').map(str::trim) {
            let number: Option<u64> = item.strip_prefix('Q').and_then(|number| number.parse().ok());
            let Some(number) = number else { continue };
            let (south, east) = *places.entry(item.to_owned()).or_insert_with(|| {
                let place = (lat + f64::from(number as u32 % 5) * 0.005, lon);
                let _ = writeln!(
                    text,
                    "<{ITEM}{item}> <http://www.wikidata.org/prop/direct/P625> \
                     \"Point({} {})\"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .\n\
                     <{ITEM}{item}> <http://www.wikidata.org/prop/direct/P571> \"{}-01-01T00:00:00Z\"\
                     ^^<http://www.w3.org/2001/XMLSchema#dateTime> .",
                    place.1,
                    place.0,
                    1500 + number % 300
                );
                if let Ok(people) = people.parse::<u32>() {
                    let _ = writeln!(
                        text,
                        "<{ITEM}{item}> <http://www.wikidata.org/prop/direct/P1082> \
                         \"{people}\"^^<http://www.w3.org/2001/XMLSchema#decimal> ."
                    );
                }
                place
            });
            let away = metres((lat, lon), (south, east));
            items.entry(item.to_owned()).or_default().push((format!("{kind}/{id}"), away));
        }
    }
    (text, items)
}

/// Metres between two places on a sphere.
fn metres(a: (f64, f64), b: (f64, f64)) -> f64 {
    let [lat, lon, other_lat, other_lon] = [a.0, a.1, b.0, b.1].map(f64::to_radians);
    let half = |x: f64| (x / 2.0).sin().powi(2);
    let h = half(other_lat - lat) + lat.cos() * other_lat.cos() * half(other_lon - lon);
    2.0 * 6_371_008.8 * h.sqrt().asin()
}

#[test]
fn tags_of_a_town_need_no_triples() {
    for town in [Town::new(), Town::with_triples()] {
        let at = town.snapshot();
        assert_eq!(sparql(&at, "SELECT ?e { ?e osmkey:amenity 'cafe' }"), elements(&at, "nwr[amenity=cafe];out ids;"));
        let names = sparql(&at, "SELECT ?e ?name { ?e osmkey:name ?name }");
        assert_eq!(
            names,
            overpass(&at, "::type,::id,name", "nwr[name];out;").iter().map(|line| joined(line)).collect::<Vec<_>>()
        );
        assert_eq!(sparql(&at, "SELECT ?e { ?e osmkey:admin_level 8 }"), ["relation/31"]);
        assert!(sparql(&at, "SELECT ?e { ?e osmkey:admin_level '8' }").is_empty());
        assert!(sparql(&at, "SELECT ?e { ?e osmkey:nothing ?v }").is_empty());
        assert!(sparql(&at, "SELECT ?v { osmnode:999 osmkey:amenity ?v }").is_empty());
        assert_eq!(sparql(&at, "SELECT ?v { osmnode:1 osmkey:name ?v }"), ["Bean & Leaf"]);
        assert_eq!(sparql(&at, "SELECT (COUNT(*) AS ?n) { ?e a osm:node }"), ["8"]);
    }
}

/// `node<tab>1…` as `node/1…`.
fn joined(line: &str) -> String {
    line.replacen('\t', "/", 1)
}

#[test]
fn geometries_members_and_metadata_of_a_town() {
    let town = Town::with_triples();
    let at = town.snapshot();
    let geometry = |of: &str| sparql(&at, &format!("SELECT ?g {{ {of} geo:hasGeometry/geo:asWKT ?g }}"));
    assert_eq!(geometry("osmnode:1"), ["POINT(20.001 10.001)"]);
    assert_eq!(geometry("osmway:22"), ["LINESTRING(20 10,20.01 10.01)"]);
    assert!(geometry("osmrel:31")[0].starts_with("POLYGON(("), "{:?}", geometry("osmrel:31"));
    for predicate in ["geo:hasCentroid", "osm2rdf:hasCentroid"] {
        let query = format!("SELECT ?g {{ osmrel:31 {predicate}/geo:asWKT ?g }}");
        assert_eq!(sparql(&at, &query), ["POINT(20.005 10.005)"], "{predicate}");
    }
    let members = "SELECT ?pos ?e ?role { osmrel:32 osmrel:member ?m .
        ?m osm2rdfmember:id ?e; osm2rdfmember:role ?role; osm2rdfmember:pos ?pos }";
    assert_eq!(sparql(&at, members), ["0\tway/22\t", "1\tway/99\t"]);
    let nodes = "SELECT ?pos ?n { osmway:22 osmway:node ?m . ?m osmway:node ?n; osm2rdfmember:pos ?pos }";
    assert_eq!(sparql(&at, nodes), ["0\tnode/11", "1\tnode/13"]);
    let parents = "SELECT DISTINCT ?w { ?w osmway:node ?m . ?m osmway:node osmnode:13 }";
    assert_eq!(sparql(&at, parents), elements(&at, "node(13);way(bn);out ids;"));
    let meta = "SELECT ?e ?v ?t ?c ?u ?uid { ?e a osm:way; osmmeta:version ?v; osmmeta:timestamp ?t;
        osmmeta:changeset ?c; osmmeta:user ?u; osmmeta:uid ?uid }";
    let columns = "::type,::id,::version,::timestamp,::changeset,::user,::uid";
    assert_eq!(
        sparql(&at, meta),
        overpass(&at, columns, "way(9,19,11,21);out meta;").iter().map(|line| joined(line)).collect::<Vec<_>>()
    );
    let inside = "SELECT ?n { osmrel:31 ogc:sfContains ?n . ?n a osm:node }";
    assert_eq!(sparql(&at, inside), ["node/1", "node/2", "node/3"]);
    let around = "SELECT ?a { ?a ogc:sfContains osmnode:2 }";
    // The node is on the street, which is also the route's only way.
    assert_eq!(sparql(&at, around), ["relation/31", "relation/32", "way/22"]);
    let all = "SELECT ?p ?o { osmnode:1 ?p ?o }";
    let said = sparql(&at, all);
    assert!(said.contains(&"wiki/Key:amenity\tcafe".to_owned()), "{said:?}");
    assert_eq!(said.iter().filter(|line| line.starts_with("meta/")).count(), 5, "{said:?}");
}

#[test]
fn what_is_stored_means_what_it_did() {
    let town = Town::with_triples();
    let at = town.snapshot();
    assert_eq!(sparql(&at, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"), ["4"]);
    assert_eq!(sparql(&at, "SELECT ?s { ?s wdt:P131 ?o }"), ["Q2"]);
}

#[test]
fn stored_triples_of_elements_stand_beside_the_told_ones() {
    let town = Town::with_quads(
        "<https://www.openstreetmap.org/node/1> <https://www.openstreetmap.org/wiki/Key:amenity> \"cafe\" .\n\
         <https://www.openstreetmap.org/node/2> <https://www.openstreetmap.org/wiki/Key:cuisine> \"cake\" .\n\
         <https://www.openstreetmap.org/node/77> <https://www.openstreetmap.org/wiki/Key:amenity> \"cafe\" .\n",
    );
    let at = town.snapshot();
    let cafes = sparql(&at, "SELECT ?e { ?e osmkey:amenity 'cafe' }");
    assert_eq!(cafes, ["node/1", "node/2", "node/3", "node/4", "node/77"]);
    let both = sparql(&at, "SELECT ?e ?c { ?e osmkey:cuisine ?c; osmkey:amenity 'cafe' }");
    assert_eq!(both, ["node/2\tcake"]);
}

#[test]
fn an_overpass_query_is_a_service() {
    let town = Town::new();
    let at = town.snapshot();
    let query = "SELECT ?e ?g { SERVICE terrapin:overpass { [] terrapin:query 'node[amenity=cafe];out;';
        terrapin:element ?e; terrapin:wkt ?g } }";
    let plain = "SELECT ?e ?g { ?e osmkey:amenity 'cafe'; geo:hasGeometry/geo:asWKT ?g }";
    assert_eq!(sparql(&at, query), sparql(&at, plain));
    let area = "SELECT ?t ?i { SERVICE terrapin:overpass { [] terrapin:query 'area[name=Ladle];out;';
        terrapin:type ?t; terrapin:id ?i } }";
    assert_eq!(sparql(&at, area), ["relation\t31"]);
}

#[test]
fn what_is_wrong_is_said() {
    let town = Town::with_triples();
    let at = town.snapshot();
    for (query, said) in [
        ("SELECT * { ?e osmnothing:amenity 'cafe' }", "osmnothing"),
        ("SELECT * { SERVICE terrapin:nothing { [] terrapin:query 'node;out;' } }", "no service"),
        ("SELECT * { SERVICE terrapin:overpass { [] terrapin:element ?e } }", "terrapin:query"),
        ("SELECT * { SERVICE terrapin:overpass { [] terrapin:query ?q; terrapin:element ?e } }", "takes a text"),
        ("SELECT * { SERVICE terrapin:overpass { [] terrapin:query 'node;out;'; terrapin:colour ?e } }", "colour"),
        ("SELECT * { SERVICE terrapin:overpass { [] terrapin:query 'node[;out;'; terrapin:element ?e } }", "overpass"),
    ] {
        let error = refusal(&at, &[query, "--lang", "sparql"]);
        assert!(error.contains(said), "{query}: {error}");
    }
    let bare = refusal(&Town::new().snapshot(), &["SELECT * { ?s wdt:P31 ?o }", "--lang", "sparql"]);
    assert!(bare.contains("has no triples"), "{bare}");
}

#[test]
fn tags_of_malta_are_those_of_overpass() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    assert_eq!(sparql(at, "SELECT ?e { ?e osmkey:amenity 'cafe' }"), elements(at, "nwr[amenity=cafe];out ids;"));
    let roads = "SELECT ?e ?name { ?e a osm:way; osmkey:highway 'residential'; osmkey:name ?name }";
    let both = overpass(at, "::type,::id,name", "way[highway=residential][name];out;");
    assert_eq!(sparql(at, roads), both.iter().map(|line| joined(line)).collect::<Vec<_>>());
    let of_key = overpass(at, "::type,::id,historic", "nwr[historic];out;");
    let of_key: Vec<String> = of_key.iter().map(|line| joined(line)).collect();
    assert!(of_key.len() > 100);
    assert_eq!(sparql(at, "SELECT ?e ?v { ?e osmkey:historic ?v }"), of_key);
    let either = "SELECT ?e { ?e osmkey:tourism|osmkey:historic 'castle' }";
    let by_two = elements(at, "(nwr[tourism=castle];nwr[historic=castle];);out ids;");
    assert_eq!(sparql(at, either), by_two);
    let without = "SELECT ?e { ?e osmkey:shop 'bakery' MINUS { ?e osmkey:name ?n } }";
    assert_eq!(sparql(at, without), elements(at, "nwr[shop=bakery][!name];out ids;"));
    let of_one = "SELECT ?k ?v { osmrel:365307 ?k ?v FILTER(STRSTARTS(STR(?k), STR(osmkey:))) }";
    let tags = json(at, "rel(365307);out;").iter().map(|e| e["tags"].as_object().unwrap().len()).sum::<usize>();
    assert_eq!(sparql(at, of_one).len(), tags);
}

#[test]
fn places_and_sizes_in_malta() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let stops = sparql(at, "SELECT ?e ?g { ?e a osm:node; osmkey:highway 'bus_stop'; geo:hasGeometry/geo:asWKT ?g }");
    let places = overpass(at, "::type,::id,::lon,::lat", "node[highway=bus_stop];out;");
    assert!(places.len() > 100);
    let told: BTreeMap<String, (f64, f64)> = stops
        .iter()
        .map(|row| row.split_once('\t').unwrap())
        .map(|(element, wkt)| (element.to_owned(), point(wkt)))
        .collect();
    let known: BTreeMap<String, (f64, f64)> = places
        .iter()
        .map(|line| joined(line))
        .map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            (cells[0].to_owned(), (cells[1].parse().unwrap(), cells[2].parse().unwrap()))
        })
        .collect();
    assert_eq!(told, known);
    // osm2rdf's sizes are GeoSPARQL's of the text.
    let differ = "SELECT ?e { ?e osmkey:leisure 'park'; osm2rdf:area ?a; geo:hasGeometry/geo:asWKT ?g
        FILTER(ABS(?a - geof:area(?g, uom:squareMetre)) > 0.01) }";
    assert!(sparql(at, differ).is_empty());
    assert!(sparql(at, "SELECT ?e { ?e osmkey:leisure 'park'; osm2rdf:area ?a FILTER(?a > 1000) }").len() > 10);
    let long = "SELECT ?e { ?e osmkey:highway 'trunk'; osm2rdf:length ?l FILTER(?l > 500) }";
    assert_eq!(sparql(at, long), elements(at, "way[highway=trunk](if:length()>500);out ids;"));
    let many = "SELECT ?e { ?e a osm:relation; osm2rdf:facts ?n FILTER(?n > 20) }";
    assert_eq!(sparql(at, many), elements(at, "rel(if:count_tags()>20);out ids;"));
}

#[test]
fn members_in_malta() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let query = "SELECT ?r ?pos ?e ?role { ?r osmkey:route 'ferry'; osmrel:member ?m .
        ?m osm2rdfmember:id ?e; osm2rdfmember:role ?role; osm2rdfmember:pos ?pos }";
    let mut expected = Vec::new();
    for relation in json(at, "rel[route=ferry];out;") {
        for (pos, member) in relation["members"].as_array().unwrap().iter().enumerate() {
            let (kind, id, role) = (&member["type"], &member["ref"], &member["role"]);
            let [kind, role] = [kind, role].map(|text| text.as_str().unwrap());
            expected.push(format!("relation/{}\t{pos}\t{kind}/{id}\t{role}", relation["id"]));
        }
    }
    expected.sort_unstable();
    assert!(!expected.is_empty());
    assert_eq!(sparql(at, query), expected);
    let nodes = "SELECT ?w (COUNT(?n) AS ?nodes) { ?w osmkey:highway 'trunk'; osmway:node ?m . ?m osmway:node ?n }
        GROUP BY ?w";
    let ways = json(at, "way[highway=trunk];out;");
    let count = |way: &serde_json::Value| way["nodes"].as_array().unwrap().len();
    let mut counts: Vec<String> = ways.iter().map(|way| format!("way/{}\t{}", way["id"], count(way))).collect();
    counts.sort_unstable();
    assert_eq!(sparql(at, nodes), counts);
    let crossings = "SELECT DISTINCT ?r { ?e osmkey:name 'Ċirkewwa' . ?m osm2rdfmember:id ?e . ?r osmrel:member ?m }";
    assert_eq!(sparql(at, crossings), elements(at, "nwr[name='Ċirkewwa'];rel(<);out ids;"));
}

#[test]
fn areas_in_malta_contain_what_overpass_finds_in_them() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let query = "SELECT ?a ?n { ?a a osm:relation; osmkey:admin_level 8; ogc:sfContains ?n .
        ?n a osm:node; osmkey:amenity 'pharmacy' }";
    let text = answer(
        at,
        &[
            "[out:csv(::type,::id;false;\"/\")];rel[admin_level=8];foreach->.r(.r out ids;.r map_to_area->.a;node[amenity=pharmacy](area.a);out ids;);",
        ],
    );
    let (mut expected, mut area) = (Vec::new(), "");
    for line in text.lines() {
        match line.starts_with("relation") {
            true => area = line,
            false => expected.push(format!("{area}\t{line}")),
        }
    }
    expected.sort_unstable();
    assert!(expected.len() > 50);
    let found = sparql(at, query);
    assert_eq!(found, expected);
    let back = query
        .replace("ogc:sfContains ?n", "osmkey:name ?name")
        .replace("?n a osm:node", "?n ogc:sfWithin ?a; a osm:node");
    assert_eq!(sparql(at, &back), found);
    // The same by texts of geometries.
    let texts = "SELECT ?a ?n { ?a osmkey:leisure 'park'; geo:hasGeometry/geo:asWKT ?x .
        ?n osmkey:amenity 'bench'; geo:hasGeometry/geo:asWKT ?y BIND(geof:sfContains(?x, ?y) AS ?in) FILTER(?in) }";
    let pairs = "SELECT ?a ?n { ?a osmkey:leisure 'park'; ogc:sfContains ?n . ?n osmkey:amenity 'bench' }";
    let contained = sparql(at, pairs);
    assert!(!contained.is_empty());
    assert_eq!(contained, sparql(at, texts));
}

#[test]
fn lines_and_areas_lie_to_each_other_as_their_texts_do() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    for how in ["sfContains", "sfCrosses", "sfEquals", "sfIntersects", "sfOverlaps", "sfTouches", "sfWithin"] {
        let pairs =
            format!("SELECT ?a ?b {{ ?a osmkey:landuse 'cemetery'; ogc:{how} ?b . ?b osmkey:highway 'footway' }}");
        let texts = format!(
            "SELECT ?a ?b {{ ?a osmkey:landuse 'cemetery'; geo:hasGeometry/geo:asWKT ?x .
             ?b osmkey:highway 'footway'; geo:hasGeometry/geo:asWKT ?y FILTER(geof:{how}(?x, ?y)) }}"
        );
        assert_eq!(sparql(at, &pairs), sparql(at, &texts), "{how}");
    }
}

#[test]
fn distances_in_malta() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let castles = |more: &str| {
        format!(
            "SELECT ?a ?b {{ ?a osmkey:historic 'castle'; geo:hasCentroid/geo:asWKT ?x .
             ?b a osm:node; osmkey:highway 'bus_stop'; geo:hasGeometry/geo:asWKT ?y {more} }}"
        )
    };
    let near = sparql(at, &castles("FILTER(geof:distance(?x, ?y, uom:metre) < 500)"));
    assert!(!near.is_empty());
    // The distance is no condition that boxes know of here.
    let plain = castles("BIND(geof:distance(?x, ?y, uom:metre) AS ?d) FILTER(?d < 500)");
    assert_eq!(near, sparql(at, &plain));
    let around = "SELECT DISTINCT ?b { ?a a osm:node; osmkey:amenity 'ferry_terminal'; geo:hasGeometry/geo:asWKT ?x .
        ?b a osm:node; osmkey:highway 'bus_stop'; geo:hasGeometry/geo:asWKT ?y
        FILTER(geof:distance(?x, ?y, uom:metre) <= 300) }";
    let by_overpass = elements(at, "node[amenity=ferry_terminal];node[highway=bus_stop](around:300);out ids;");
    let by_sparql: BTreeSet<String> = sparql(at, around).into_iter().collect();
    let by_overpass: BTreeSet<String> = by_overpass.into_iter().collect();
    // Overpass measures on a sphere, GeoSPARQL's distance is the ellipsoid's: a few lie between the two.
    assert!(by_sparql.symmetric_difference(&by_overpass).count() <= 1, "{by_sparql:?} {by_overpass:?}");
}

#[test]
fn items_and_elements_of_malta_in_one_query() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let mut named: Vec<String> = malta
        .items
        .iter()
        .flat_map(|(item, elements)| elements.iter().map(move |(element, _)| format!("{element}\t{item}")))
        .collect();
    named.sort_unstable();
    named.dedup();
    assert!(named.len() > 100);
    assert_eq!(sparql(at, "SELECT ?e ?i { ?e osm2rdfkey:wikidata ?i . ?i wdt:P625 ?p }"), named);
    // Places of items that are more than a kilometre from their element: theirs are whole steps of 0.005 degrees off, so
    // that none lies where two ways of measuring differ.
    let far = "SELECT ?e ?i { ?e a osm:node; osm2rdfkey:wikidata ?i; geo:hasGeometry/geo:asWKT ?x . ?i wdt:P625 ?y
        FILTER(geof:distance(?x, ?y, uom:metre) > 1000) }";
    let mut away: Vec<String> = malta
        .items
        .iter()
        .flat_map(|(item, elements)| elements.iter().map(move |(element, away)| (element, item, *away)))
        .filter(|(element, _, away)| element.starts_with("node/") && *away > 1000.0)
        .map(|(element, item, _)| format!("{element}\t{item}"))
        .collect();
    away.sort_unstable();
    away.dedup();
    assert!(!away.is_empty());
    assert_eq!(sparql(at, far), away);
    // People per square kilometre from both, and by the text of the geometry.
    let density = "SELECT ?e (ROUND(?people / ?a * 1e6) AS ?d) { ?e a osm:relation; osmkey:boundary 'administrative';
        osm2rdfkey:wikidata ?i; osm2rdf:area ?a . ?i wdt:P1082 ?people }";
    let by_texts = "SELECT ?e (ROUND(?people / geof:area(?g, uom:squareMetre) * 1e6) AS ?d) {
        ?e a osm:relation; osmkey:boundary 'administrative'; osm2rdfkey:wikidata ?i;
        geo:hasGeometry/geo:asWKT ?g . ?i wdt:P1082 ?people }";
    let crowded = sparql(at, density);
    assert!(crowded.len() > 10, "{crowded:?}");
    assert_eq!(crowded, sparql(at, by_texts));
    // What began before 1600 within 500 m of a bus stop, with and without the service.
    let old = |elements: &str| {
        format!(
            "SELECT DISTINCT ?e {{ {elements} ?e osm2rdfkey:wikidata ?i; geo:hasCentroid/geo:asWKT ?x . ?i wdt:P571 ?begun
             FILTER(YEAR(?begun) < 1600) ?b a osm:node; osmkey:highway 'bus_stop'; geo:hasGeometry/geo:asWKT ?y
             FILTER(geof:distance(?x, ?y, uom:metre) < 500) }}"
        )
    };
    let forts = sparql(at, &old("?e osmkey:historic ?v ."));
    assert!(!forts.is_empty());
    let service = "SERVICE terrapin:overpass { [] terrapin:query 'nwr[historic];out ids;'; terrapin:element ?e }";
    assert_eq!(forts, sparql(at, &old(service)));
}

#[test]
fn a_join_of_all_with_all_is_stopped() {
    let Some(malta) = malta() else { return };
    let all = "SELECT (COUNT(*) AS ?n) { ?a ogc:sfIntersects ?b . ?b ogc:sfIntersects ?c . ?c ogc:sfIntersects ?d }";
    let error = refusal(&malta.snapshot, &[all, "--lang", "sparql", "--timeout", "1"]);
    assert!(error.contains("time"), "{error}");
    let texts = "SELECT DISTINCT ?t { ?e a osm:way; geo:hasGeometry/geo:asWKT ?t }";
    let error = refusal(&malta.snapshot, &[texts, "--lang", "sparql", "--memory", "8M"]);
    assert!(error.contains("memory"), "{error}");
}
