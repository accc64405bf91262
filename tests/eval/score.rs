//! Tests `/score` with JSON lines, the form for thousands of pairs in training.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::server::TestServer;

const LINES: &str = "Content-Type: application/x-ndjson\r\n";
const CAFES: &str = "[out:json];node[amenity=cafe];out;";

/// Returns a query that runs until its timeout.
fn endless() -> String {
    let nested = (0..16).fold(String::new(), |inner, _| format!("node[amenity=cafe];foreach{{{inner}}}"));
    format!("[out:json][timeout:600];{nested}out;")
}

fn lines(server: &TestServer, parameters: &str, body: &str) -> Vec<Value> {
    let answer = server.ask("POST", &format!("/score{parameters}"), LINES, body);
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/x-ndjson")),
        "{}",
        answer.text()
    );
    assert!(answer.header("x-terrapin-snapshot").is_some_and(|digest| digest.len() == 64), "{}", answer.headers);
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_have_the_records_that_an_object_has() {
    let server = TestServer::start(&[]);
    let preds = [CAFES, "[out:json];node(1);out;", "node[amenity=cafe;out;", "", "[out:json];node[amenty=cafe];out;"];
    let asked = json!({"references": [CAFES, CAFES, CAFES, CAFES, CAFES], "predictions": preds, "summary": true});
    let object = server.ask("POST", "/score", "Content-Type: application/json\r\n", &asked.to_string());
    let object: Value = serde_json::from_slice(&object.body).unwrap();
    let body: String = preds.iter().map(|pred| format!("{}\n", json!({"gold": CAFES, "pred": pred}))).collect();
    let scored = lines(&server, "?summary=true", &body);
    assert_eq!(Value::from(scored.clone()), object["results"]);
    let field = |name: &str| scored.iter().map(|record| record[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("ex"), [1, 0, 0, 0, 0]);
    assert_eq!(field("line"), [1, 2, 3, 4, 5]);
    // The summary has the data for a shaped reward: of an invalid prediction, and of one without results.
    let summary = &scored[2]["summary"];
    assert_eq!(summary["error"], "parse_error");
    assert_eq!((&summary["problem"]["line"], &summary["problem"]["column"]), (&json!(1), &json!(18)), "{summary}");
    assert_eq!((&summary["ref_n"], &summary["pred_n"]), (&json!(4), &json!(-1)));
    let summary = &scored[4]["summary"];
    assert_eq!((&summary["error"], &summary["pred_n"]), (&Value::Null, &json!(0)), "{summary}");
    assert!(summary["warnings"][0]["nearest"][0].as_str().unwrap().starts_with("amenity"), "{summary}");
    // Cached results do not change the output, and fields that are not requested are omitted.
    let again = server.ask("POST", "/score", LINES, &body);
    let once_more = server.ask("POST", "/score", LINES, &body);
    assert_eq!(again.body, once_more.body);
    let short = lines(&server, "?similarity=false", &body);
    assert!(short.iter().all(|record| record.get("summary").is_none() && record.get("chrf").is_none()), "{short:?}");
}

#[test]
fn a_line_that_is_no_pair_costs_no_other() {
    let server = TestServer::start(&[]);
    let pair = json!({"id": "x", "reference": [CAFES], "prediction": CAFES, "question": "Where are cafes?"});
    let body = format!(
        "{pair}\r\n\nnonsense\n{}\n{}\n[1]\n{}\n\u{7f}\n{pair}",
        json!({"gold": CAFES, "predicton": CAFES}),
        json!({"gold": CAFES, "pred": CAFES, "lang": "sparql"}),
        json!({"gold": CAFES, "pred": null, "bbox": "here"}),
    );
    let scored = lines(&server, "", &body);
    let numbers: Vec<_> = scored.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6, 7, 8, 9], "a line for each that is not empty");
    assert_eq!((&scored[0]["ex"], &scored[0]["id"], &scored[7]["ex"]), (&json!(1), &json!("x"), &json!(1)));
    let problems: Vec<_> = scored[1..7].iter().map(|line| line["problem"].as_str().unwrap()).collect();
    for (problem, words) in problems.iter().zip(["JSON", "`pred`", "no triples", "JSON", "bbox", "JSON"]) {
        assert!(problem.contains(words), "{problem}: {words}");
    }
    assert!(lines(&server, "", "\n").is_empty());
    for wrong in ["?timeout=0", "?timeout=soon", "?lang=sql", "?summary=perhaps", "?sumary=1"] {
        let refused = server.ask("POST", &format!("/score{wrong}"), LINES, &body);
        assert_eq!(refused.status, 400, "{wrong}: {}", refused.text());
    }
}

#[test]
fn a_record_does_not_wait_for_the_next_pair() {
    let server = TestServer::start(&[]);
    let pair = |pred: &str| format!("{}\n", json!({"gold": CAFES, "pred": pred}));
    let body = [pair(CAFES), pair(&endless()), pair(CAFES)].concat();
    let head = format!("POST /score?timeout=3 HTTP/1.1\r\nHost: test\r\n{LINES}Content-Length: {}\r\n\r\n", body.len());
    let begun = Instant::now();
    let mut answer = BufReader::new(server.send(&[head.as_bytes(), body.as_bytes()].concat()));
    let mut next = || loop {
        let mut line = String::new();
        answer.read_line(&mut line).unwrap();
        if line.starts_with("{\"line\"") {
            return serde_json::from_str::<Value>(&line).unwrap();
        }
    };
    assert_eq!(next()["ex"], 1);
    let first = begun.elapsed();
    assert!(first < Duration::from_secs(2), "{first:?}");
    assert_eq!(next()["error"], "runtime_error_timeout");
    assert!(begun.elapsed() > Duration::from_millis(2_900));
    // A pair that times out does not use up the time of the others.
    assert_eq!(next()["ex"], 1);
}

#[test]
fn replies_of_models_are_read_where_that_is_asked_for() {
    let server = TestServer::start(&[]);
    let reply = format!("<think>cafes are nodes</think>Sure:\n```overpassql\n{CAFES}\n```\nThis finds cafes.");
    let body = json!({"gold": CAFES, "pred": reply}).to_string();
    assert_eq!(lines(&server, "", &body)[0]["error"], "parse_error");
    let read = &lines(&server, "?extract=true", &body)[0];
    assert_eq!(
        (&read["ex"], &read["pred"]),
        (&json!(1), &json!("[timeout:300][out:json];node[amenity=cafe];out;")),
        "{read}"
    );
    let asked = json!({"references": [CAFES], "predictions": [reply], "extract": true});
    let object = server.ask("POST", "/score", "Content-Type: application/json\r\n", &asked.to_string());
    let object: Value = serde_json::from_slice(&object.body).unwrap();
    assert_eq!(&object["results"][0], read);
}

#[test]
fn a_query_runs_once_in_a_request_its_time_out_included() {
    let server = TestServer::start(&[]);
    let golds = vec![endless(); 8];
    let asked = json!({"references": golds, "predictions": vec![CAFES; 8], "timeout": 0.5, "summary": true});
    let answer = server.ask("POST", "/score", "Content-Type: application/json\r\n", &asked.to_string());
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    // Seven of the eight golds and seven of the eight predictions.
    assert_eq!(answer["reused"], 14, "{answer}");
    for record in answer["results"].as_array().unwrap() {
        assert_eq!((&record["ref_error"], &record["pred_n"]), (&json!("runtime_error_timeout"), &json!(4)), "{record}");
        assert_eq!(record["summary"]["syntax"], 1, "{record}");
    }
}

#[test]
fn a_prediction_is_a_query_or_not_whatever_its_gold_gives() {
    let server = TestServer::start(&[]);
    let golds = [CAFES, "node(;out;", "{{geocodeArea:Nowhere}}->.a;node(area.a);out;"];
    let body = |pred: &str| golds.map(|gold| json!({"gold": gold, "pred": pred}).to_string()).join("\n");
    for (pred, syntax) in [
        (CAFES, 1),
        ("I do not know", 0),
        ("", 0),
        ("// none\n[out:csv(name)];node[a];out;", 1),
        ("{{geocodeArea:Elsewhere}}->.a;node(area.a);out;", 1),
        ("I do not know {{geocodeArea:Elsewhere}}", 0),
    ] {
        let scored = lines(&server, "?summary=true", &body(pred));
        let found: Vec<_> = scored.iter().map(|record| record["summary"]["syntax"].clone()).collect();
        assert_eq!(found, vec![json!(syntax); 3], "{pred}");
    }
}

#[test]
fn a_text_that_is_none_costs_one_record() {
    let server = TestServer::start(&[]);
    let asked = format!(
        r#"{{"references": [{0}, {0}, {0}], "predictions": [{0}, "node[name=\"\ud800\"];out;", {0}], "summary": true}}"#,
        json!(CAFES)
    );
    let answer = server.ask("POST", "/score", "Content-Type: application/json\r\n", &asked);
    let answer: Value = serde_json::from_slice(&answer.body).unwrap();
    let field = |name: &str| {
        answer["results"].as_array().unwrap().iter().map(|record| record[name].clone()).collect::<Vec<_>>()
    };
    assert_eq!(field("ex"), [1, 0, 1], "{answer}");
    assert_eq!(field("error"), [Value::Null, json!("parse_error"), Value::Null]);
    assert_eq!((&answer["results"][1]["summary"]["syntax"], &answer["results"][1]["line"]), (&json!(0), &json!(2)));
}
