//! taginfo's API: the fields, filters, orders and formats that its documentation has, and the counts of relation types
//! and roles. `tests/lookup/tags.rs` compares the counts of keys and tags.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::relation_counts::RelationCounts;
use crate::common::server::{HttpAnswer, TestServer, encoded};
use crate::common::{place, skip, terrapin};

/// The keys of the categories of taginfo's report, with a key of another category next to each.
const KEYS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6">
  <node id="1" lat="1" lon="1" version="1" timestamp="2020-01-01T00:00:00Z"><tag k="plain_key" v="a"/><tag k="with:colon" v="b"/><tag k="Upper:case" v="c"/><tag k="a space" v="d"/></node>
  <node id="2" lat="1" lon="1" version="1" timestamp="2020-01-01T00:00:00Z"><tag k="plain_key" v="z"/><tag k="a=b" v="e"/><tag k="ref:2" v="f"/><tag k="_x" v="g"/></node>
</osm>
"#;

/// Descriptions in the form of taginfo's wiki pages.
const DESCRIPTIONS: &str = "key,value,lang,description\n\
    plain_key,,en,A plain key\nplain_key,a,en,The letter\nplain_key,q,en,Not used\n\
    other_key,,en,Not used\nzz:key,,en,Not used\n";

fn ask(server: &TestServer, path: &str) -> Value {
    let answer = server.get(&format!("/api/4/{path}"));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    serde_json::from_slice(&answer.body).unwrap()
}

fn rows(answer: &Value) -> &[Value] {
    answer["data"].as_array().unwrap()
}

fn texts<'a>(answer: &'a Value, field: &str) -> Vec<&'a str> {
    rows(answer).iter().map(|row| row[field].as_str().unwrap()).collect()
}

/// A server over [`KEYS`] with [`DESCRIPTIONS`].
fn described() -> (TestServer, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.osm"), KEYS).unwrap();
    let descriptions = folder.path().join("pages.csv");
    std::fs::write(&descriptions, DESCRIPTIONS).unwrap();
    let load = ["load", "--osm", "keys.osm", "--out", "keys.terrapin"];
    terrapin().current_dir(folder.path()).args(load).assert().success();
    let server = TestServer::of(&folder.path().join("keys.terrapin"), &["--tag-docs", descriptions.to_str().unwrap()]);
    (server, folder)
}

/// A server over an extract of Monaco, with its elements as XML; `None` without the shared data.
fn monaco() -> Option<(TestServer, String, tempfile::TempDir)> {
    let source = place::shared().join("data/osm/monaco.osm.pbf");
    if !source.exists() {
        skip::skipped(skip::Need::Shared, format_args!("no {}", source.display()));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| terrapin().current_dir(folder.path()).args(args).assert().success();
    run(&["load", "--osm", source.to_str().unwrap(), "--out", "monaco.terrapin"]);
    run(&["export", "monaco.terrapin", "--osm-xml", "monaco.osm"]);
    let xml = std::fs::read_to_string(folder.path().join("monaco.osm")).unwrap();
    Some((TestServer::of(&folder.path().join("monaco.terrapin"), &[]), xml, folder))
}

const COUNTS: &str = "count_all:i count_all_fraction:f count_nodes:i count_nodes_fraction:f count_ways:i \
    count_ways_fraction:f count_relations:i count_relations_fraction:f";

/// The type of a JSON value, as the documentation abbreviates it here.
fn kind(value: &Value) -> char {
    match value {
        Value::String(_) => 's',
        Value::Bool(_) => 'b',
        Value::Number(number) if number.is_f64() => 'f',
        Value::Number(_) => 'i',
        Value::Array(_) => 'a',
        Value::Object(_) => 'o',
        Value::Null => 'n',
    }
}

/// Compares the fields of a row with those documented, in this order: strings, integers, floats, booleans, arrays and
/// objects.
fn assert_fields(row: &Value, documented: &str, path: &str) {
    let own: BTreeMap<&str, char> =
        row.as_object().unwrap().iter().map(|(name, value)| (&**name, kind(value))).collect();
    let split = |field: &'static str| field.split_once(':').unwrap();
    let documented = documented.replace("COUNTS", COUNTS).leak();
    let expected = documented.split_whitespace().map(split);
    let expected: BTreeMap<&str, char> = expected.map(|(name, kind)| (name, kind.chars().next().unwrap())).collect();
    assert_eq!(own, expected, "{path}: {row}");
}

/// The fields are those of <https://taginfo.openstreetmap.org/taginfo/apidoc> without those that
/// `docs/reference/tags.md` leaves out (`users_all`, `projects`, `on_node` and so on), and with the additional ones
/// that it names.
#[test]
fn rows_have_the_documented_fields() {
    let (server, _folder) = described();
    let value = "value:s count:i fraction:f";
    let described = "in_wiki:b description:s desclang:s descdir:s";
    let cases = [
        ("keys/all?query=plain", "key:s COUNTS values_all:i in_wiki:b".to_owned()),
        (
            "keys/all?query=plain&include=prevalent_values",
            "key:s COUNTS values_all:i in_wiki:b prevalent_values:a".to_owned(),
        ),
        (
            "keys/without_wiki_page?min_count=1",
            "key:s count_all:i count_all_fraction:f values_all:i prevalent_values:a".to_owned(),
        ),
        ("key/values?key=plain_key", format!("{value} {described}")),
        ("key/values?key=plain_key&query=z", format!("{value} in_wiki:b")),
        ("key/prevalent_values?key=plain_key", value.to_owned()),
        ("key/stats?key=plain_key", "type:s count:i count_fraction:f values:i".to_owned()),
        ("key/combinations?key=plain_key", "other_key:s together_count:i to_fraction:f from_fraction:f".to_owned()),
        ("tag/stats?key=plain_key&value=a", "type:s count:i count_fraction:f".to_owned()),
        (
            "tag/combinations?key=plain_key&value=a",
            "other_key:s other_value:s together_count:i to_fraction:f from_fraction:f".to_owned(),
        ),
        ("tags/popular", "key:s value:s in_wiki:b COUNTS".to_owned()),
        ("tags/list?tags=plain_key=a", "key:s value:s in_wiki:b COUNTS wiki:o".to_owned()),
        ("search/by_value?query=a", "key:s value:s count_all:i".to_owned()),
        ("search/by_key_and_value?query=plain%3Da", "key:s value:s count_all:i".to_owned()),
        ("search/by_keyword?query=letter", format!("key:s value:s count_all:i score:f {described}")),
    ];
    for (path, documented) in cases {
        assert_fields(&rows(&ask(&server, path))[0], &documented, path);
    }
    let town = TestServer::start(&[]);
    let share = "count_node_members:i count_node_members_fraction:f count_way_members:i count_way_members_fraction:f \
        count_relation_members:i count_relation_members_fraction:f";
    let cases = [
        (
            "relation/roles?rtype=route",
            format!("rtype:s role:s count_all_members:i count_all_members_fraction:f {share}"),
        ),
        ("relation/stats?rtype=route", "type:s count:i".to_owned()),
        ("relations/all", "rtype:s count:i count_fraction:f prevalent_roles:a".to_owned()),
        ("relations/roles", "role:s rtype:s count_all:i count_nodes:i count_ways:i count_relations:i".to_owned()),
        ("search/by_role?query=outer", "rtype:s role:s count_all:i".to_owned()),
    ];
    for (path, documented) in cases {
        assert_fields(&rows(&ask(&town, path))[0], &documented, path);
    }
    assert_fields(&ask(&town, "site/sources")[0], "id:s name:s data_until:s", "site/sources");
    let info = "url:s data_until:s name:s description:s icon:s area:s descriptions:n";
    assert_fields(&ask(&town, "site/info"), info, "site/info");
}

#[test]
fn overviews_are_one_object() {
    let (server, _folder) = described();
    let key = ask(&server, "key/overview?key=plain_key");
    assert_eq!((&key["total"], key.get("page"), key.get("rp")), (&json!(1), None, None));
    let language = json!({"lang": "en", "english": "English", "native": "English", "dir": "ltr"});
    let stats = |kind: &str, count: u64, fraction: f64, values: u64| json!({"type": kind, "count": count, "count_fraction": fraction, "values": values});
    let expected = json!({
        "key": "plain_key",
        "counts": [stats("all", 2, 1.0, 2), stats("nodes", 2, 1.0, 2), stats("ways", 0, 0.0, 0), stats("relations", 0, 0.0, 0)],
        "prevalent_values": [{"value": "a", "count": 1, "fraction": 0.5}, {"value": "z", "count": 1, "fraction": 0.5}],
        "wiki_pages": [language],
        "has_map": false,
        "description": {"en": {"text": "A plain key", "dir": "ltr"}},
    });
    assert_eq!(key["data"], expected);

    let tag = ask(&server, "tag/overview?key=plain_key&value=a");
    let stats =
        |kind: &str, count: u64, fraction: f64| json!({"type": kind, "count": count, "count_fraction": fraction});
    let expected = json!({
        "key": "plain_key",
        "value": "a",
        "counts": [stats("all", 1, 0.5), stats("nodes", 1, 0.5), stats("ways", 0, 0.0), stats("relations", 0, 0.0)],
        "wiki_pages": [language],
        "has_map": false,
        "description": {"en": {"text": "The letter", "dir": "ltr"}},
    });
    assert_eq!((&tag["total"], &tag["data"]), (&json!(1), &expected));

    // A recorded answer of taginfo for a key that does not occur has the same fields, all of them empty.
    let absent = ask(&server, "key/overview?key=thereisnosuchkey");
    let data = &absent["data"];
    let empty = (&data["prevalent_values"], &data["wiki_pages"], &data["has_map"], &data["description"]);
    assert_eq!(empty, (&json!([]), &json!([]), &json!(false), &json!({})));
    assert_eq!(rows(&json!({"data": data["counts"]})).len(), 4);
}

#[test]
fn keys_are_filtered_by_their_characters_and_descriptions() {
    let (server, _folder) = described();
    let keys = |filter: &str| {
        let answer = ask(&server, &format!("keys/all?sortname=key&filter={filter}"));
        texts(&answer, "key").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(keys("characters_plain"), ["other_key", "plain_key"]);
    assert_eq!(keys("characters_colon"), ["with:colon", "zz:key"]);
    assert_eq!(keys("characters_letters"), ["Upper:case"]);
    assert_eq!(keys("characters_space"), ["a space"]);
    assert_eq!(keys("characters_problem"), ["a=b"]);
    assert_eq!(keys("characters_rest"), ["_x", "ref:2"]);
    assert_eq!(keys("in_wiki"), ["other_key", "plain_key", "zz:key"]);
    assert_eq!(keys("not_in_db"), ["other_key", "zz:key"]);
    assert_eq!(keys("in_wiki,characters_plain"), ["other_key", "plain_key"]);
    assert_eq!(keys("not_in_db,characters_colon,all"), ["zz:key"]);
    let all = ["Upper:case", "_x", "a space", "a=b", "other_key", "plain_key", "ref:2", "with:colon", "zz:key"];
    assert_eq!(keys("all"), all);
    let reversed: Vec<&str> = all.iter().rev().copied().collect();
    assert_eq!(texts(&ask(&server, "keys/all?sortname=key&sortorder=desc"), "key"), reversed);
    let unused = &ask(&server, "keys/all?query=zz")["data"][0];
    assert_eq!((&unused["count_all"], &unused["values_all"], &unused["in_wiki"]), (&json!(0), &json!(0), &json!(true)));
    assert_eq!(texts(&ask(&server, "keys/all?sortname=in_wiki&rp=3"), "key"), ["other_key", "plain_key", "zz:key"]);

    let listed = ask(&server, "tags/list?key=plain_key");
    assert_eq!((texts(&listed, "value"), &listed["data"][1]["count_all"]), (vec!["a", "q"], &json!(0)));
    assert_eq!(listed["data"][0]["wiki"], json!({"en": {"description": "The letter"}}));
    let undescribed = ask(&server, "keys/without_wiki_page?min_count=1&sortname=key&english=1");
    assert_eq!(texts(&undescribed, "key"), ["Upper:case", "_x", "a space", "a=b", "ref:2", "with:colon"]);
    assert_eq!(ask(&server, "keys/without_wiki_page")["total"], 0);
    assert_eq!(texts(&ask(&server, "key/values?key=plain_key&sortname=in_wiki&sortorder=asc"), "value"), ["z", "a"]);
    // A text in the key or in the value.
    assert_eq!(
        texts(&ask(&server, "tags/popular?query=e&sortname=tag"), "key"),
        ["Upper:case", "a space", "a=b", "plain_key", "plain_key", "ref:2"]
    );
}

#[test]
fn prevalent_values_have_a_row_for_the_others() {
    let (server, _folder) = described();
    let values = |more: &str| ask(&server, &format!("key/prevalent_values?key=plain_key{more}"));
    assert_eq!(values("")["total"], 2);
    let cut = values("&min_fraction=0.6");
    assert_eq!((&cut["total"], &cut["data"]), (&json!(1), &json!([{"value": null, "count": 2, "fraction": 1.0}])));
    assert_eq!(values("&filter=ways")["data"], json!([]));
    // The documented minimum is 0.001.
    assert_eq!(values("&min_fraction=0")["data"], values("")["data"]);
}

/// Whether a fraction is that of these counts; JSON is read with an error of one bit.
fn is_near(fraction: &Value, part: u64, whole: u64) -> bool {
    let expected = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    (fraction.as_f64().unwrap() - expected).abs() < 1e-15
}

/// The types and roles of `relations/roles`.
fn roles(answer: &Value) -> BTreeMap<(String, String), [u64; 3]> {
    let row = |row: &Value| {
        let counts = ["count_nodes", "count_ways", "count_relations"].map(|name| row[name].as_u64().unwrap());
        assert_eq!(row["count_all"], counts.iter().sum::<u64>());
        ((row["rtype"].as_str().unwrap().to_owned(), row["role"].as_str().unwrap().to_owned()), counts)
    };
    rows(answer).iter().map(row).collect()
}

#[test]
fn relation_types_and_roles_are_those_of_an_export() {
    let Some((server, xml, folder)) = monaco() else { return };
    let counts = RelationCounts::read(&xml);
    assert!(counts.types.len() > 10 && counts.roles.len() > 30, "{:?}", counts.types);
    let answer = ask(&server, "relations/roles");
    assert_eq!((roles(&answer), &answer["total"]), (counts.roles.clone(), &json!(counts.roles.len())));

    let types = ask(&server, "relations/all");
    let own =
        rows(&types).iter().map(|row| (row["rtype"].as_str().unwrap().to_owned(), row["count"].as_u64().unwrap()));
    assert_eq!(own.collect::<BTreeMap<_, _>>(), counts.types);
    for row in rows(&types) {
        let rtype = row["rtype"].as_str().unwrap();
        assert!(is_near(&row["count_fraction"], counts.types[rtype], counts.relations), "{rtype}");
        let members = counts.members(rtype);
        let all: u64 = members.iter().sum();
        let stats = ask(&server, &format!("relation/stats?rtype={}", encoded(rtype)));
        let expected = [all, members[0], members[1], members[2]];
        let kinds = ["all", "nodes", "ways", "relations"];
        let expected: Vec<Value> =
            kinds.iter().zip(expected).map(|(kind, count)| json!({"type": kind, "count": count})).collect();
        assert_eq!(rows(&stats), expected, "{rtype}");

        let own = counts.roles.iter().filter(|((own, _), _)| own == rtype);
        let own: Vec<(&str, [u64; 3])> = own.map(|((_, role), counts)| (&**role, *counts)).collect();
        let prevalent: BTreeSet<(&str, u64)> = own.iter().map(|(role, counts)| (*role, counts.iter().sum())).collect();
        let prevalent: BTreeSet<_> = prevalent.into_iter().filter(|(_, count)| count * 100 >= all).collect();
        let found = row["prevalent_roles"].as_array().unwrap();
        let found: BTreeSet<_> =
            found.iter().map(|role| (role["role"].as_str().unwrap(), role["count"].as_u64().unwrap())).collect();
        assert_eq!(found, prevalent, "{rtype}");

        let listed = ask(&server, &format!("relation/roles?rtype={}&sortname=role", encoded(rtype)));
        assert_eq!(texts(&listed, "role"), own.iter().map(|(role, _)| *role).collect::<Vec<_>>());
        for (row, (role, own)) in rows(&listed).iter().zip(own) {
            let sum: u64 = own.iter().sum();
            assert_eq!((&row["rtype"], &row["count_all_members"]), (&json!(rtype), &json!(sum)), "{role}");
            assert!(is_near(&row["count_all_members_fraction"], sum, all), "{role}");
            for (at, kind) in ["node", "way", "relation"].into_iter().enumerate() {
                assert_eq!(row[format!("count_{kind}_members")], own[at], "{rtype} {role}");
                let share = &row[format!("count_{kind}_members_fraction")];
                assert!(is_near(share, own[at], members[at]), "{rtype} {role}: {share}");
            }
        }
    }
    let found = ask(&server, "search/by_role?query=OUTER");
    let expected = counts.roles.keys().filter(|(_, role)| role.contains("outer")).count();
    assert_eq!((&found["total"], expected > 0), (&json!(expected), true));
    // Counted by another process, on other threads.
    let again = TestServer::of(&folder.path().join("monaco.terrapin"), &[]);
    assert_eq!(ask(&again, "relations/roles")["data"], answer["data"]);
}

#[test]
fn a_list_of_roles_that_is_cut_begins_with_the_sum_of_the_others() {
    let Some((server, xml, _folder)) = monaco() else { return };
    let members = RelationCounts::read(&xml).members("route");
    let all = ask(&server, "relation/roles?rtype=route");
    let cut = ask(&server, "relation/roles?rtype=route&min_fraction=0.05");
    let [rest, listed @ ..] = rows(&cut) else { panic!("{cut}") };
    assert_eq!((&rest["role"], cut["total"].as_u64()), (&Value::Null, Some(rows(&cut).len() as u64)));
    let is_frequent = |row: &&Value| row["count_all_members_fraction"].as_f64().unwrap() >= 0.05;
    assert_eq!(listed, rows(&all).iter().filter(is_frequent).cloned().collect::<Vec<_>>());
    for (at, kind) in ["node", "way", "relation"].into_iter().enumerate() {
        let name = format!("count_{kind}_members");
        assert_eq!(rows(&cut).iter().map(|row| row[&name].as_u64().unwrap()).sum::<u64>(), members[at], "{kind}");
    }
    // Not on pages, and not with a query.
    for more in ["&rp=5&page=1", "&query=s"] {
        let page = ask(&server, &format!("relation/roles?rtype=route&min_fraction=0.05{more}"));
        assert!(rows(&page).iter().all(|row| row["role"].is_string()), "{page}");
    }
    assert_eq!(ask(&server, "relation/roles?rtype=nothing")["data"], json!([]));
    assert_eq!(rows(&ask(&server, "relation/stats?rtype=nothing"))[0], json!({"type": "all", "count": 0}));
}

/// The documented orders of each list, with the field that shows the order, and the names that are wrong.
const ORDERS: &[(&str, &[&str])] = &[
    ("keys/all?", &["key", "count_all", "count_nodes", "count_ways", "count_relations", "values_all", "in_wiki"]),
    ("keys/without_wiki_page?min_count=1&", &["key", "count_all", "values_all"]),
    ("key/values?key=highway&", &["value", "count"]),
    ("key/combinations?key=highway&", &["together_count", "other_key", "from_fraction", "to_fraction"]),
    ("tag/combinations?key=highway&value=footway&", &["together_count", "from_fraction", "to_fraction"]),
    ("tags/popular?", &["count_all", "count_nodes", "count_ways", "count_relations"]),
    (
        "relation/roles?rtype=route&",
        &["role", "count_all_members", "count_node_members", "count_way_members", "count_relation_members"],
    ),
    ("relations/all?", &["rtype", "count"]),
    ("relations/roles?", &["role", "rtype", "count_all", "count_nodes", "count_ways", "count_relations"]),
    ("search/by_key_and_value?query=name%3Dmo&", &["count_all", "key", "value"]),
    ("search/by_value?query=caf&", &["count_all", "key", "value"]),
    ("search/by_role?query=s&", &["count_all", "rtype", "role"]),
    ("search/by_keyword?query=street&", &["key", "value"]),
];

#[test]
fn lists_are_sorted_by_every_documented_column() {
    let Some((server, _, _folder)) = monaco() else { return };
    for (path, columns) in ORDERS {
        let mut sets = BTreeSet::new();
        for column in *columns {
            for direction in ["asc", "desc"] {
                let path = format!("{path}sortname={column}&sortorder={direction}");
                let answer = ask(&server, &path);
                let values: Vec<&Value> = rows(&answer).iter().map(|row| &row[*column]).collect();
                assert!(values.len() > 1, "{path}");
                let in_order = values.windows(2).all(|pair| {
                    let (first, second) = if direction == "asc" { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
                    match (first.as_f64(), second.as_f64()) {
                        (Some(first), Some(second)) => first <= second,
                        _ => (first.as_str(), first.as_bool()) <= (second.as_str(), second.as_bool()),
                    }
                });
                assert!(in_order, "{path}");
                let mut all: Vec<String> = rows(&answer).iter().map(Value::to_string).collect();
                all.sort_unstable();
                // The first rows of another question in words are others.
                if !path.starts_with("search/by_keyword") {
                    sets.insert(all);
                }
            }
        }
        assert!(sets.len() <= 1, "{path}: an order changes the rows");
    }
    let values = |column: &str| ask(&server, &format!("key/values?key=highway&sortname={column}&rp=1000"));
    for column in ["count_all", "count_nodes", "count_ways", "count_relations"] {
        let sorted = values(column);
        assert_eq!(sorted["total"], values("value")["total"], "{column}");
        let count = |row: &Value| {
            let value = encoded(row["value"].as_str().unwrap());
            let tag = &ask(&server, &format!("tags/list?tags=highway={value}"))["data"][0];
            assert_eq!(row["count"], tag["count_all"]);
            tag[column].as_u64().unwrap()
        };
        let counts: Vec<u64> = rows(&sorted).iter().map(count).collect();
        assert!(counts.is_sorted_by(|a, b| a >= b), "{column}: {counts:?}");
    }
    let tags = ask(&server, "tags/popular?sortname=tag&sortorder=desc");
    let tags: Vec<(&str, &str)> = texts(&tags, "key").into_iter().zip(texts(&tags, "value")).collect();
    assert!(tags.is_sorted_by(|a, b| a > b));
    let others = ask(&server, "tag/combinations?key=highway&value=footway&sortname=other_tag");
    let others: Vec<(&str, &str)> =
        texts(&others, "other_key").into_iter().zip(texts(&others, "other_value")).collect();
    assert!(others.is_sorted_by(|a, b| a < b));
    let lengths = ask(&server, "keys/all?sortname=length");
    assert!(texts(&lengths, "key").is_sorted_by_key(|key| key.chars().count()));
}

#[test]
fn wrong_values_are_answered_with_those_allowed() {
    let server = TestServer::start(&[]);
    let error = |path: &str| {
        let answer = server.get(&format!("/api/4/{path}"));
        assert_eq!(answer.status, 400, "{path}: {}", answer.text());
        let error: Value = serde_json::from_slice(&answer.body).unwrap();
        error["error"].as_str().unwrap().to_owned()
    };
    for (path, columns) in ORDERS {
        let message = error(&format!("{path}sortname=nothing"));
        let allowed = message.strip_prefix("sortname: expected one of ").unwrap_or_else(|| panic!("{path}: {message}"));
        let allowed: BTreeSet<&str> = allowed.split(", ").collect();
        assert!(columns.iter().all(|column| allowed.contains(column)), "{path}: {message}");
    }
    let characters = ["plain", "colon", "letters", "space", "problem", "rest"].map(|name| format!("characters_{name}"));
    let filters = format!("filter: expected one of all, {}, in_wiki, not_in_db", characters.join(", "));
    assert_eq!(error("keys/all?filter=nodes"), filters);
    assert_eq!(error("keys/all?filter=in_wiki,nodes"), filters);
    let cases = [
        ("key/values?key=a&filter=nodes,ways", "filter: expected one of all, nodes, ways, relations"),
        ("key/values?key=a&rp=x", "rp: expected a number of rows, or 0 for all"),
        ("key/prevalent_values?key=a&min_fraction=2", "min_fraction: expected a number from 0 to 1"),
        ("relation/roles?rtype=a&min_fraction=x", "min_fraction: expected a number from 0 to 1"),
        ("keys/without_wiki_page?min_count=x", "min_count: expected a number"),
        ("keys/without_wiki_page?english=2", "english: expected 0 or 1"),
        ("keys/all?include=x", "include: expected prevalent_values"),
        ("relation/roles", "the parameter \"rtype\" is missing"),
        ("relation/stats", "the parameter \"rtype\" is missing"),
        ("search/by_role", "the parameter \"query\" is missing"),
        ("key/overview", "the parameter \"key\" is missing"),
        ("tag/overview?key=a", "the parameter \"value\" is missing"),
        ("keys/all?format=xml", "format: expected one of json, json_pretty, csv"),
    ];
    for (path, message) in cases {
        assert_eq!(error(path), message, "{path}");
    }
    // Parameters that clients send and that have no meaning here.
    assert_eq!(ask(&server, "keys/all?lang=en&qtype=key&filter=all&format=")["total"], 5);
}

fn csv(answer: &HttpAnswer) -> (Vec<String>, Vec<csv::StringRecord>) {
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"), "{}", answer.text());
    let mut reader = csv::Reader::from_reader(answer.body.as_slice());
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    (header, reader.records().map(Result::unwrap).collect())
}

#[test]
fn csv_has_the_fields_of_json() {
    let (server, _folder) = described();
    let town = TestServer::start(&[]);
    let of_keys = [
        "keys/all?",
        "key/values?key=plain_key&",
        "key/prevalent_values?key=plain_key&min_fraction=1&",
        "key/stats?key=plain_key&",
        "key/combinations?key=plain_key&",
        "tag/stats?key=plain_key&value=a&",
        "tag/combinations?key=plain_key&value=a&",
        "tags/popular?",
        "search/by_value?query=a&",
        "search/by_key_and_value?query=%3D&",
        "search/by_keyword?query=letter&",
    ];
    let of_relations =
        ["relation/roles?rtype=route&", "relation/stats?rtype=route&", "relations/roles?", "search/by_role?query=o&"];
    let of_names = ["key/values?key=name&", "tags/popular?page=2&rp=3&"];
    let cases = of_keys.map(|path| (&server, path)).into_iter();
    let cases = cases.chain(of_relations.map(|path| (&town, path))).chain(of_names.map(|path| (&town, path)));
    for (server, path) in cases {
        let json = ask(server, path);
        let (header, records) = csv(&server.get(&format!("/api/4/{path}format=csv")));
        assert_eq!(records.len(), rows(&json).len(), "{path}");
        assert!(!records.is_empty(), "{path}");
        for (record, row) in records.iter().zip(rows(&json)) {
            for (column, field) in header.iter().zip(record) {
                let expected = match &row[column] {
                    Value::Null => String::new(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                assert_eq!(field, expected, "{path} {column}");
            }
            let names = row.as_object().unwrap().keys();
            assert!(names.clone().all(|name| header.contains(name)), "{path}: {header:?} {row}");
        }
    }
    // A header stands also over no rows.
    let (header, records) = csv(&town.get("/api/4/key/values?key=nothing&format=csv"));
    assert_eq!((header[0].as_str(), records.len()), ("value", 0));
}

#[test]
fn nested_answers_are_not_csv() {
    let server = TestServer::start(&[]);
    for path in [
        "key/overview?key=name&",
        "tag/overview?key=amenity&value=cafe&",
        "relations/all?",
        "tags/list?tags=amenity=cafe&",
        "keys/without_wiki_page?",
        "keys/all?include=prevalent_values&",
        "site/info?",
        "site/sources?",
    ] {
        let answer = server.get(&format!("/api/4/{path}format=csv"));
        assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/json")), "{path}");
        assert!(answer.text().contains("format: expected json or json_pretty"), "{path}: {}", answer.text());
        let pretty = server.get(&format!("/api/4/{path}format=json_pretty"));
        assert_eq!(serde_json::from_slice::<Value>(&pretty.body).unwrap().get("data"), ask(&server, path).get("data"));
        assert!(pretty.text().contains("\n  "), "{path}");
    }
}

/// A typed client (`aio-taginfo`) sends `page=1&rp=0` for all rows, parses `url` as a URL, and takes `page` and `rp`
/// only above 0. Recorded answers of taginfo without paging have neither.
#[test]
fn pages_and_addresses_are_as_clients_expect_them() {
    let server = TestServer::start(&[]);
    let all = ask(&server, "keys/all?page=1&rp=0");
    assert_eq!((rows(&all).len(), all.get("page"), all.get("rp")), (5, None, None));
    let page = ask(&server, "keys/all?page=2&rp=2");
    assert_eq!((&page["page"], &page["rp"], &page["total"], rows(&page).len()), (&json!(2), &json!(2), &json!(5), 2));
    assert_eq!(page["url"], "http://localhost/api/4/keys/all?page=2&rp=2");
    let secure = server.ask("GET", "/api/4/key/stats?key=name", "X-Forwarded-Proto: https\r\n", "");
    let secure: Value = serde_json::from_slice(&secure.body).unwrap();
    assert_eq!(secure["url"], "https://localhost/api/4/key/stats?key=name");
    assert_eq!(ask(&server, "site/info")["url"], "http://localhost/");
}

#[test]
fn counting_roles_keeps_within_the_memory_of_a_query() {
    let folder = tempfile::tempdir().unwrap();
    let member = |id: usize| format!("<member type=\"way\" ref=\"1\" role=\"r{id}\"/>");
    let relation = |id: usize| {
        let members: String = (id * 1000..(id + 1) * 1000).map(member).collect();
        format!("<relation id=\"{}\" version=\"1\">{members}<tag k=\"type\" v=\"t\"/></relation>", id + 1)
    };
    let relations: String = (0..200).map(relation).collect();
    std::fs::write(folder.path().join("roles.osm"), format!("<osm version=\"0.6\">{relations}</osm>")).unwrap();
    let load = ["load", "--osm", "roles.osm", "--out", "roles.terrapin"];
    terrapin().current_dir(folder.path()).args(load).assert().success();
    let snapshot = folder.path().join("roles.terrapin");
    let small = TestServer::of(&snapshot, &["--max-memory", "4MiB"]);
    let answer = small.get("/api/4/relation/roles?rtype=t&rp=10&page=1");
    assert!(answer.status != 200 && answer.text().contains("ran out of memory"), "{}", answer.text());
    assert_eq!(ask(&TestServer::of(&snapshot, &[]), "relation/roles?rtype=t&rp=10&page=1")["total"], 200_000);
}
