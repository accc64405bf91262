//! Tests OpenStreetMap's elements as triples. Each query is checked in a second way, by OverpassQL over the same
//! snapshot.

use std::collections::BTreeMap;

use crate::common::Town;
use crate::common::elements::{answer, elements, joined, json, lines, malta, overpass, point, refusal, sparql};

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
        assert_eq!(sparql(&at, "SELECT ?e { ?e osmkey:admin_level '8'^^xsd:int }"), ["relation/31"]);
        assert!(sparql(&at, "SELECT ?e { ?e osmkey:admin_level '8' }").is_empty());
        assert!(sparql(&at, "SELECT ?e { ?e osmkey:nothing ?v }").is_empty());
        assert!(sparql(&at, "SELECT ?v { osmnode:999 osmkey:amenity ?v }").is_empty());
        assert_eq!(sparql(&at, "SELECT ?v { osmnode:1 osmkey:name ?v }"), ["Bean & Leaf"]);
        assert_eq!(sparql(&at, "SELECT (COUNT(*) AS ?n) { ?e a osm:node }"), ["8"]);
    }
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
    let today = "SELECT ?pos ?e ?role { osmrel:32 osmrel:member ?m .
        ?m osmrel:member_id ?e; osmrel:member_role ?role; osmrel:member_pos ?pos }";
    for query in [members, today] {
        assert_eq!(sparql(&at, query), ["0\tway/22\tmember", "1\tway/99\tmember"]);
    }
    let nodes = "SELECT ?pos ?n { osmway:22 osmway:node ?m . ?m osmway:node ?n; osm2rdfmember:pos ?pos }";
    let today = "SELECT ?pos ?n { osmway:22 osmway:member ?m . ?m osmway:member_id ?n; osmway:member_pos ?pos }";
    for query in [nodes, today] {
        assert_eq!(sparql(&at, query), ["0\tnode/11", "1\tnode/13"]);
    }
    for query in [
        "SELECT DISTINCT ?w { ?w osmway:node ?m . ?m osmway:node osmnode:13 }",
        "SELECT DISTINCT ?w { ?w osmway:member/osmway:member_id osmnode:13 }",
    ] {
        assert_eq!(sparql(&at, query), elements(&at, "node(13);way(bn);out ids;"));
    }
    assert!(sparql(&at, "SELECT ?m { ?m osmrel:member_id osmnode:13 }").is_empty());
    let complete = "SELECT ?r ?all { ?r osm2rdf:hasCompleteGeometry ?all }";
    assert_eq!(sparql(&at, complete), ["relation/31\ttrue", "relation/32\tfalse"]);
    let names = "SELECT ?g ?c { osmrel:31 geo:hasGeometry ?g; geo:hasCentroid ?c }";
    let name = "https://osm2rdf.cs.uni-freiburg.de/rdf/geom#osmrel";
    assert_eq!(sparql(&at, names), [format!("{name}_31\t{name}_centroid_31")]);
    assert_eq!(sparql(&at, &format!("SELECT ?e {{ ?e geo:hasCentroid <{name}_centroid_31> }}")), ["relation/31"]);
    let meta = "SELECT ?e ?v (CONCAT(STR(?t), 'Z') AS ?z) (STRAFTER(STR(?c), STR(osmchangeset:)) AS ?n) ?u ?uid {
        ?e a osm:way; osmmeta:version ?v; osmmeta:timestamp ?t; osmmeta:changeset ?c; osmmeta:user ?u; osmmeta:uid ?uid }";
    let columns = "::type,::id,::version,::timestamp,::changeset,::user,::uid";
    assert_eq!(
        sparql(&at, meta),
        overpass(&at, columns, "way(9,19,11,21);out meta;").iter().map(|line| joined(line)).collect::<Vec<_>>()
    );
    let inside = "SELECT ?n { osmrel:31 ogc:sfContains ?n . ?n a osm:node }";
    assert_eq!(sparql(&at, inside), ["node/1", "node/2", "node/3"]);
    let around = "SELECT ?a { ?a ogc:sfContains osmnode:2 }";
    // The node is on the street, which is also the only way of the route.
    assert_eq!(sparql(&at, around), ["relation/31", "relation/32", "way/22"]);
    let all = "SELECT ?p ?o { osmnode:1 ?p ?o }";
    let said = sparql(&at, all);
    assert!(said.contains(&"wiki/Key:amenity\tcafe".to_owned()), "{said:?}");
    assert_eq!(said.iter().filter(|line| line.starts_with("meta/")).count(), 5, "{said:?}");
}

#[test]
fn any_predicate_of_elements_that_other_patterns_find() {
    for town in [Town::new(), Town::with_triples()] {
        let at = town.snapshot();
        let said = sparql(&at, "SELECT ?p ?o { osmnode:1 ?p ?o }");
        assert!(said.len() > 8, "{said:?}");
        for one in [
            "?e osmkey:name 'Bean & Leaf' . ?e ?p ?o",
            "?e ?p ?o . ?e a osm:node FILTER(?e = osmnode:1)",
            "VALUES ?e { osmnode:1 } ?e ?p ?o",
            "BIND(osmnode:1 AS ?e) ?e ?p ?o",
            "{ ?e osmkey:name 'Bean & Leaf' } UNION { ?e osmkey:name 'nobody' } ?e ?p ?o",
            "{ SELECT DISTINCT ?e { ?e osmkey:name 'Bean & Leaf' } } ?e ?p ?o",
            "{ SELECT ?e { ?e osmkey:name 'Bean & Leaf' } LIMIT 1 } ?e ?p ?o",
            "?e osmkey:name 'Bean & Leaf' OPTIONAL { ?e ?p ?o }",
            "SERVICE terrapin:overpass { [] terrapin:query 'node(1);out;'; terrapin:element ?e } ?e ?p ?o",
        ] {
            assert_eq!(sparql(&at, &format!("SELECT ?p ?o {{ {one} }}")), said, "{one}");
        }
        let cafes = elements(&at, "node[amenity=cafe];out ids;");
        let types: Vec<String> = cafes.iter().map(|cafe| format!("{cafe}\tnode")).collect();
        assert_eq!(sparql(&at, "SELECT ?e ?t { ?e osmkey:amenity 'cafe'; a ?t }"), types);
        assert_eq!(sparql(&at, "SELECT ?e ?t { VALUES ?t { osm:relation } ?e a ?t }").len(), 2);
        assert_eq!(sparql(&at, "SELECT ?e { ?e osmkey:amenity 'cafe' FILTER EXISTS { ?e ?p 'cafe' } }"), cafes);
        assert!(sparql(&at, "SELECT ?e { ?e osmkey:amenity 'cafe' FILTER NOT EXISTS { ?e a ?t } }").is_empty());
        assert!(sparql(&at, "SELECT ?e { ?e osmkey:amenity 'cafe' MINUS { ?e ?p 'cafe' } }").is_empty());
        // Members, geometries, and patterns that bind the subject.
        assert_eq!(sparql(&at, "SELECT ?p ?o { osmrel:32 osmrel:member ?m . ?m ?p ?o }").len(), 6);
        let text = sparql(&at, "SELECT ?o { osmway:22 geo:hasGeometry ?g . ?g ?p ?o }");
        assert_eq!(text, ["LINESTRING(20 10,20.01 10.01)"]);
        // A closed way has its first node twice.
        assert_eq!(sparql(&at, "SELECT ?p { ?n a osm:way . ?n ?p ?m . ?m osmway:member_id osmnode:11 }").len(), 3);
        let inside = sparql(&at, "SELECT DISTINCT ?n { osmrel:31 ogc:sfContains ?n . ?n ?p 'cafe' }");
        assert_eq!(inside, sparql(&at, "SELECT ?n { osmrel:31 ogc:sfContains ?n . ?n osmkey:amenity 'cafe' }"));
    }
}

#[test]
fn elements_are_described() {
    for town in [Town::new(), Town::with_triples()] {
        let at = town.snapshot();
        let describe = |query: &str| lines(&answer(&at, &[query, "--lang", "sparql", "--format", "nt"]));
        let cafe = describe("DESCRIBE osmnode:1");
        assert!(cafe.iter().all(|line| line.starts_with("<https://www.openstreetmap.org/node/1> ")), "{cafe:?}");
        let said = sparql(&at, "SELECT ?p ?o { osmnode:1 ?p ?o }");
        assert_eq!(cafe.len(), said.len(), "{cafe:?}");
        assert_eq!(describe("DESCRIBE ?e { ?e osmkey:name 'Bean & Leaf' }"), cafe);
        // The description of a relation includes its members, which are blank nodes.
        let route = describe("DESCRIBE osmrel:32");
        let members = route.iter().filter(|line| line.starts_with("_:")).count();
        assert_eq!(members, 6, "{route:?}");
        assert!(describe("DESCRIBE osmnode:999").is_empty());
        assert_eq!(
            describe("DESCRIBE osmnode:1 osmnode:2 osmnode:1").len(),
            cafe.len() + describe("DESCRIBE osmnode:2").len()
        );
    }
    let town = Town::with_triples();
    let both = answer(&town.snapshot(), &["DESCRIBE wd:Q2 osmnode:1", "--lang", "sparql", "--format", "nt"]);
    assert!(both.contains("/entity/Q2>") && both.contains("/node/1>"), "{both}");
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
    // A triple that is both stored and derived from an element occurs once; a triple that is only stored also occurs.
    for (one, predicate, times) in [(1, "amenity", 1), (2, "cuisine", 1), (77, "amenity", 1)] {
        for query in [
            format!("SELECT ?o {{ osmnode:{one} ?p ?o FILTER(?p = osmkey:{predicate}) }}"),
            format!("SELECT ?o {{ VALUES ?e {{ osmnode:{one} }} ?e ?p ?o FILTER(?p = osmkey:{predicate}) }}"),
        ] {
            assert_eq!(sparql(&at, &query).len(), times, "{query}");
        }
    }
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
        ("SELECT * { ?e osmt:amenity 'cafe' }", "did you mean 'osmkey:'"),
        ("SELECT * { SERVICE <https://qlever.cs.uni-freiburg.de/spatialSearch/> { ?a ?b ?c } }", "left and right"),
        ("SELECT * { SERVICE terrapin:nothing { [] terrapin:query 'node;out;' } }", "unknown service"),
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
    // The start of a query determines its language, independent of the snapshot.
    let bare = refusal(&Town::new().snapshot(), &["SELECT * {?s ?p ?o}"]);
    assert!(bare.contains("has no triples") && bare.contains("osmkey:amenity"), "{bare}");
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
    // The sizes of osm2rdf equal those that GeoSPARQL computes from the WKT.
    let differ = "SELECT ?e { ?e osmkey:leisure 'park'; osm2rdf:area ?a; geo:hasGeometry/geo:asWKT ?g
        FILTER(ABS(?a - geof:area(?g, uom:squareMetre)) > 0.01) }";
    assert!(sparql(at, differ).is_empty());
    assert!(sparql(at, "SELECT ?e { ?e osmkey:leisure 'park'; osm2rdf:area ?a FILTER(?a > 1000) }").len() > 10);
    let long = "SELECT ?e { ?e osmkey:highway 'trunk'; osm2rdf:length ?l FILTER(?l > 500) }";
    assert_eq!(sparql(at, long), elements(at, "way[highway=trunk](if:length()>500);out ids;"));
    // Links to items and articles count as facts, in addition to their tags.
    let facts = "SELECT ?e ?n { ?e osmkey:historic 'castle'; osm2rdf:facts ?n }";
    let mut counted: Vec<String> = json(at, "nwr[historic=castle];out tags;")
        .iter()
        .map(|e| {
            let tags = e["tags"].as_object().unwrap();
            let links = tags.keys().filter(|key| key.ends_with("wikidata") || key.ends_with("wikipedia")).count();
            format!("{}/{}\t{}", e["type"].as_str().unwrap(), e["id"], tags.len() + links)
        })
        .collect();
    counted.sort_unstable();
    assert!(counted.len() > 10);
    assert_eq!(sparql(at, facts), counted);
    assert!(sparql(at, "SELECT ?e { ?e osm2rdf:facts 0 }").is_empty());
    let articles = "SELECT ?e { ?e osm2rdfkey:wikipedia <https://en.wikipedia.org/wiki/Fort_Delimara> }";
    assert_eq!(sparql(at, articles), elements(at, "nwr[wikipedia='en:Fort Delimara'];out ids;"));
    let old = "SELECT ?e ?d { ?e osm2rdfkey:start_date ?d FILTER(DATATYPE(?d) = xsd:gYear && STR(?d) < '1700') }";
    let by_tag = overpass(at, "::type,::id,start_date", "nwr[start_date~'^1[0-6][0-9][0-9]$'];out;");
    assert!(!by_tag.is_empty());
    assert_eq!(sparql(at, old), by_tag.iter().map(|line| joined(line)).collect::<Vec<_>>());
}

#[test]
fn members_in_malta() {
    let Some(malta) = malta() else { return };
    let at = &malta.snapshot;
    let query = "SELECT ?r ?pos ?e ?role { ?r osmkey:route 'ferry'; osmrel:member ?m .
        ?m osmrel:member_id ?e; osmrel:member_role ?role; osmrel:member_pos ?pos }";
    let mut expected = Vec::new();
    for relation in json(at, "rel[route=ferry];out;") {
        for (pos, member) in relation["members"].as_array().unwrap().iter().enumerate() {
            let (kind, id, role) = (&member["type"], &member["ref"], &member["role"]);
            let [kind, role] = [kind, role].map(|text| text.as_str().unwrap());
            let role = if role.is_empty() { "member" } else { role };
            expected.push(format!("relation/{}\t{pos}\t{kind}/{id}\t{role}", relation["id"]));
        }
    }
    expected.sort_unstable();
    assert!(!expected.is_empty());
    assert_eq!(sparql(at, query), expected);
    let nodes =
        "SELECT ?w (COUNT(?n) AS ?nodes) { ?w osmkey:highway 'trunk'; osmway:member ?m . ?m osmway:member_id ?n }
        GROUP BY ?w";
    let ways = json(at, "way[highway=trunk];out;");
    let count = |way: &serde_json::Value| way["nodes"].as_array().unwrap().len();
    let mut counts: Vec<String> = ways.iter().map(|way| format!("way/{}\t{}", way["id"], count(way))).collect();
    counts.sort_unstable();
    assert_eq!(sparql(at, nodes), counts);
    let crossings = "SELECT DISTINCT ?r { ?e osmkey:name 'Ċirkewwa' . ?m osmrel:member_id ?e . ?r osmrel:member ?m }";
    assert_eq!(sparql(at, crossings), elements(at, "nwr[name='Ċirkewwa'];rel(<);out ids;"));
}
