//! Replaces shortcuts by placeholders, for comparing queries that do not run.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::metrics::is_python_space;

/// Replaces the shortcuts so that a converter can read the text. The values do not matter.
///
/// The placeholders count up, so that two names in one query differ, and every kind of shortcut has its own range. If
/// a shortcut is not closed, the published code gives up and the whole text stays; for `geocodeArea`, only that
/// shortcut stays.
pub fn without_shortcuts(query: &str) -> Cow<'_, str> {
    if !query.contains("{{") {
        return Cow::Borrowed(query);
    }
    match replaced(query) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(query),
    }
}

/// A shortcut with a name: its opening text, its pattern, the first number, and the placeholder.
struct ShortcutPattern {
    opening: &'static str,
    whole: LazyLock<Regex>,
    first: u64,
    stand_in: fn(u64) -> String,
}

static NAMED: [ShortcutPattern; 6] = [
    ShortcutPattern {
        opening: "{{geocodeArea:",
        whole: LazyLock::new(|| pattern(r"\{\{geocodeArea:(.*?)\}\}")),
        first: 3_600_069_990,
        stand_in: |number| format!("area({number})"),
    },
    ShortcutPattern {
        opening: "{{nominatimArea:",
        whole: LazyLock::new(|| pattern(r"\{\{nominatimArea:(.*?)\}\}")),
        first: 3_600_169_990,
        stand_in: |number| format!("area({number})"),
    },
    ShortcutPattern {
        opening: "{{geocodeId:",
        whole: LazyLock::new(|| pattern(r"\{\{geocodeId:(.*?)\}\}")),
        first: 3_600_079_990,
        stand_in: |number| format!("relation({number})"),
    },
    ShortcutPattern {
        opening: "{{geocodeBbox:",
        whole: LazyLock::new(|| pattern(r"\{\{geocodeBbox:(.*?)\}\}")),
        first: 10,
        stand_in: |number| format!("{number}.77,-0.88,44.88,-0.88"),
    },
    ShortcutPattern {
        opening: "{{geocodeCoords:",
        whole: LazyLock::new(|| pattern(r"\{\{geocodeCoords:(.*?)\}\}")),
        first: 10,
        stand_in: |number| format!("{number}.66,-0.88,44.88,-0.88"),
    },
    ShortcutPattern {
        opening: "{{date:",
        whole: LazyLock::new(|| pattern(r"\{\{date:(.*?)\}\}")),
        first: 1000,
        stand_in: |number| format!("{number}-00-00T00:00:00Z"),
    },
];

/// Returns `None` if the published code gives up.
fn replaced(query: &str) -> Option<String> {
    let mut text = query.replace("{{GeocodeArea:", "{{geocodeArea:");
    for (name, numbers) in [("bbox", "44.99,-0.99,44.99,-0.99"), ("center", "44.88,-0.88,44.88,-0.88")] {
        text = text.replace(&format!("{{{{{name}}}}}"), numbers).replace(&format!("{{{{ {name} }}}}"), numbers);
    }
    for named in &NAMED {
        if !text.contains(named.opening) {
            continue;
        }
        let mut number = named.first;
        text = named
            .whole
            .replace_all(&text, |_: &regex::Captures<'_>| {
                number += 1;
                (named.stand_in)(number - 1)
            })
            .into_owned();
        if text.contains(named.opening) && named.opening != "{{geocodeArea:" {
            return None;
        }
    }
    Some(without_definitions(text).trim_matches(is_python_space).to_owned())
}

fn without_definitions(mut text: String) -> String {
    static DATA: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{data:(.+?)\}\}"));
    static DEFINITION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{([^}]+?)=(.*?)\}\}"));
    text = DATA.replace_all(&text, " ").into_owned();
    let definitions: Vec<(String, String)> =
        DEFINITION.captures_iter(&text).map(|found| (group(&found, 1), group(&found, 2))).collect();
    for (key, value) in definitions {
        if key != "bbox" {
            text = text.replace(&format!("{{{{{key}}}}}"), &value).replace(&format!("{{{{ {key} }}}}"), &value);
        }
        text = text.replace(&format!("{{{{{key}={value}}}}}"), " ");
    }
    text
}

fn group(found: &regex::Captures<'_>, index: usize) -> String {
    found.get(index).map_or("", |m| m.as_str()).to_owned()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_become_something_that_can_be_read() {
        let cases = [
            ("{{geocodeArea:A}}->.a;{{GeocodeArea:B}};", "area(3600069990)->.a;area(3600069991);"),
            ("{{nominatimArea:A}};{{geocodeId:B}};", "area(3600169990);relation(3600079990);"),
            ("n({{geocodeBbox:A}});n({{ bbox }});", "n(10.77,-0.88,44.88,-0.88);n(44.99,-0.99,44.99,-0.99);"),
            ("n(newer:\"{{date:1 day}}\");", "n(newer:\"1000-00-00T00:00:00Z\");"),
            ("{{k=shop}}n[{{k}}];{{data:x}}", "n[shop];"),
            ("{{bbox=area:X}}n;", "n;"),
            ("{{date:1 day}};{{geocodeArea:A;", "1000-00-00T00:00:00Z;{{geocodeArea:A;"),
            // The published code gives up: the text stays.
            ("{{geocodeId:A;{{bbox}};", "{{geocodeId:A;{{bbox}};"),
        ];
        for (query, expected) in cases {
            assert_eq!(without_shortcuts(query), expected, "{query}");
        }
    }
}
