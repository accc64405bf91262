//! Tests spatial relations, distances and sizes of OpenStreetMap's elements, together with data of Wikidata items. Each
//! query is checked in a second way: by OverpassQL over the same snapshot, by SPARQL over WKT, or by a sum.

use std::collections::BTreeSet;

use crate::common::elements::{answer, elements, malta, point, refusal, sparql};
use crate::common::terrapin;

#[test]
fn what_is_near_across_the_antimeridian() {
    let folder = tempfile::tempdir().unwrap();
    let (osm, at) = (folder.path().join("edge.osm"), folder.path().join("edge.terrapin"));
    let node = |id: i64, lat: f64, lon: f64, key: &str| {
        format!("<node id='{id}' lat='{lat}' lon='{lon}' version='1'><tag k='{key}' v='yes'/></node>")
    };
    let nodes = [
        node(1, -16.8, 179.995, "shop"),
        node(2, -16.8, -179.995, "stop"),
        node(3, -16.8, -179.99, "corner"),
        node(4, -16.81, -179.99, "corner"),
        node(6, 89.999, 10.0, "shop"),
        node(7, 89.999, -170.0, "stop"),
        node(8, -16.8, 0.0, "stop"),
    ];
    let way = "<way id='5' version='1'><nd ref='3'/><nd ref='4'/><tag k='stop' v='yes'/></way>";
    std::fs::write(&osm, format!("<osm version='0.6'>{}{way}</osm>", nodes.concat())).unwrap();
    terrapin().args(["load", "--osm"]).arg(&osm).arg("--out").arg(&at).assert().success();
    let near = |condition: &str| {
        sparql(
            &at,
            &format!(
                "SELECT ?a ?b {{ ?a osmkey:shop 'yes'; geo:hasGeometry/geo:asWKT ?x .
            ?b osmkey:stop 'yes'; geo:hasGeometry/geo:asWKT ?y {condition} }}"
            ),
        )
    };
    let expected = ["node/1\tnode/2", "node/1\tway/5", "node/6\tnode/7"];
    assert_eq!(near("FILTER(geof:distance(?x, ?y, uom:metre) < 5000)"), expected);
    // The same condition in a form that the spatial index does not support.
    assert_eq!(near("BIND(geof:distance(?x, ?y, uom:metre) AS ?d) FILTER(?d < 5000)"), expected);
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
    // The same with WKT geometries.
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
    let covers = ["T*****FF*", "*T****FF*", "***T**FF*", "****T*FF*"]
        .map(|pattern| format!("geof:relate(?x, ?y, '{pattern}')"))
        .join(" || ");
    let mut found = BTreeSet::new();
    for (a, b) in [
        ("osmkey:landuse 'cemetery'", "osmkey:highway 'footway'"),
        ("osmkey:highway 'footway'", "osmkey:landuse 'cemetery'"),
        ("a osm:relation; osmkey:admin_level 8", "a osm:relation; osmkey:admin_level 8"),
        ("osmkey:landuse 'farmland'", "osmkey:landuse 'meadow'"),
        ("osmkey:highway 'primary'", "osmkey:highway 'secondary'"),
        ("osmkey:building 'church'", "osmkey:amenity 'place_of_worship'"),
    ] {
        for how in
            ["sfContains", "sfCovers", "sfCrosses", "sfEquals", "sfIntersects", "sfOverlaps", "sfTouches", "sfWithin"]
        {
            let pairs = sparql(at, &format!("SELECT ?a ?b {{ ?a {a}; ogc:{how} ?b . ?b {b} }}"));
            let holds = match how {
                "sfCovers" => format!("geof:sfIntersects(?x, ?y) && ({covers})"),
                // A line can cross an area, but an area cannot cross a line.
                "sfCrosses" => "geof:sfCrosses(?x, ?y) && geof:dimension(?x) < 2".to_owned(),
                how => format!("geof:{how}(?x, ?y)"),
            };
            let texts = format!(
                "SELECT ?a ?b {{ ?a {a}; geo:hasGeometry/geo:asWKT ?x . ?b {b}; geo:hasGeometry/geo:asWKT ?y
                 FILTER(?a != ?b) FILTER({holds}) }}"
            );
            assert_eq!(pairs, sparql(at, &texts), "{a} {how} {b}");
            if !pairs.is_empty() {
                found.insert(how);
            }
        }
    }
    // All relations occur except sfEquals: no geometry here equals another one.
    assert_eq!(found.len(), 7, "{found:?}");
}

#[test]
fn tags_around_a_relation_change_no_answer() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let parks = "?a osmkey:leisure 'park' .";
    let plain = sparql(at, &format!("SELECT ?a ?b {{ {parks} ?a ogc:sfIntersects ?b . ?b osmkey:highway 'footway' }}"));
    assert!(plain.len() > 100);
    // The tag is in a subquery, after a union, in a filter, or in an outer group.
    for query in [
        "SELECT ?a ?b { PARKS { SELECT ?b { ?b osmkey:highway 'footway' } } ?a ogc:sfIntersects ?b }",
        "SELECT ?a ?b { PARKS { ?a ogc:sfIntersects ?b } { ?b osmkey:highway 'footway' } }",
        "SELECT ?a ?b { PARKS { ?a ogc:sfContains ?b } UNION { ?a ogc:sfIntersects ?b
            MINUS { ?a ogc:sfContains ?b } } ?b osmkey:highway 'footway' }",
        "SELECT ?a ?b { PARKS ?a ogc:sfIntersects ?b . ?b osmkey:highway ?v FILTER(?v = 'footway') }",
        "SELECT ?a ?b { PARKS ?b osmkey:highway 'footway' FILTER EXISTS { ?a ogc:sfIntersects ?b } }",
        "SELECT ?a ?b { PARKS OPTIONAL { ?a ogc:sfIntersects ?b . ?b osmkey:highway 'footway' } FILTER(BOUND(?b)) }",
    ] {
        assert_eq!(sparql(at, &query.replace("PARKS", parks)), plain, "{query}");
    }
    // A condition outside of an OPTIONAL does not restrict the pattern inside it.
    let count = |query: &str| sparql(at, query);
    let optional = "SELECT (COUNT(*) AS ?n) { { PARKS OPTIONAL { ?a ogc:sfContains ?b } } ?b osmkey:amenity 'bench' }";
    let apart = "SELECT (COUNT(*) AS ?n) { { SELECT ?a ?b { PARKS OPTIONAL { ?a ogc:sfContains ?b } } }
        ?b osmkey:amenity 'bench' }";
    assert_eq!(count(&optional.replace("PARKS", parks)), count(&apart.replace("PARKS", parks)));
}

#[test]
fn many_geometries_make_one() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let numbers = |query: &str| -> Vec<f64> {
        let rows = sparql(at, query);
        rows[0].split('\t').map(|cell| cell.parse().unwrap_or_else(|_| panic!("{rows:?}"))).collect()
    };
    // Municipalities do not overlap: the area of their union is the sum of their areas.
    let areas = numbers(
        "SELECT (geof:area(geof:aggUnion(?g), uom:squareMetre) AS ?all) (SUM(?a) AS ?sum)
         { ?e a osm:relation; osmkey:admin_level 8; osm2rdf:area ?a; geo:hasGeometry/geo:asWKT ?g }",
    );
    assert!(areas[1] > 3e8 && (areas[0] / areas[1] - 1.0).abs() < 1e-6, "{areas:?}");
    let stops = "?e a osm:node; osmkey:highway 'bus_stop'; geo:hasGeometry/geo:asWKT ?g";
    let places: Vec<(f64, f64)> = sparql(at, &format!("SELECT ?g {{ {stops} }}")).iter().map(|g| point(g)).collect();
    let (lon, lat): (Vec<f64>, Vec<f64>) = places.iter().copied().unzip();
    let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bounds = numbers(&format!(
        "SELECT (geof:minX(?b) AS ?w) (geof:minY(?b) AS ?s) (geof:maxX(?b) AS ?e) (geof:maxY(?b) AS ?n)
         {{ {{ SELECT (geof:aggBoundingBox(?g) AS ?b) {{ {stops} }} }} }}"
    ));
    assert_eq!(bounds, [least(&lon), least(&lat), most(&lon), most(&lat)]);
    let middle = sparql(at, &format!("SELECT (geof:aggCentroid(?g) AS ?m) {{ {stops} }}"));
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (x, y) = point(&middle[0]);
    assert!((x - mean(&lon)).abs() < 1e-9 && (y - mean(&lat)).abs() < 1e-9, "{middle:?}");
    let hull = format!(
        "SELECT (COUNT(*) AS ?n) {{ {stops} {{ SELECT (geof:aggConvexHull(?h) AS ?all)
         {{ ?o a osm:node; osmkey:highway 'bus_stop'; geo:hasGeometry/geo:asWKT ?h }} }}
         FILTER(!geof:sfIntersects(?all, ?g)) }}"
    );
    assert_eq!(sparql(at, &hull), ["0"]);
    // Unions of each group. Values that are not geometries give no union, and a misplaced aggregate is an error.
    let grouped = "SELECT ?k (geof:aggUnion(?g) AS ?u) { ?e osmkey:leisure ?k; geo:hasGeometry/geo:asWKT ?g }
        GROUP BY ?k HAVING(COUNT(*) = 1)";
    let single = "SELECT ?k ?g { { SELECT ?k { ?e osmkey:leisure ?k; geo:hasGeometry ?h } GROUP BY ?k
        HAVING(COUNT(*) = 1) } ?e osmkey:leisure ?k; geo:hasGeometry/geo:asWKT ?g }";
    assert_eq!(sparql(at, grouped).len(), sparql(at, single).len());
    let names = "SELECT (geof:aggUnion(?g) AS ?u) { ?e osmkey:amenity 'cafe'; osmkey:name ?g }";
    assert!(sparql(at, names).concat().is_empty());
    let error = refusal(at, &["SELECT * { ?e osmkey:name ?g BIND(geof:aggUnion(?g) AS ?u) }", "--lang", "sparql"]);
    assert!(error.contains("aggregate"), "{error}");
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
    // In this form the spatial index does not use the distance.
    let plain = castles("BIND(geof:distance(?x, ?y, uom:metre) AS ?d) FILTER(?d < 500)");
    assert_eq!(near, sparql(at, &plain));
    let around = "SELECT DISTINCT ?b { ?a a osm:node; osmkey:amenity 'ferry_terminal'; geo:hasGeometry/geo:asWKT ?x .
        ?b a osm:node; osmkey:highway 'bus_stop'; geo:hasGeometry/geo:asWKT ?y
        FILTER(geof:distance(?x, ?y, uom:metre) <= 300) }";
    let by_overpass = elements(at, "node[amenity=ferry_terminal];node[highway=bus_stop](around:300);out ids;");
    let by_sparql: BTreeSet<String> = sparql(at, around).into_iter().collect();
    let by_overpass: BTreeSet<String> = by_overpass.into_iter().collect();
    // Overpass measures on a sphere, GeoSPARQL on the ellipsoid, so a few elements near the limit differ.
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
    // Places of items that are more than a kilometre from their element. The items are whole steps of 0.005 degrees
    // away, so that no distance is near the limit, where the two ways of measuring differ.
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
    // Municipalities with an area that differs by more than 5 % from that of their item: those with a difference of 20
    // %.
    let other = "SELECT ?e ?i { ?e a osm:relation; osmkey:admin_level 8; osm2rdfkey:wikidata ?i; osm2rdf:area ?a .
        ?i wdt:P2046 ?km FILTER(ABS(?a / 1000000 - ?km) / ?km > 0.05) }";
    let municipalities = elements(at, "rel[boundary=administrative][admin_level=8][wikidata];out ids;");
    let mut odd: Vec<String> = malta
        .items
        .iter()
        .filter(|(item, _)| item[1..].parse::<u64>().is_ok_and(|number| number % 2 == 1))
        .flat_map(|(item, elements)| elements.iter().map(move |(element, _)| (element, item)))
        .filter(|(element, _)| municipalities.contains(element))
        .map(|(element, item)| format!("{element}\t{item}"))
        .collect();
    odd.sort_unstable();
    assert!(odd.len() > 20 && odd.len() + 20 < municipalities.len(), "{odd:?}");
    assert_eq!(sparql(at, other), odd);
    // Population density from both sources, and with the area computed from WKT.
    let density = "SELECT ?e (ROUND(?people / ?a * 1e6) AS ?d) { ?e a osm:relation; osmkey:boundary 'administrative';
        osm2rdfkey:wikidata ?i; osm2rdf:area ?a . ?i wdt:P1082 ?people }";
    let by_texts = "SELECT ?e (ROUND(?people / geof:area(?g, uom:squareMetre) * 1e6) AS ?d) {
        ?e a osm:relation; osmkey:boundary 'administrative'; osm2rdfkey:wikidata ?i;
        geo:hasGeometry/geo:asWKT ?g . ?i wdt:P1082 ?people }";
    let crowded = sparql(at, density);
    assert!(crowded.len() > 10, "{crowded:?}");
    assert_eq!(crowded, sparql(at, by_texts));
    // Elements that were built before 1600, within 500 m of a bus stop, with and without the service.
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
