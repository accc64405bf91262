//! Tests the operator's identity on the page: `serve --page`.

use crate::common::server::TestServer;
use crate::common::{Town, terrapin};
use serde_json::{Value, json};

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"><path d=\"M0 0h1v1\"/></svg>";

#[test]
fn the_identity_is_in_the_description_that_the_page_fetches_first() {
    let town = Town::new();
    let file = town.path("page.toml");
    std::fs::write(town.path("logo.svg"), SVG).unwrap();
    let text = "name = \"A & B\"\nlogo = \"logo.svg\"\nnotice = \"See [this](https://example.org).\"\nlanguage = \"ja\"\n\
                query = \"out count;\"\n";
    std::fs::write(&file, text).unwrap();
    let server = TestServer::over(town, &["--page", file.to_str().unwrap()]);
    let facts: Value = serde_json::from_slice(&server.get("/api/snapshot").body).unwrap();
    let page = &facts["page"];
    assert_eq!((&page["name"], &page["language"]), (&json!("A & B"), &json!("ja")));
    assert_eq!(page["query"], json!({ "language": "overpassql", "text": "out count;" }));
    let notice = json!([{ "text": "See " }, { "text": "this", "href": "https://example.org" }, { "text": "." }]);
    assert_eq!((&page["notice"], &page["attribution"]), (&notice, &json!([])));
    let logo = server.get(page["logo"].as_str().unwrap());
    assert_eq!((logo.status, logo.text()), (200, SVG.to_owned()));
    assert_eq!(logo.header("content-type"), Some("image/svg+xml"));
    // As a page of its own, an SVG runs nothing and loads nothing.
    let policy = logo.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.ends_with("sandbox"), "{policy}");
    assert_eq!(logo.header("x-content-type-options"), Some("nosniff"));
    let tag = format!("If-None-Match: {}\r\n", logo.header("etag").unwrap());
    assert_eq!(server.ask("GET", "/page/logo", &tag, "").status, 304);
}

#[test]
fn without_a_file_the_page_has_no_identity() {
    let server = TestServer::start(&[]);
    let facts: Value = serde_json::from_slice(&server.get("/api/snapshot").body).unwrap();
    assert_eq!(facts["page"], Value::Null);
    assert_eq!(server.get("/page/logo").status, 404);
}

#[test]
fn a_wrong_file_is_refused_at_the_start_with_its_line_and_what_to_do() {
    let town = Town::new();
    let file = town.path("page.toml");
    std::fs::write(town.path("script.svg"), SVG.replace("<path", "<script>alert(1)</script><path")).unwrap();
    std::fs::write(town.path("large.png"), [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 300_000]].concat()).unwrap();
    std::fs::write(town.path("logo.gif"), b"GIF89a").unwrap();
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let output = terrapin()
            .arg("serve")
            .arg(town.snapshot())
            .arg("--page")
            .arg(&file)
            .arg("--check-config")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (text, line, why) in [
        ("name = \"A\"\nnmae = \"B\"\n", 2, "unknown field `nmae`"),
        ("name = A\n", 1, ""),
        ("name = \"\"\n", 1, "`name` is empty: write a text, or remove the key"),
        (
            "\n\nnotice = \"[a](javascript:alert(1))\"\n",
            3,
            "use an address that begins with https://, http:// or mailto:",
        ),
        ("language = \"xx\"\n", 1, "use one of en, de, fr"),
        ("query-language = \"sparql\"\n", 1, "add the query"),
        ("query = \"out;\"\nquery-language = \"sql\"\n", 2, "use overpassql or sparql"),
        ("name = \"A\"\nlogo = \"script.svg\"\n", 2, "contains <script>: remove it"),
        ("logo = \"large.png\"\n", 1, "has more than 262144 bytes: make it smaller"),
        ("logo = \"logo.gif\"\n", 1, "is neither PNG, SVG nor WebP: convert it"),
        ("logo = \"missing.png\"\n", 1, "missing.png"),
    ] {
        let error = refused(text);
        assert!(error.contains(&format!("page.toml:{line}: ")) && error.contains(why), "{text}: {error}");
    }
}
