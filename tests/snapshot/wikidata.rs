//! Tests dumps of Wikidata's entities through the binary: complete, by recipe, and with invalid lines.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::skip;
use crate::common::{Town, terrapin};
use oxrdf::{NamedNode, NamedNodeRef};
use serde_json::Value;
use terrapin::rdf::Store;
use terrapin::snapshot::Snapshot;

fn entity(id: &str, claims: &[(&str, &str)]) -> String {
    let claim = |(property, to): &(&str, &str)| {
        format!(
            r#""{property}":[{{"id":"{id}$a","rank":"normal","mainsnak":{{"snaktype":"value","property":"{property}","datatype":"wikibase-item","datavalue":{{"type":"wikibase-entityid","value":{{"id":"{to}"}}}}}}}}]"#
        )
    };
    let claims: Vec<String> = claims.iter().map(claim).collect();
    let labels =
        format!(r#"{{"en":{{"language":"en","value":"the {id}"}},"mt":{{"language":"mt","value":"il-{id}"}}}}"#);
    format!(r#"{{"type":"item","id":"{id}","labels":{labels},"claims":{{{}}}}},"#, claims.join(","))
}

fn dump(folder: &Path) -> PathBuf {
    let lines = [
        "[".to_owned(),
        entity("Q1", &[("P31", "Q20")]),
        entity("Q2", &[("P31", "Q30"), ("P17", "Q3")]),
        entity("Q3", &[]),
        entity("Q20", &[("P279", "Q10")]),
        "{\"type\":\"item\",\"id\":\"Q9\", broken".to_owned(),
        entity("Q10", &[]),
        r#"{"type":"property","datatype":"wikibase-item","id":"P17"}"#.to_owned(),
        "]".to_owned(),
    ];
    let path = folder.join("dump.json");
    std::fs::write(&path, lines.join("\n")).unwrap();
    path
}

/// Runs `terrapin load`; returns exit status, JSON output and standard error.
fn load(args: &[&str]) -> (i32, Value, String) {
    let output = terrapin().arg("load").arg("--json").args(args).output().unwrap();
    let said = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().unwrap(), said, String::from_utf8(output.stderr).unwrap())
}

fn open(path: &Path) -> Arc<Store> {
    let snapshot = Arc::new(Snapshot::open(path).unwrap());
    Arc::new(Store::open(&snapshot).unwrap().expect("it has triples"))
}

/// Returns the entities with labels in a language, by number.
fn labelled(store: &Store, language: &str) -> Vec<String> {
    let label = NamedNodeRef::new_unchecked("http://www.w3.org/2000/01/rdf-schema#label");
    let Some(label) = store.id(label.into()) else { return vec![] };
    let mut ids: Vec<String> = store
        .triples(None, Some(label), None)
        .filter_map(|[subject, _, text]| {
            let oxrdf::Term::Literal(text) = store.term(text)? else { return None };
            (text.language() == Some(language)).then(|| store.term(subject).unwrap().to_string())
        })
        .map(|iri| iri.trim_matches(['<', '>']).rsplit('/').next().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

fn remarks(said: &Value) -> Vec<&str> {
    said["remarks"].as_array().unwrap().iter().map(|remark| remark.as_str().unwrap()).collect()
}

#[test]
fn a_line_that_is_wrong_is_an_error_or_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (dump, out) = (dump(folder.path()), folder.path().join("x.terrapin"));
    let args = ["--wikidata", dump.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let (status, _, error) = load(&args);
    assert_eq!(status, 3, "{error}");
    assert!(error.contains("dump.json: line 6, byte ") && error.contains("not a Wikidata entity"), "{error}");
    assert!(!out.exists());

    let (status, said, warnings) = load(&[&args[..], &["--skip-bad"]].concat());
    assert_eq!(status, 0, "{warnings}");
    assert_eq!(remarks(&said), ["source 1: 6 entities, 1 lines that are wrong left out"]);
    assert!(warnings.contains("left out: ") && warnings.contains("line 6, byte "), "{warnings}");
    assert_eq!(labelled(&open(&out), "mt"), ["Q1", "Q10", "Q2", "Q20", "Q3"]);
}

#[test]
fn a_recipe_takes_a_part_and_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (dump, out) = (dump(folder.path()), folder.path().join("x.terrapin"));
    let recipe = folder.path().join("r.toml");
    let args = ["--wikidata", dump.to_str().unwrap(), "--out", out.to_str().unwrap(), "--skip-bad", "--recipe"];
    let made = |text: &str| {
        std::fs::write(&recipe, text).unwrap();
        load(&[&args[..], &[recipe.to_str().unwrap()]].concat())
    };

    let (status, said, error) = made("[take]\nclasses = [\"Q10\"]\n[keep]\nlanguages = [\"en\"]\n");
    assert_eq!(status, 0, "{error}");
    let recorded =
        ["recipe: classes = Q10; keep languages = en", "source 1: 4 entities, 1 lines that are wrong left out"];
    assert_eq!(remarks(&said), recorded);
    let store = open(&out);
    assert_eq!(
        (labelled(&store, "en"), labelled(&store, "mt")),
        (vec!["Q1".into(), "Q10".into(), "Q20".into()], vec![])
    );
    let claim = NamedNode::new_unchecked("http://wikiba.se/ontology#directClaim");
    assert!(store.id(claim.as_ref().into()).is_some(), "properties come along");
    let digest = said["digest"].clone();
    assert!(digest.is_string());
    assert_eq!(made("[keep]\nlanguages = [\"en\"]\n[take]\nclasses = [\"Q10\", \"Q10\"]\n").1["digest"], digest);

    std::fs::write(folder.path().join("q.txt"), "SELECT * { wd:Q2 wdt:P17 ?c }").unwrap();
    let (status, said, error) = made("[take]\nqueries_from = [\"q.txt\"]\nsteps = 1\n");
    assert_eq!(status, 0, "{error}");
    assert!(remarks(&said)[0].starts_with("recipe: queries_from = 2 ids, "), "{said}");
    assert_eq!(labelled(&open(&out), "en"), ["Q2", "Q3"]);

    for (text, message) in [
        ("take = 1", "r.toml: TOML parse error at line 1"),
        ("[take]\nclass = []", "unknown field `class`"),
        ("[take]\nclasses = [\"city\"]", "is not the id of an entity, such as"),
        ("[take]\nentities_from = [\"none\"]", "none: No such file"),
        ("[take]\nosm = true", "pass --osm"),
    ] {
        let (status, _, error) = made(text);
        assert!(matches!(status, 2 | 3) && error.contains(message), "{text}: {status} {error}");
    }
}

#[test]
fn what_gives_nothing_is_an_error_unless_that_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (dump, out) = (dump(folder.path()), path("x.terrapin"));
    let dump = dump.to_str().unwrap();
    std::fs::write(path("r.toml"), "[take]\nclasses = [\"Q999\"]\n").unwrap();
    std::fs::write(path("empty.nt"), "# nothing\n").unwrap();
    std::fs::write(path("array.json"), "[\n]\n").unwrap();
    std::fs::write(path("page.ttl"), "\n<!DOCTYPE html>\n<html><body>Log in</body></html>").unwrap();
    std::fs::write(path("cut.json"), format!("[\n{}\n", entity("Q1", &[]))).unwrap();
    let (empty, array, page, cut, recipe) =
        (path("empty.nt"), path("array.json"), path("page.ttl"), path("cut.json"), path("r.toml"));
    for (args, message) in [
        (&["--wikidata", dump, "--recipe", &recipe, "--skip-bad"][..], "the recipe selects no entity"),
        (&["--rdf", &empty], "empty.nt: no triples in this file; pass --allow-empty"),
        (&["--wikidata", dump, &array, "--skip-bad"], "array.json: no triples in this file"),
        (&["--rdf", &page], "page.ttl: an HTML page, not data"),
        (&["--wikidata", &page], "page.ttl: an HTML page, not data"),
        (&["--osm", &page], "page.ttl: an HTML page, not data"),
        (&["--wikidata", &cut], "its closing ] is missing"),
    ] {
        let (status, _, error) = load(&[args, &["--out", &out]].concat());
        assert!(status == 3 && error.contains(message), "{args:?}: {status} {error}");
    }
    let (status, said, error) = load(&["--wikidata", &cut, "--skip-bad", "--out", &out]);
    assert_eq!((status, remarks(&said)), (0, vec!["source 1: 1 entities, 1 lines that are wrong left out"]), "{error}");
    for args in [&["--wikidata", dump, "--recipe", &recipe, "--skip-bad"][..], &["--rdf", &empty]] {
        let (status, said, error) = load(&[args, &["--out", &out, "--allow-empty"]].concat());
        assert!(status == 0 && said["digest"].is_string(), "{args:?}: {error}");
        let snapshot = Arc::new(Snapshot::open(Path::new(&out)).unwrap());
        // Queries for triples work even if there are no triples.
        let store = Store::open(&snapshot).unwrap().unwrap();
        assert_eq!(store.triples(None, None, None).count() as u64, store.len());
        assert!(store.check().is_ok());
    }
}

#[test]
fn a_load_needs_a_source() {
    let (status, _, error) = load(&["--out", "x.terrapin"]);
    assert!(status == 2 && error.contains("--wikidata"), "{status} {error}");
}

#[test]
fn what_elements_link_is_taken() {
    let town = Town::new();
    let osm = town.path("linked.osm");
    let node = |id, tag: &str| format!("<node id=\"{id}\" lat=\"1\" lon=\"1\"><tag k=\"{tag}\" v=\"Q3;Q20\"/></node>");
    std::fs::write(&osm, format!("<osm version=\"0.6\">{}{}</osm>", node(1, "wikidata"), node(2, "name"))).unwrap();
    let dump = dump(osm.parent().unwrap());
    let (recipe, out) = (town.path("r.toml"), town.path("x.terrapin"));
    std::fs::write(&recipe, "[take]\nosm = true\nproperties = false").unwrap();
    let [osm, dump, recipe, made] = [&osm, &dump, &recipe, &out].map(|path| path.to_str().unwrap());
    let (status, said, error) =
        load(&["--osm", osm, "--wikidata", dump, "--recipe", recipe, "--skip-bad", "--out", made]);
    assert_eq!(status, 0, "{error}");
    assert!(remarks(&said).iter().any(|remark| remark.starts_with("recipe: osm = 2 ids, ")), "{said}");
    assert_eq!(labelled(&open(&out), "en"), ["Q20", "Q3"]);
}

#[test]
fn real_dumps_make_the_same_snapshot_each_time() {
    let shared = std::env::var_os("TERRAPIN_SHARED").map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let dumps = ["wdsub-100lines.json.gz", "qrank-twenty_entities.json.bz2", "wikibase-dump-filter-entities.json.gz"];
    let dumps = dumps.map(|name| shared.join("data/wikidata").join(name));
    if !dumps[0].exists() {
        skip::skipped(skip::Need::Shared, "no shared/data/wikidata");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let recipe = folder.path().join("r.toml");
    std::fs::write(&recipe, "[take]\nboxes = [[35, -10, 60, 20]]\nentities = [\"Q146\"]\nsteps = 1\n").unwrap();
    let made = |order: [usize; 3], threads: &str| {
        let out = folder.path().join(format!("{}{threads}.terrapin", order[0]));
        let files = order.map(|i| dumps[i].to_str().unwrap());
        // One of them has only the first lines of a dump.
        let args = ["--skip-bad", "--out", out.to_str().unwrap(), "--threads", threads];
        let args = [&args[..], &["--recipe", recipe.to_str().unwrap()]].concat();
        let (status, said, error) = load(&[&args[..], &["--wikidata"], &files[..]].concat());
        assert_eq!(status, 0, "{error}");
        said
    };
    let (one, other) = (made([0, 1, 2], "1"), made([2, 0, 1], "2"));
    assert_eq!(one["digest"], other["digest"]);
    println!("{}", one["triples"]);
    assert!(one["triples"]["triples"].as_u64() > Some(50_000), "{one}");
}

/// A recipe for queries takes the candidates of their variables: cities of all subclasses of Q10 with their countries.
#[test]
fn a_recipe_for_queries_takes_what_they_touch() {
    let folder = tempfile::tempdir().unwrap();
    let (dump, out) = (dump(folder.path()), folder.path().join("x.terrapin"));
    let queries = folder.path().join("gold.jsonl");
    let args = ["--wikidata", dump.to_str().unwrap(), "--out", out.to_str().unwrap(), "--skip-bad", "--recipe"];
    let recipe = format!("for-queries={}", queries.display());
    let made = |query: &str| {
        std::fs::write(&queries, serde_json::json!({"nl": "?", "gold": query, "lang": "sparql"}).to_string()).unwrap();
        let (status, said, error) = load(&[&args[..], &[&*recipe]].concat());
        assert_eq!(status, 0, "{error}");
        (said, labelled(&open(&out), "en"), labelled(&open(&out), "mt"))
    };
    let (said, english, maltese) = made("SELECT * { ?x wdt:P31/wdt:P279* wd:Q10 }");
    assert_eq!(english, ["Q1", "Q10", "Q20"]);
    assert!(maltese.is_empty(), "only the languages that are asked for");
    let remark = said["remarks"][0].as_str().unwrap();
    assert!(
        remark.contains("closure over 1 queries (0 unread) with 1 alternatives, 1 of them with candidates"),
        "{remark}"
    );
    let (_, _, maltese) = made(
        "SELECT ?xLabel { ?x p:P17 ?s. ?s ps:P17 ?c. SERVICE wikibase:label { bd:serviceParam wikibase:language \"mt\" } }",
    );
    assert_eq!(maltese, ["Q2", "Q3"]);
    let (_, english, _) = made("SELECT * { { wd:Q2 wdt:P17 ?c } UNION { ?x wdt:P31 wd:Q20 } }");
    assert_eq!(english, ["Q1", "Q2", "Q20", "Q3"]);
}
