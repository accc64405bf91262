//! Compares the converter with that of the reference: every query of the vectors, byte for byte. Skipped if the vectors
//! are missing.

use crate::common::vectors;
use terrapin::overpass::convert::{ConversionForm, convert};

#[derive(Default)]
struct ConversionCount {
    right: usize,
    all: usize,
}

impl ConversionCount {
    fn add(&mut self, query: &str, xml: &str) {
        let found = convert(query, ConversionForm::Xml).map(|converted| converted.text).unwrap_or_default();
        self.all += 1;
        if found == xml {
            self.right += 1;
        } else if std::env::var_os("TERRAPIN_SHOW").is_some() {
            println!("{query}\n--- expected\n{xml}\n--- found\n{found}\n");
        }
    }

    fn at_least(&self, share: f64, name: &str) {
        println!("{name}: {} of {}", self.right, self.all);
        assert!(self.right as f64 >= share * self.all as f64, "{name}: {} of {}", self.right, self.all);
    }
}

#[test]
fn converts_as_the_reference_does() {
    let Some(folder) = vectors::folder() else { return };
    let mut all = Vec::new();
    for name in ["train", "dev", "pred"] {
        let [mut valid, mut broken]: [ConversionCount; 2] = Default::default();
        for line in vectors::lines(&folder.join(format!("xml-{name}.jsonl.gz"))) {
            let text = |key: &str| line[key].as_str().unwrap_or_default();
            let count = if text("error").is_empty() { &mut valid } else { &mut broken };
            count.add(text("prepared"), text("xml"));
        }
        all.push((name, valid, broken));
    }
    for (name, valid, broken) in &all {
        println!("{name}: valid {} of {}, broken {} of {}", valid.right, valid.all, broken.right, broken.all);
    }
    for (name, valid, broken) in &all {
        valid.at_least(1.0, &format!("valid queries of {name}"));
        broken.at_least(0.9, &format!("broken queries of {name}"));
    }
}

/// Converts a query to a form; there must be no problems.
fn clean(query: &str, form: ConversionForm) -> String {
    let converted = convert(query, form).expect("something to convert");
    assert!(converted.problems.is_none(), "{query}: {:?}", converted.problems);
    converted.text
}

/// Returns the syntax tree of a query without positions.
fn shape(query: &str) -> Option<String> {
    let place = regex::Regex::new(r"span: SourceSpan \{ start: \d+, end: \d+ \}, |line: \d+, ").expect("pattern");
    let script = terrapin::overpass::parse(query).ok()?;
    Some(place.replace_all(&format!("{script:?}"), "").into_owned())
}

#[test]
fn ql_is_laid_out_as_the_reference_does() {
    let query = "[out:json][timeout:25];area(4)->.a;(node[\"a\"=\"b\"](area.a)->.x;way(around:10););out;>;out skel qt;";
    assert_eq!(clean(query, ConversionForm::Compact), query);
    let pretty = "[out:json]\n[timeout:25]\n;\narea(4)->.a;\n(\n  node\n    [\"a\"=\"b\"]\n    (area.a)\n    ->.x;\n  \
                  way(around:10);\n);\nout;\n>;\nout skel qt;";
    assert_eq!(clean(query, ConversionForm::Pretty), pretty);
    let xml = "<id-query type=\"way\" ref=\"1\" into=\"x\"/><recurse type=\"down\"/><print mode=\"meta\"/>";
    assert_eq!(clean(xml, ConversionForm::Compact), "way(1)->.x;>;out meta;");
}

#[test]
fn every_statement_survives_the_way_there_and_back() {
    for query in [
        "node(if:(1+2)*3-(4-5)==t[\"x\"]&&!is_tag(\"y\")||-(1)<2);",
        "node(if:(1?2:3)==id());nwr(if:!(1&&2));way(if:!a.val&&count_by_role(\"a\",ways)>a.count(ways));",
        "node(if:lrs_in(\"a\",t[\"b\"])==x.u(t[\"c\"]));nwr(if:-(-1)*(-2)>1-(2-3));",
        "nwr(r)->.x;way(r.a:\"x\")->.x;node(w:1,2);node(way_cnt:2)->.y;node(way_link.x:2-3);node(way_link:2-);",
        "way(pivot.b);way(user:\"a\",\"b\")->.o;node(uid_touched:1,2);rel(bw.x:\"\");rel(br);rel(bn);area.a(pivot);",
        "node(changed:\"2020-01-01T00:00:00Z\",\"2021-01-01T00:00:00Z\")(newer:\"2020-01-01T00:00:00Z\");",
        "node[!a][~\"k\"~\"v\",i][\"k\"!~\"v\"][\"x\"!=\"y\"](poly:\"1 2 3 4 5 7\");node.a.b->.c;node(id:1,2);",
        "node[\"a\"=\"x\\\"y\\\\z\\n\"](around.a:3)(around:3,1,2)(around:3,1,2,3,4)(1,2,3,4)(area.x)(area:7);",
        "(node(1);- .a;);(node(1);-(way(2);););((.a;);- .a>;)->.b;.a->.b;",
        "is_in;.b is_in->.a;is_in(1,2)->.a;.a map_to_area->.b;timeline(rel,1,2)->.c;local ll(1,2,3,4);.a local->.b;",
        "complete(3)->.a{node(1);}complete.a->.b{.a;}foreach.a->.b{out;(node(1);way(2););}for.a->.b(t[\"x\"]){out;}",
        "if(1==2){out;(node(1););}else{node(1);out;}retro(\"2020-01-01T00:00:00Z\"){out;}",
        "compare(delta:1)->.a{out;}compare();.a compare(delta:t[\"x\"])->.b;",
        "make a ::id=1,::geom=pt(1,2),b=c.d,\"a b\"=\"e\"->.f;convert b ::=::,::id=id(),!x,y=t[\"c\"]+set(1)?1:2;make q;",
        "[bbox:1,2,3,4][maxsize:1Gi][date:\"2020-01-01T00:00:00Z\"][out:csv(\"a\",::id;false;\",\")][timeout:4];node(1);",
        "[adiff:\"2020-01-01T00:00:00Z\",\"2021-01-01T00:00:00Z\"];out ids;out tags qt 5 geom (1,2,3,4) noids;.a out count;",
        "out bb;out meta center asc;>->.a;.a > ->.b;>>;<;.b<<->.c;",
    ] {
        let tree = shape(query).unwrap_or_else(|| panic!("{query}: {:?}", terrapin::overpass::parse(query).err()));
        for form in [ConversionForm::Compact, ConversionForm::Pretty] {
            let there = clean(query, form);
            assert_eq!(shape(&there).as_deref(), Some(tree.as_str()), "{query}\n{there}");
            assert_eq!(clean(&there, form), there);
        }
    }
}

#[test]
fn ql_from_the_xml_of_the_vectors_means_the_same() {
    let Some(folder) = vectors::folder() else { return };
    let (mut same, mut all) = (0, 0);
    for line in vectors::lines(&folder.join("xml-dev.jsonl.gz")).iter().filter(|line| line["error"].is_null()) {
        let xml = line["xml"].as_str().unwrap_or_default();
        let Some(tree) = shape(xml) else { continue };
        all += 1;
        let there = convert(xml, ConversionForm::Pretty).map(|converted| converted.text).unwrap_or_default();
        if shape(&there).as_deref() == Some(tree.as_str()) {
            same += 1;
        } else if std::env::var_os("TERRAPIN_SHOW").is_some() {
            println!("{xml}\n--- is not\n{there}\n");
        }
    }
    println!("from XML to QL with the same tree: {same} of {all}");
    assert!(same == all && all > 900, "{same} of {all}");
}
