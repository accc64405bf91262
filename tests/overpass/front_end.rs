//! Tests that parsing takes linear time for long texts with every list of the query language. `tests/fuzz.rs` tries
//! random texts.

#[path = "../../fuzz/targets/front_end.rs"]
#[allow(dead_code, reason = "the words are for the fuzzer")]
mod texts;

/// Parses long lists of every kind. No list may need a search through all its previous items.
#[test]
fn long_texts_take_time_in_proportion() {
    const LENGTH: usize = 256 << 10;
    // Text before the items, an item by number, text after the items.
    type Shape = (&'static str, fn(usize) -> String, &'static str);
    let shapes: [Shape; 16] = [
        ("", |i| format!("[a{i}:1]"), ";node(1);out;"),
        ("", |_| "[timeout:1]".to_owned(), ";node(1);out;"),
        ("make x ", |_| "a=1,".to_owned(), "b=2;out;"),
        ("make x ", |i| format!("k{i}={i},"), "b=2;out;"),
        ("node", |i| format!("[a~\"b{{{}}}\"]", i % 30_000), "(1);out;"),
        ("node", |i| format!("[a~\"[[:alpha:]]{{{}}}\",i]", i % 200), "(1);out;"),
        ("", |i| format!("node({i})->.s{i};"), "out;"),
        ("", |_| "out;".to_owned(), ""),
        ("node(id:", |i| format!("{i},"), "1);out;"),
        ("node(poly:\"", |_| "1 2 ".to_owned(), "3 4 5 6\");out;"),
        ("node(user:", |i| format!("\"u{i}\","), "\"a\");out;"),
        ("[out:csv(", |i| format!("\"u{i}\","), "\"a\")];out;"),
        ("", |i| format!("f{i};\n"), ""),
        ("", |i| format!("{{{{k{i}=v}}}}{{{{k{i}}}}}"), ""),
        ("<osm-script", |i| format!(" a{i}=\"b\""), "/>"),
        (
            "<osm-script><make type=\"a\">",
            |_| "<set-prop k=\"k\"><eval-fixed v=\"1\"/></set-prop>".to_owned(),
            "</make></osm-script>",
        ),
    ];
    for (start, item, end) in shapes {
        let mut text = start.to_owned();
        let mut i = 0;
        while text.len() < LENGTH {
            text.push_str(&item(i));
            i += 1;
        }
        text.push_str(end);
        texts::check(text.as_bytes());
    }
}
