//! Tests entailment regimes. The expected answers under RDFS follow from the rules of RDF 1.1 Semantics, section 9.2.1,
//! as in the W3C's tests `rdfs01` to `rdfs11` of SPARQL 1.1 Entailment Regimes; those of GeoSPARQL's rules from the
//! patterns of the tables 4 to 6 in GeoSPARQL 1.1 (OGC 22-047r1).

use std::sync::LazyLock;

use crate::common::triples::{ValueLines, environment};
use terrapin::budget::Limits;
use terrapin::sparql::{
    Dialect, Entailment, Environment, SparqlBounds, SparqlCode, SparqlError, SparqlSettings, prepare,
};

const PREFIXES: &str = "PREFIX : <http://e/> PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
";

/// Returns the sorted solutions.
#[track_caller]
fn ask(environment: &Environment, regimes: &str, text: &str) -> Vec<String> {
    let entailment: Entailment = regimes.parse().unwrap();
    let settings = SparqlSettings { dialect: Dialect::Standard, entailment, ..SparqlSettings::default() };
    let prepared = prepare(&format!("{PREFIXES}{text}"), &settings).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut lines = ValueLines::new("-");
    prepared.run(environment, &SparqlBounds::default(), &mut lines).unwrap_or_else(|error| panic!("{text}: {error}"));
    lines.lines.sort();
    lines.lines
}

static FAMILY: LazyLock<Environment> = LazyLock::new(|| {
    environment(
        "x.ttl",
        "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
         :mother rdfs:subPropertyOf :parent . :parent rdfs:subPropertyOf :ancestor .
         :parent rdfs:domain :Person ; rdfs:range :Adult .
         :Adult rdfs:subClassOf :Person . :Person rdfs:subClassOf :Agent . :Agent rdfs:subClassOf :Agent .
         :ann :mother :eva . :ann :parent :eva . :bob :parent :ann . :eva a :Adult . :cat a :Animal .
         :bob :name \"Bob\" . :name rdfs:range :Person .",
    )
});

fn rdfs(text: &str) -> Vec<String> {
    ask(&FAMILY, "rdfs", text)
}

#[test]
fn properties_inherit_from_their_subproperties() {
    assert_eq!(ask(&FAMILY, "simple", "SELECT * { ?x :ancestor ?y }"), [""; 0]);
    // Each pair is one solution, in how many ways it follows.
    assert_eq!(rdfs("SELECT * { ?x :ancestor ?y }"), ["ann eva", "bob ann"]);
    assert_eq!(rdfs("SELECT * { ?x :parent ?y }"), ["ann eva", "bob ann"]);
    assert_eq!(rdfs("SELECT ?x { ?x :ancestor :eva }"), ["ann"]);
    assert_eq!(rdfs("SELECT ?y { :bob :ancestor/:ancestor ?y }"), ["eva"]);
    assert_eq!(rdfs("SELECT ?p { :ann ?p :eva }"), ["ancestor", "mother", "parent"]);
    assert_eq!(rdfs("SELECT ?p { :bob ?p ?y . ?p rdfs:subPropertyOf :ancestor }"), ["ancestor", "parent"]);
}

#[test]
fn types_follow_from_classes_domains_and_ranges() {
    assert_eq!(rdfs("SELECT ?x { ?x a :Agent }"), ["ann", "bob", "eva"]);
    // A literal has no type.
    assert_eq!(rdfs("SELECT ?x { ?x a :Person }"), ["ann", "bob", "eva"]);
    assert_eq!(rdfs("SELECT ?x { ?x a :Adult }"), ["ann", "eva"]);
    assert_eq!(rdfs("SELECT ?c { :eva a ?c }"), ["Adult", "Agent", "Person"]);
    assert_eq!(rdfs("SELECT ?x { ?x a :Animal }"), ["cat"]);
    assert_eq!(rdfs("SELECT ?x ?c { ?x :mother [] ; a ?c }"), ["ann Adult", "ann Agent", "ann Person"]);
    assert_eq!(
        rdfs("SELECT ?x ?c { ?x a ?c FILTER(?c != :Agent) }"),
        ["ann Adult", "ann Person", "bob Person", "cat Animal", "eva Adult", "eva Person"]
    );
    assert_eq!(rdfs("SELECT ?x { ?x a :Person FILTER NOT EXISTS { ?x a :Adult } }"), ["bob"]);
    assert_eq!(rdfs("SELECT ?c { :Adult rdfs:subClassOf ?c }"), ["Adult", "Agent", "Person"]);
    assert_eq!(rdfs("SELECT ?c { ?c rdfs:subClassOf :Agent }"), ["Adult", "Agent", "Person"]);
    assert_eq!(rdfs("SELECT (COUNT(*) AS ?n) { ?c rdfs:subClassOf ?d }"), ["7"]);
}

/// RDF 1.2: a triple term is only an object, so that it has no type, and entailment does not look into it.
#[test]
fn triple_terms_are_matched_as_stored() {
    let data = environment(
        "x.ttl",
        "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
         :mother rdfs:subPropertyOf :parent . :claims rdfs:subPropertyOf :says . :says rdfs:range :Claim .
         :ann :claims <<( :eva :mother :bob )>> , :it . _:b :says <<( _:b :mother :eva )>> .",
    );
    for (text, expected) in [
        ("SELECT ?x ?y { ?x :says <<( :eva :mother ?y )>> }", &["ann bob"][..]),
        ("SELECT ?x ?y { :ann ?x <<( ?y :mother :bob )>> }", &["claims eva", "says eva"]),
        ("SELECT ?x { ?x :says <<( :eva :mother :bob )>> }", &["ann"]),
        ("SELECT ?y { _:x :says <<( _:x :mother ?y )>> }", &["eva"]),
        ("SELECT ?x { ?x :says <<( :eva :parent ?y )>> }", &[]),
        ("SELECT ?x { ?x a :Claim }", &["it"]),
        ("ASK { ?t a ?c FILTER(isTRIPLE(?t)) }", &["false"]),
        ("SELECT ?c { :ann :claims ?t FILTER(isTRIPLE(?t)) ?t a ?c }", &[]),
        ("SELECT ?p { <<( :eva :mother :bob )>> ?p ?o }", &[]),
        ("SELECT ?p { <<( :eva :mother ?x )>> a :Claim }", &[]),
    ] {
        assert_eq!(ask(&data, "rdfs", text), expected, "{text}");
        ask(&data, "rdfs,geosparql", text);
    }
}

/// A square with a smaller one inside, one at its corner, one beside it and a line across; `:far` has its geometry in
/// GML, and `:empty` an empty one.
static SQUARES: LazyLock<Environment> = LazyLock::new(|| {
    let feature = |name: &str, wkt: &str| {
        format!(":{name} geo:hasDefaultGeometry :{name}-g . :{name}-g geo:asWKT \"{wkt}\"^^geo:wktLiteral .\n")
    };
    let gml = "<gml:Polygon xmlns:gml='http://www.opengis.net/gml/3.2'><gml:exterior><gml:LinearRing>\
               <gml:posList>20 20 21 20 21 21 20 20</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon>";
    environment(
        "x.ttl",
        &format!(
            "@prefix : <http://e/> . @prefix geo: <http://www.opengis.net/ont/geosparql#> .
             @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
             :exact rdfs:subPropertyOf geo:hasDefaultGeometry .
             {}{}{}{}{}:far geo:hasDefaultGeometry :far-g . :far-g geo:asGML \"{gml}\"^^geo:gmlLiteral .
             :sub :exact :sub-g . :sub-g geo:asWKT \"POINT(1.5 1.5)\"^^geo:wktLiteral .
             :square geo:sfContains :inner, :elsewhere .",
            feature("square", "POLYGON((0 0,4 0,4 4,0 4,0 0))"),
            feature("inner", "POLYGON((1 1,2 1,2 2,1 2,1 1))"),
            feature("corner", "POLYGON((0 0,2 0,2 2,0 2,0 0))"),
            feature("beside", "POLYGON((4 0,8 0,8 4,4 4,4 0))"),
            feature("line", "LINESTRING(-1 3,5 3)"),
        ),
    )
});

fn geosparql(text: &str) -> Vec<String> {
    ask(&SQUARES, "geosparql", text)
}

#[test]
fn relations_follow_from_the_geometries() {
    assert_eq!(ask(&SQUARES, "simple", "SELECT ?x { :square geo:sfContains ?x }"), ["elsewhere", "inner"]);
    // A stated relation holds as well, and is found once.
    assert_eq!(
        geosparql("SELECT ?x { :square geo:sfContains ?x }"),
        ["corner", "corner-g", "elsewhere", "inner", "inner-g", "square", "square-g", "sub-g"]
    );
    assert_eq!(geosparql("SELECT ?x { ?x geo:rcc8ntpp :square }"), ["inner", "inner-g"]);
    assert_eq!(geosparql("SELECT ?x { ?x geo:rcc8tpp :square-g }"), ["corner", "corner-g"]);
    assert_eq!(geosparql("SELECT ?x { :square geo:sfTouches ?x }"), ["beside", "beside-g"]);
    assert_eq!(geosparql("SELECT ?x { :line geo:sfCrosses ?x }"), ["beside", "beside-g", "square", "square-g"]);
    assert_eq!(geosparql("SELECT ?x { :square geo:rcc8dc ?x }"), ["far", "far-g"]);
    assert_eq!(
        geosparql("SELECT ?x { :beside geo:ehDisjoint ?x }"),
        ["corner", "corner-g", "far", "far-g", "inner", "inner-g", "sub-g"]
    );
    assert_eq!(geosparql("ASK { :far geo:rcc8eq :far-g }"), ["true"]);
    assert_eq!(geosparql("ASK { :far geo:sfIntersects :square }"), ["false"]);
    assert_eq!(geosparql("SELECT (COUNT(*) AS ?n) { ?x geo:ehInside ?y }"), ["10"]);
    assert_eq!(
        geosparql("SELECT ?p { :corner-g ?p :inner-g FILTER(STRSTARTS(STR(?p), STR(geo:rcc8))) }"),
        ["geosparql#rcc8tppi"]
    );
}

#[test]
fn regimes_combine() {
    assert_eq!(geosparql("SELECT ?x { ?x geo:sfWithin :inner }"), ["inner", "inner-g", "sub-g"]);
    let both = ask(&SQUARES, "rdfs,geosparql", "SELECT ?x { ?x geo:sfWithin :inner }");
    assert_eq!(both, ["inner", "inner-g", "sub", "sub-g"]);
}

/// Runs a query under RDFS. Returns its only value and its units of work, or the error.
fn count(environment: &Environment, limits: Limits, text: &str) -> Result<(String, u64), SparqlError> {
    let entailment = Entailment { rdfs: true, ..Entailment::default() };
    let settings = SparqlSettings { dialect: Dialect::Standard, entailment, ..SparqlSettings::default() };
    let mut lines = ValueLines::new("-");
    let bounds = SparqlBounds { limits, ..SparqlBounds::default() };
    let summary = prepare(&format!("{PREFIXES}{text}"), &settings)?.run(environment, &bounds, &mut lines)?;
    Ok((lines.lines.concat(), summary.work))
}

/// The subproperties of 200 properties with a domain are looked up once, not for each of 200 terms: 200 chains of on
/// average 100 properties are 20,000 triples, for each term 4 million.
#[test]
fn domains_are_followed_once_for_a_query() {
    let mut text = "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n".to_owned();
    for n in 0..200 {
        text += &format!(":p{n} rdfs:subPropertyOf :p{} ; rdfs:domain :c{n} . :t{n} :p0 \"{n}\" .\n", n + 1);
    }
    let data = environment("x.ttl", &text);
    let query = "SELECT (COUNT(*) AS ?n) { ?x :p0 ?y . ?x a ?c }";
    let (answers, work) = count(&data, Limits::default(), query).unwrap();
    assert_eq!(answers, "40000");
    assert!(work < 500_000, "{work}");
}

/// 20,000 classes, of which none is stored as its own subclass: their list counts as the query's memory.
#[test]
fn the_list_of_all_classes_is_limited() {
    let mut text = "@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n".to_owned();
    for n in 0..20_000 {
        text += &format!(":p{} rdfs:range :c{n} .\n", n % 7);
    }
    let data = environment("x.ttl", &text);
    let query = "SELECT (COUNT(*) AS ?n) { ?c rdfs:subClassOf ?d }";
    let limited = |memory| count(&data, Limits { memory: Some(memory), ..Limits::default() }, query);
    assert_eq!(limited(16 << 20).unwrap().0, "20000");
    let error = limited(256 << 10).unwrap_err();
    assert_eq!(error.code, SparqlCode::Memory, "{error}");
}
